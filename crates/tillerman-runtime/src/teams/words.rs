//! What members of a team say to each other, and how it reads.

use serde_json::Value;
use tillerman_engine::{Author, Prompt, Seat};
use tillerman_ports::Letter;
use tillerman_protocol::agent::AgentDefinition;
use tillerman_protocol::content::Content;

use crate::teams::mailroom::LEAD;

/// Tools that a teammate has whatever its definition lists, since it works with others by them.
const TEAM_TOOLS: [&str; 5] = ["SendMessage", "TaskCreate", "TaskGet", "TaskList", "TaskUpdate"];

/// What somebody says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// Anything.
    Text(String),
    /// The lead wants a teammate to leave.
    ShutdownRequest { reason: Option<String> },
    /// A teammate answers that.
    ShutdownResponse { approve: bool, reason: Option<String> },
}

impl Word {
    /// Reads the `message` of an input.
    ///
    /// # Errors
    /// A text for the model that names the field and what is wrong with it.
    pub(crate) fn parse(message: Option<&Value>) -> Result<Self, String> {
        let text = |name: &str| {
            let text = message.and_then(|message| message.get(name)).and_then(Value::as_str);
            text.map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
        };
        match message {
            Some(Value::String(text)) if !text.trim().is_empty() => {
                Ok(Self::Text(text.trim().to_owned()))
            }
            Some(Value::Object(fields)) => match fields.get("type").and_then(Value::as_str) {
                Some("shutdown_request") => Ok(Self::ShutdownRequest { reason: text("reason") }),
                Some("shutdown_response") => {
                    let approve = fields.get("approve").and_then(Value::as_bool);
                    let approve = approve.ok_or("`message.approve` must be true or false")?;
                    let reason = text("reason");
                    if !approve && reason.is_none() {
                        return Err("`message.reason` must say why you go on".to_owned());
                    }
                    Ok(Self::ShutdownResponse { approve, reason })
                }
                _ => Err("`message.type` must be shutdown_request or shutdown_response".to_owned()),
            },
            _ => Err("`message` must be a text that is not empty".to_owned()),
        }
    }
}

/// A letter as its receiver hears it.
pub(crate) fn prompt_of(letter: &Letter) -> Prompt {
    let (from, text) =
        (&letter.from, letter.text.replace("</teammate-message", "< /teammate-message"));
    let content = format!("<teammate-message from=\"{from}\">\n{text}\n</teammate-message>");
    Prompt {
        uuid: Some(letter.id.clone()),
        author: Author::Engine,
        ..Prompt::new(Content::Text(content))
    }
}

/// How a teammate is told what it is, after what its definition says.
pub(crate) fn introduction(seat: &Seat) -> String {
    format!(
        "You are {name}, a teammate in a team that {LEAD} leads. When you have nothing left to do, \
         say what came of your work: {LEAD} hears it, and you rest until a message wakes you. \
         SendMessage tells {LEAD}, or another teammate by name, something at once; only what you \
         send is heard by other teammates. The team shares a list of tasks: take one with \
         TaskUpdate before you work on it, and mark it completed when it is. If {LEAD} asks you to \
         leave, answer with SendMessage and a shutdown_response; if you must finish something \
         first, refuse and say what.",
        name = seat.name
    )
}

/// A definition for a teammate.
pub(crate) fn with_team_tools(definition: &AgentDefinition) -> AgentDefinition {
    let mut definition = definition.clone();
    if let Some(tools) = &mut definition.tools {
        tools.extend(TEAM_TOOLS.map(str::to_owned));
    }
    definition
}
