//! A session at work, as its conversation sees it.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::launch::RunningSession;
use crate::live::order::{Refusal, RefusalKind, Reply};
use crate::wire::RewindRequest;

/// How long a session may take to take a frame; one that takes none is stuck.
const LONGEST_SEND: Duration = Duration::from_secs(10);
/// How long a session may take to answer.
const LONGEST_ANSWER: Duration = Duration::from_secs(45);

/// A session at work.
#[derive(Debug)]
pub(crate) struct Run {
    inbound: Option<mpsc::Sender<Value>>,
    pub(crate) outbound: mpsc::Receiver<Value>,
    pub(crate) stop: CancellationToken,
    requests: HashMap<String, (Instant, Pending)>,
    counter: u64,
    /// Requests of the session by card.
    pub(crate) cards: HashMap<String, String>,
    /// What the session said about itself.
    pub(crate) greeting: Option<Value>,
    /// What it is told when it takes up nothing again by itself.
    pub(crate) nudge: Option<&'static str>,
    pub(crate) has_spoken: bool,
    pub(crate) beginning: Beginning,
    /// The host told it to end.
    pub(crate) is_leaving: bool,
    pub(crate) started: Instant,
    pub(crate) last_output: Instant,
    pub(crate) busy_since: Option<Instant>,
    pub(crate) idle_since: Instant,
}

/// How a session began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Beginning {
    /// With nothing.
    Fresh,
    /// From its transcript.
    Resumed,
    /// Not at all: its transcript does not exist.
    Stale,
}

/// What becomes of an answer of the session.
#[derive(Debug)]
pub(crate) enum Pending {
    /// The handshake, and who waits for what it says.
    Greeting(Vec<Reply<Value>>),
    /// Whoever asked gets it.
    Reply(Reply<Value>),
    /// Calls are taken up again; the cards they belong to.
    Reopening(Vec<String>),
    /// Files are brought back, and the conversation may forget as well.
    Rewinding { request: RewindRequest, by: String, reply: Reply<Value> },
    /// A message is taken back.
    TakingBack(String, Reply<()>),
    /// Nobody waits.
    Nobody,
}

impl Run {
    pub(crate) fn new(session: RunningSession, beginning: Beginning) -> Self {
        let now = Instant::now();
        Self {
            inbound: Some(session.inbound),
            outbound: session.outbound,
            stop: session.stop,
            requests: HashMap::new(),
            counter: 0,
            cards: HashMap::new(),
            greeting: None,
            nudge: None,
            has_spoken: false,
            beginning,
            is_leaving: false,
            started: now,
            last_output: now,
            busy_since: None,
            idle_since: now,
        }
    }

    /// Hands the session a frame; false when it takes none.
    pub(crate) async fn send(&self, frame: Value) -> bool {
        let Some(inbound) = &self.inbound else { return false };
        matches!(tokio::time::timeout(LONGEST_SEND, inbound.send(frame)).await, Ok(Ok(())))
    }

    /// Asks the session something.
    pub(crate) async fn request(&mut self, body: Value, pending: Pending) {
        self.counter += 1;
        let id = format!("host-{}", self.counter);
        let deadline = Instant::now() + LONGEST_ANSWER;
        let frame = json!({"type": "control_request", "request_id": id, "request": body});
        if self.send(frame).await {
            self.requests.insert(id, (deadline, pending));
        } else {
            pending.fail(&silent());
        }
    }

    /// Answers the session.
    pub(crate) async fn respond(&self, request_id: &str, response: Value) -> bool {
        let response =
            json!({"subtype": "success", "request_id": request_id, "response": response});
        self.send(json!({"type": "control_response", "response": response})).await
    }

    /// Tells the session that it asked in vain.
    pub(crate) async fn decline(&self, request_id: &str, error: &str) {
        let response = json!({"subtype": "error", "request_id": request_id, "error": error});
        self.send(json!({"type": "control_response", "response": response})).await;
    }

    /// Adds somebody who waits for the handshake; gives the place back when there is none to wait
    /// for.
    pub(crate) fn await_greeting(&mut self, reply: Reply<Value>) -> Option<Reply<Value>> {
        for (_, pending) in self.requests.values_mut() {
            if let Pending::Greeting(waiting) = pending {
                waiting.push(reply);
                return None;
            }
        }
        Some(reply)
    }

    /// Who waits for the answer to a request.
    pub(crate) fn take_request(&mut self, id: &str) -> Option<Pending> {
        self.requests.remove(id).map(|(_, pending)| pending)
    }

    /// Whether the session has yet to say which calls it takes up again.
    pub(crate) fn is_reopening(&self) -> bool {
        self.requests.values().any(|(_, pending)| matches!(pending, Pending::Reopening(_)))
    }

    /// Whether the session has yet to answer something; it is not let go before.
    pub(crate) fn owes_answers(&self) -> bool {
        !self.requests.is_empty()
    }

    /// When the first answer is overdue.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.requests.values().map(|(deadline, _)| *deadline).min()
    }

    /// Tells those who waited too long, and returns the cards whose calls the session was to take
    /// up again.
    pub(crate) fn give_up_overdue(&mut self) -> Option<Vec<String>> {
        let now = Instant::now();
        let overdue = self.requests.iter().filter(|(_, (deadline, _))| *deadline <= now);
        let overdue: Vec<String> = overdue.map(|(id, _)| id.clone()).collect();
        let mut reopening = None;
        for id in overdue {
            match self.take_request(&id) {
                Some(Pending::Reopening(cards)) => reopening = Some(cards),
                Some(pending) => pending.fail(&silent()),
                None => {}
            }
        }
        reopening
    }

    /// Tells everybody who waits that nothing will come.
    pub(crate) fn give_up(&mut self) {
        for (_, (_, pending)) in self.requests.drain() {
            pending.fail(&silent());
        }
    }

    /// The card behind a request of the session.
    pub(crate) fn card_of(&self, request_id: &str) -> Option<String> {
        self.cards.iter().find(|(_, request)| *request == request_id).map(|(card, _)| card.clone())
    }

    /// Closes the session's input: it finishes what it does and ends.
    pub(crate) fn close_input(&mut self) {
        self.is_leaving = true;
        self.inbound = None;
    }

    pub(crate) fn set_busy(&mut self) {
        let now = Instant::now();
        self.busy_since.get_or_insert(now);
        self.last_output = now;
    }

    pub(crate) fn set_idle(&mut self) {
        self.busy_since = None;
        self.idle_since = Instant::now();
    }
}

impl Pending {
    fn fail(self, refusal: &Refusal) {
        match self {
            Self::Greeting(waiting) => {
                for reply in waiting {
                    drop(reply.send(Err(refusal.clone())));
                }
            }
            Self::Reply(reply) | Self::Rewinding { reply, .. } => {
                drop(reply.send(Err(refusal.clone())));
            }
            Self::TakingBack(_, reply) => drop(reply.send(Err(refusal.clone()))),
            Self::Reopening(_) | Self::Nobody => {}
        }
    }
}

fn silent() -> Refusal {
    Refusal::new(RefusalKind::Failed, "The session did not answer. Try again in a moment.")
}
