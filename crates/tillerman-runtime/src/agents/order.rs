//! What a model may say when it calls for an agent.

use serde_json::{Value, json};
use tillerman_protocol::tool::{Access, ToolSpec};

use crate::agents::roster::Roster;
use crate::teams::Team;

/// The tool's name.
pub(crate) const AGENT: &str = "Agent";
/// The name it had before, under which models and rules may still know it.
pub(crate) const FORMER: &str = "Task";
/// The agent that is meant when none is named.
pub(crate) const GENERAL: &str = "general-purpose";

/// Whether a call is one for an agent.
pub(crate) fn is_agent_call(name: &str) -> bool {
    name == AGENT || name == FORMER
}

/// A call for an agent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Order {
    pub(crate) description: String,
    pub(crate) prompt: String,
    pub(crate) kind: String,
    pub(crate) model: Option<String>,
    pub(crate) effort: Option<String>,
    pub(crate) background: Option<bool>,
    pub(crate) name: Option<String>,
    pub(crate) isolation: Option<String>,
    /// The directory that a hook had made for an agent that goes on.
    pub(crate) worktree: Option<String>,
}

impl Order {
    /// Reads an input.
    ///
    /// # Errors
    /// A text for the model that names the field and what is wrong with it.
    pub(crate) fn parse(input: &Value) -> Result<Self, String> {
        let fields = input.as_object().ok_or("the input must be an object")?;
        let text = |name: &str| match fields.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone()).filter(|text| !text.is_empty())),
            Some(_) => Err(format!("`{name}` must be a text")),
        };
        let required = |name: &str| {
            text(name)?.filter(|text| !text.trim().is_empty()).ok_or(format!("`{name}` is missing"))
        };
        let background = match fields.get("run_in_background") {
            None | Some(Value::Null) => None,
            Some(Value::Bool(background)) => Some(*background),
            Some(_) => return Err("`run_in_background` must be true or false".to_owned()),
        };
        Ok(Self {
            description: required("description")?,
            prompt: required("prompt")?,
            kind: text("subagent_type")?.unwrap_or_else(|| GENERAL.to_owned()),
            model: text("model")?,
            effort: text("effort")?,
            background,
            name: text("name")?,
            isolation: text("isolation")?,
            worktree: None,
        })
    }
}

/// The input as rules judge it: with the agent that is meant when none is named.
pub(crate) fn as_judged(input: &Value) -> Value {
    let mut input = input.clone();
    if let Some(fields) = input.as_object_mut()
        && fields.get("subagent_type").and_then(Value::as_str).is_none_or(str::is_empty)
    {
        fields.insert("subagent_type".to_owned(), Value::String(GENERAL.to_owned()));
    }
    input
}

/// What the model is told about the tool; the list of agents is part of it.
pub(crate) fn spec(roster: &Roster, team: Option<&Team>) -> ToolSpec {
    let agents: Vec<String> = roster
        .iter()
        .map(|agent| format!("- {}: {}", agent.name, agent.description.trim()))
        .collect();
    let teammates = match team {
        None => "",
        Some(_) => {
            "With a name it becomes a teammate instead: it works in the background, rests when it \
             has nothing left to do, is woken by SendMessage, and shares the list of tasks \
             (TaskCreate, TaskList, TaskUpdate) with you and the other teammates.\n\n"
        }
    };
    let description = format!(
        "Hands a piece of work to another agent, which works on it by itself with tools of its own \
         and reports back once. It knows nothing of this conversation, so the prompt must say \
         everything it needs: what to do, where, what is known already, and what to report. Calls \
         that do not depend on each other can be made together and run side by side.\n\n\
         The call waits for the report. With run_in_background it returns at once and you are told \
         when the agent has ended; until then TaskOutput shows how far it is and TaskStop ends it. \
         The report is for you: tell the user what matters of it.\n\n{teammates}Agents:\n{}",
        agents.join("\n")
    );
    ToolSpec {
        name: AGENT.to_owned(),
        description,
        input_schema: json!({
            "type": "object",
            "properties": {
                "description": {"type": "string", "description": "The work in three to five words."},
                "prompt": {"type": "string", "description": "Everything the agent needs to know."},
                "subagent_type": {
                    "type": "string",
                    "description": "Which agent; general-purpose when left out.",
                },
                "model": {"type": "string", "description": "Another model than the agent's own."},
                "run_in_background": {
                    "type": "boolean",
                    "description": "Return at once and be told when it has ended.",
                },
                "name": {"type": "string", "description": "A name to send it messages by."},
            },
            "required": ["description", "prompt"],
        }),
        // Calls for agents run side by side, and what the agents do is judged call by call.
        access: Access::ReadOnly,
    }
}
