//! Talking to agents that were started before: telling them more, looking at them, ending them.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tillerman_engine::{CallId, Input};
use tillerman_protocol::content::Content;
use tillerman_protocol::task::TaskKind;
use tillerman_protocol::tool::{Access, ToolFailure, ToolOutcome, ToolOutput, ToolSpec};
use tokio_util::sync::CancellationToken;

use crate::agents::book::{Agent, Progress};
use crate::agents::launch::Caller;
use crate::session_task::SessionTask;
use crate::teams::{Team, Word};

/// The tool's name.
pub(crate) const NAME: &str = "SendMessage";
const DEFAULT_WAIT: Duration = Duration::from_secs(30);
const LONGEST_WAIT: Duration = Duration::from_secs(600);

/// A message for an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    to: String,
    word: Word,
}

impl Message {
    /// Reads an input.
    ///
    /// # Errors
    /// A text for the model that names the field and what is wrong with it.
    pub(crate) fn parse(input: &Value) -> Result<Self, String> {
        let text = |name: &str| {
            let text = input.get(name).and_then(Value::as_str).map(str::trim);
            let text = text.filter(|text| !text.is_empty());
            text.map(str::to_owned).ok_or(format!("`{name}` must be a text that is not empty"))
        };
        Ok(Self { to: text("to")?, word: Word::parse(input.get("message"))? })
    }
}

/// What the model is told about the tool.
pub(crate) fn spec(team: Option<&Team>) -> ToolSpec {
    let mut description =
        "Tells an agent more, by its id or name. One at work hears it before its \
        next step; one that has ended goes on in the background where it stopped, and you are told \
        when it ends again."
            .to_owned();
    if team.is_some() {
        description.push_str(
            " To `team-lead`, to a teammate by name, or to everybody with `*`: nobody hears what \
             is not sent. Instead of a text the lead may send {\"type\": \"shutdown_request\", \
             \"reason\": …}, and a teammate answers {\"type\": \"shutdown_response\", \
             \"approve\": true or false, \"reason\": …}.",
        );
    }
    let message = match team {
        None => json!({"type": "string", "description": "What to tell it."}),
        Some(_) => json!({"type": ["string", "object"], "description": "What to tell it."}),
    };
    ToolSpec {
        name: NAME.to_owned(),
        description,
        input_schema: json!({
            "type": "object",
            "properties": {
                "to": {"type": "string", "description": "The agent's id, or the name it was given."},
                "message": message,
            },
            "required": ["to", "message"],
        }),
        access: Access::ReadOnly,
    }
}

impl SessionTask {
    pub(crate) fn send_message(&mut self, caller: &Caller, input: &Value) {
        let Some(call) = caller.call else { return };
        let outcome = match Message::parse(input) {
            Ok(message) => match self.deliver(caller, &message) {
                Ok(Some(output)) => Ok(output),
                // The call is answered when the agent has heard, or goes on.
                Ok(None) => return,
                Err(refusal) => Err(ToolFailure::new(refusal)),
            },
            Err(refusal) => Err(ToolFailure::new(refusal)),
        };
        self.pending.push_back(Input::ToolEnded { call, outcome });
    }

    fn deliver(
        &mut self,
        caller: &Caller,
        message: &Message,
    ) -> Result<Option<ToolOutput>, String> {
        if let Some(sent) = self.send_mail(&message.to, &message.word) {
            return sent.map(Some);
        }
        let Word::Text(text) = &message.word else {
            return Err("This can be said within a team only; nothing was sent.".to_owned());
        };
        let Some(agents) = &self.agents else { return Err("there are no agents".to_owned()) };
        if !agents.offers() {
            return Err(format!("There is no {} in the team; nothing was sent.", message.to));
        }
        let agent = agents.tree().book.find(&message.to);
        if agents.own().zip(agent.as_ref()).is_some_and(|(own, agent)| own.id == agent.id) {
            return Err("The message is for the agent that sends it; nothing was sent.".to_owned());
        }
        self.tell_agent(caller, &message.to, text).map(|()| None)
    }

    /// Shows how far an agent is; waits for its end if that is wanted.
    pub(crate) fn show_agent(&mut self, call: CallId, agent: Arc<Agent>, input: &Value) {
        let block = input.get("block").and_then(Value::as_bool).unwrap_or(true);
        let timeout = input.get("timeout").and_then(Value::as_u64).map(Duration::from_millis);
        let wait = block.then(|| timeout.unwrap_or(DEFAULT_WAIT).min(LONGEST_WAIT));
        let cancel = CancellationToken::new();
        self.work.call(call, cancel.clone(), async move {
            if let Some(wait) = wait {
                tokio::select! {
                    biased;
                    () = cancel.cancelled() => {}
                    // Running out of time is an answer too: the agent is still at work.
                    _ = tokio::time::timeout(wait, agent.wait()) => {}
                }
            }
            Ok(shown(&agent, &agent.progress(), wait.is_some()))
        });
    }

    /// Ends an agent and says so once it has ended.
    pub(crate) fn stop_agent(&mut self, call: CallId, agent: Arc<Agent>) {
        self.work.call(call, CancellationToken::new(), async move { stopped(agent).await });
    }
}

async fn stopped(agent: Arc<Agent>) -> ToolOutcome {
    let id = &agent.id;
    if !agent.is_at_work() {
        return Err(ToolFailure::new(format!("The agent {id} has ended already.")));
    }
    agent.cancel.cancel();
    agent.wait().await;
    let structured = json!({
        "message": format!("Stopped the agent {id}"),
        "task_id": id,
        "task_type": TaskKind::LocalAgent.name(),
        "command": agent.description,
    });
    let text = format!("The agent {id} ({}) was stopped.", agent.description);
    Ok(ToolOutput::new(Content::Text(text), Some(structured)))
}

fn shown(agent: &Agent, progress: &Progress, waited: bool) -> ToolOutput {
    let (id, usage) = (&agent.id, progress.usage);
    let ended = progress.ended.as_ref();
    let report = ended.and_then(|end| end.report.as_ref()).map(|report| report.text.as_str());
    let said = report.unwrap_or(progress.said.as_str());
    let head = match ended {
        Some(end) => end.summary.clone(),
        None => format!(
            "The agent {id} is still at work: {} tool calls, {} tokens so far.",
            usage.tool_uses, usage.total_tokens
        ),
    };
    let text = if said.trim().is_empty() { head } else { format!("{head}\n{said}") };
    let retrieval = match (ended, waited) {
        (Some(_), _) => "success",
        (None, true) => "timeout",
        (None, false) => "not_ready",
    };
    let structured = json!({
        "retrieval_status": retrieval,
        "task": {
            "task_id": id,
            "task_type": TaskKind::LocalAgent.name(),
            "status": ended.map_or("running", |end| end.status.name()),
            "description": agent.description,
            "output": said,
            "prompt": agent.prompt,
            "outputFile": agent.output_file,
        },
    });
    ToolOutput::new(Content::Text(text), Some(structured))
}
