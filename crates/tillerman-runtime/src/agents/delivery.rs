//! Bringing messages to agents, also to those that end at that very moment.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tillerman_engine::{Input, Prompt};
use tillerman_protocol::TaskId;
use tillerman_protocol::content::{Block, Content};
use tillerman_protocol::tool::{ToolFailure, ToolOutput};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::agents::book::Agent;
use crate::agents::launch::Caller;
use crate::session_task::{Inbound, SessionTask};
use crate::work::Report;

/// How long an agent may take to hear; one whose host does not read is held up.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// A message that its agent ended without hearing.
#[derive(Debug)]
pub(crate) struct Unheard {
    caller: Caller,
    pub(crate) to: TaskId,
    text: String,
}

impl SessionTask {
    /// Tells an agent more, or has it go on if it has ended; either answers the call.
    pub(crate) fn tell_agent(
        &mut self,
        caller: &Caller,
        to: &str,
        text: &str,
    ) -> Result<(), String> {
        let Some(agents) = &mut self.agents else { return Err("there are no agents".to_owned()) };
        let Some(agent) = agents.tree().book.find(to) else {
            return self.wake_agent(caller, to, text);
        };
        let word = Unheard { caller: caller.clone(), to: agent.id.clone(), text: text.to_owned() };
        if agent.is_at_work() {
            return self.bring_word(agent, word);
        }
        if agents.is_at_work(&agent.id) {
            // Its work must be put away before it begins anew under the same name.
            agents.keep_word(word);
            return Ok(());
        }
        self.wake_agent(caller, agent.id.as_str(), text)
    }

    /// Brings a message to an agent at work, and waits until it has heard.
    fn bring_word(&mut self, agent: Arc<Agent>, word: Unheard) -> Result<(), String> {
        let Some(call) = word.caller.call else { return Ok(()) };
        let text = Content::Blocks(vec![Block::text(word.text.as_str())]);
        let (heard, hears) = oneshot::channel();
        let told = Inbound::Told { prompt: Box::new(Prompt::new(text)), heard };
        // An agent that does not listen any more lets go of the message, which shows below.
        if let Err(TrySendError::Full(_)) = agent.line.try_send(told) {
            return Err(format!(
                "The agent {} has too many messages waiting; nothing was sent. Try again later.",
                agent.id
            ));
        }
        let cancel = CancellationToken::new();
        self.work.errand(call, cancel.clone(), async move {
            let waited = tokio::select! {
                biased;
                () = cancel.cancelled() => return ended(call, Err(interrupted())),
                waited = tokio::time::timeout(LONGEST_WAIT, hears) => waited,
            };
            match waited {
                Ok(Ok(())) => ended(call, Ok(has_heard(&agent))),
                Ok(Err(_)) => {
                    agent.wait().await;
                    Report::Unheard(Box::new(word))
                }
                Err(_) => ended(call, Err(held_up(&agent))),
            }
        });
        Ok(())
    }

    /// Brings a message again whose agent ended without hearing it.
    pub(crate) async fn bring_again(&mut self, word: Unheard) {
        if let Err(refusal) = self.tell_agent(&word.caller, word.to.as_str(), &word.text)
            && let Some(call) = word.caller.call
        {
            let outcome = Err(ToolFailure::new(refusal));
            self.pending.push_back(Input::ToolEnded { call, outcome });
        }
        self.work_off().await;
    }

    /// The end of an agent is known: what came for it meanwhile has it go on.
    pub(crate) async fn bring_kept(&mut self, task: &TaskId) {
        let kept = self.agents.as_mut().map(|agents| agents.take_kept(task));
        for word in kept.into_iter().flatten() {
            self.bring_again(word).await;
        }
    }

    /// Hears what another agent says.
    pub(crate) async fn hear_told(&mut self, prompt: Prompt, heard: oneshot::Sender<()>) {
        self.hear_prompt(prompt).await;
        if !self.ended {
            // Whoever said it may have stopped waiting.
            heard.send(()).ok();
        }
    }
}

fn ended(call: tillerman_engine::CallId, outcome: Result<ToolOutput, ToolFailure>) -> Report {
    Report::Engine(Box::new(Input::ToolEnded { call, outcome }))
}

fn has_heard(agent: &Agent) -> ToolOutput {
    let text = format!("The agent {} hears it before its next step.", agent.id);
    let structured = json!({"success": true, "agentId": agent.id});
    ToolOutput::new(Content::Text(text), Some(structured))
}

fn interrupted() -> ToolFailure {
    ToolFailure::new("Interrupted while the agent was told; it may have heard.")
}

fn held_up(agent: &Agent) -> ToolFailure {
    let seconds = LONGEST_WAIT.as_secs();
    ToolFailure::new(format!(
        "The agent {} is held up and has not heard the message within {seconds} seconds. It hears \
         it when it goes on, and not at all if it ends before that. TaskOutput shows how far it is.",
        agent.id
    ))
}
