//! One request that the agent works on: from the message to its one last response.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use tillerman_protocol::ipc::IpcBody;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::ipc::ending::{Stopped, of_result, of_stop};
use crate::ipc::outlet::Outlet;
use crate::ipc::translate::Translator;
use crate::live::{Attached, Directory, Order, Refusal, Shared};
use crate::store::{AnswerOutcome, NewEvent};
use crate::wire::{AnswerRequest, Approval, ApprovalState, Event, NewMessage, RunState};

/// Who the shell's user is to the host.
pub(crate) const USER: &str = "desktop";
/// How long a round that was stopped may take to say so.
const LAST_WORDS: Duration = Duration::from_secs(10);
/// Events that are read at once after some were missed.
const PAGE: usize = 200;
const UNANSWERABLE: &str = "The agent needs a permission, and nobody is there to ask: standard \
     input is closed. The question is kept; load the conversation to answer it.";

/// What a round begins with.
#[derive(Debug)]
pub(crate) enum Opening {
    /// A message.
    Message(NewMessage),
    /// The answer to a question that was left open.
    Answer { card: String, request: Box<AnswerRequest> },
}

/// A round, and everything it needs.
#[derive(Debug)]
pub(crate) struct Round {
    pub(crate) request: String,
    pub(crate) conversation: String,
    pub(crate) shared: Arc<Shared>,
    pub(crate) directory: Directory,
    pub(crate) outlet: Outlet,
    /// Fires when the shell can answer no more questions.
    pub(crate) unanswerable: CancellationToken,
}

/// What is known about a round that is under way.
struct Progress {
    translator: Translator,
    message: Option<String>,
    cursor: u64,
    cards: HashSet<String>,
    last_result: Option<Value>,
    stopped_at: Option<Instant>,
}

#[derive(Deserialize)]
struct Written {
    event: Event,
}

/// What a round hears.
enum Heard {
    /// Something that is stored, or a frame that is only shown.
    Event(Event),
    /// A word about the run that could not be stored.
    Remark(String),
}

impl Round {
    /// Carries a round to its end and says everything about it, the last response included.
    pub(crate) async fn run(self, opening: Opening) {
        let last = match self.carry(opening).await {
            Ok(last) => last,
            Err(refusal) => IpcBody::Error { error: refusal.message },
        };
        self.outlet.say(&self.request, last).await;
    }

    async fn carry(&self, opening: Opening) -> Result<IpcBody, Refusal> {
        let id = self.conversation.as_str();
        let mut attached = self.directory.ask(id, |reply| Order::Attach { reply }).await?;
        let message = match opening {
            Opening::Message(message) => {
                let by = USER.to_owned();
                let saying = self.directory.ask(id, |reply| Order::Say { message, by, reply });
                Some(saying.await?.message_id)
            }
            Opening::Answer { card, request } => {
                if let Some(refused) = answer(&self.directory, id, card, request).await? {
                    return Ok(IpcBody::Error { error: refused });
                }
                None
            }
        };
        let mut progress = Progress {
            translator: Translator::new(id),
            message,
            cursor: attached.last_seq,
            cards: HashSet::new(),
            last_result: None,
            stopped_at: None,
        };
        loop {
            let events = self.next(&mut attached, &mut progress).await?;
            let Some(events) = events else {
                return Ok(progress
                    .last_result
                    .as_ref()
                    .map_or_else(|| of_stop(id), |result| progress.end(id, result)));
            };
            for heard in events {
                if let Some(last) = self.hear(heard, &mut progress).await {
                    return Ok(last);
                }
            }
        }
    }

    /// What happened next; nothing when the round was stopped and says no more.
    async fn next(
        &self,
        attached: &mut Attached,
        progress: &mut Progress,
    ) -> Result<Option<Vec<Heard>>, Refusal> {
        let silence = async {
            match progress.stopped_at {
                Some(at) => tokio::time::sleep_until(at + LAST_WORDS).await,
                None => std::future::pending().await,
            }
        };
        let hopeless = async {
            if progress.cards.is_empty() {
                std::future::pending::<()>().await;
            }
            self.unanswerable.cancelled().await;
        };
        let received = tokio::select! {
            received = attached.events.recv() => received,
            () = silence => return Ok(None),
            () = hopeless => {
                let kind = crate::live::RefusalKind::Unavailable;
                return Err(Refusal::new(kind, UNANSWERABLE));
            }
        };
        match received {
            Ok(envelope) => {
                match envelope.seq {
                    Some(seq) if seq <= progress.cursor => return Ok(Some(Vec::new())),
                    Some(seq) => progress.cursor = seq,
                    None => {}
                }
                let written = serde_json::from_str::<Written>(&envelope.text);
                let heard = written.map(|written| match written.event {
                    Event::Run { message, .. } if envelope.seq.is_none() => Heard::Remark(message),
                    event => Heard::Event(event),
                });
                Ok(Some(heard.into_iter().collect()))
            }
            Err(RecvError::Lagged(_)) => {
                progress.translator.tear();
                self.catch_up(progress).await.map(Some)
            }
            Err(RecvError::Closed) => {
                let text = "The conversation has ended: it was deleted, or the host is leaving.";
                Err(Refusal::new(crate::live::RefusalKind::Unavailable, text))
            }
        }
    }

    /// Reads what was missed.
    async fn catch_up(&self, progress: &mut Progress) -> Result<Vec<Heard>, Refusal> {
        let mut events = Vec::new();
        loop {
            let (id, after) = (self.conversation.clone(), progress.cursor);
            let reading = self.shared.store.read(move |db| NewEvent::after(db, &id, after, PAGE));
            let page = reading.await?;
            let Some(last) = page.last() else { return Ok(events) };
            progress.cursor = last.seq;
            let read = page.iter().filter_map(|event| serde_json::from_str(&event.body).ok());
            events.extend(read.map(Heard::Event));
        }
    }

    /// Tells the shell of an event; the last response when it ends the round.
    async fn hear(&self, heard: Heard, progress: &mut Progress) -> Option<IpcBody> {
        let event = match heard {
            Heard::Event(event) => event,
            Heard::Remark(remark) => {
                self.notice(remark).await;
                return None;
            }
        };
        match event {
            Event::Frame { frame } if frame["type"] == "result" => {
                if progress.is_own(&frame) {
                    return Some(progress.end(&self.conversation, &frame));
                }
                progress.last_result = Some(frame);
            }
            Event::Frame { frame } => {
                for body in progress.translator.translate(&frame) {
                    self.outlet.say(&self.request, body).await;
                }
            }
            Event::Approval { approval } => self.card(*approval, progress).await,
            Event::Run { state, message } => return self.turn(state, message, progress).await,
            _ => {}
        }
        None
    }

    async fn card(&self, approval: Approval, progress: &mut Progress) {
        if approval.state != ApprovalState::Pending {
            progress.cards.remove(&approval.id);
        } else if progress.cards.insert(approval.id.clone()) {
            self.outlet.say(&self.request, question(approval)).await;
        }
    }

    async fn turn(
        &self,
        state: RunState,
        message: String,
        progress: &mut Progress,
    ) -> Option<IpcBody> {
        match state {
            RunState::Failed => return Some(IpcBody::Error { error: message }),
            RunState::Paused => {
                // Nothing may go on that the shell does not see.
                let by = USER.to_owned();
                let stopping = Order::Interrupt { by, reply: tokio::sync::oneshot::channel().0 };
                drop(self.directory.send(&self.conversation, stopping).await);
                let error = "The model's provider failed three times in a row, so the agent was \
                             stopped. Try again later."
                    .to_owned();
                return Some(IpcBody::Error { error });
            }
            RunState::Interrupted => progress.stopped_at = Some(Instant::now()),
            RunState::Idle => {
                if let Some(result) = progress.last_result.take() {
                    return Some(progress.end(&self.conversation, &result));
                }
            }
            RunState::Restarting => {
                progress.translator.start_over();
                self.notice(message).await;
            }
            RunState::Starting | RunState::Running => self.notice(message).await,
        }
        None
    }

    /// Tells the shell what became of the run, if there is anything to tell.
    async fn notice(&self, notice: String) {
        if !notice.is_empty() {
            let conversation_id = Some(self.conversation.clone());
            self.outlet.say(&self.request, IpcBody::Notice { notice, conversation_id }).await;
        }
    }
}

impl Progress {
    /// Whether a result is about the message of this round.
    fn is_own(&self, frame: &Value) -> bool {
        let answered = frame["user_message_uuids"].as_array().into_iter().flatten();
        let mut answered = answered.filter_map(Value::as_str);
        self.message.as_deref().is_some_and(|message| answered.any(|id| id == message))
    }

    fn end(&self, conversation: &str, frame: &Value) -> IpcBody {
        let stopped = if self.stopped_at.is_some() { Stopped::Yes } else { Stopped::No };
        of_result(conversation, self.message.as_deref(), frame, stopped)
    }
}

/// Answers a question; what comes back is why the answer does not count.
pub(crate) async fn answer(
    directory: &Directory,
    conversation: &str,
    card: String,
    request: Box<AnswerRequest>,
) -> Result<Option<String>, Refusal> {
    let by = USER.to_owned();
    let asking =
        directory.ask(conversation, |reply| Order::Answer { id: card, request, by, reply });
    Ok(match asking.await? {
        AnswerOutcome::Taken(_) => None,
        AnswerOutcome::Late(card) => Some(format!(
            "The question was settled before ({}), so this answer changes nothing.",
            card.state.as_str()
        )),
        AnswerOutcome::Unknown => Some("There is no such question.".to_owned()),
    })
}

/// A card as a shell sees it.
pub(crate) fn question(approval: Approval) -> IpcBody {
    IpcBody::PermissionRequest {
        permission_id: approval.id,
        tool_use_id: approval.tool_use_id,
        tool_name: approval.tool_name,
        tool_input: approval.input,
        title: approval.display.title,
        lines: approval.display.lines,
        reason: approval.reason,
        suggestions: approval.suggestions.into_iter().map(|it| it.label).collect(),
    }
}
