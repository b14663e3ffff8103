//! Control requests that the engine has not answered yet.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::{Value, json};
use tillerman_protocol::RequestId;
use tillerman_protocol::control::{ControlAnswer, ControlBody, ControlRequest, ControlResponse};
use tillerman_protocol::frame::Frame;
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::error::{Error, ErrorKind, Result};

/// Who waits for an answer.
#[derive(Debug)]
pub(crate) enum Asker {
    /// The connection itself, for the handshake.
    Handshake,
    /// A caller.
    Caller(oneshot::Sender<Result<Value>>),
}

#[derive(Debug)]
struct Pending {
    asker: Asker,
    subtype: String,
    deadline: Instant,
}

/// Requests under way.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    next: u64,
    pending: HashMap<RequestId, Pending>,
}

impl Requests {
    /// Remembers a request and returns the frame that carries it.
    pub(crate) fn begin(&mut self, body: ControlBody, asker: Asker, patience: Duration) -> Frame {
        self.next += 1;
        let request_id = RequestId::new(format!("req_{}", self.next));
        let subtype = body.subtype();
        let deadline = Instant::now() + patience;
        self.pending.insert(request_id.clone(), Pending { asker, subtype, deadline });
        Frame::ControlRequest(Box::new(ControlRequest { request_id, request: body }))
    }

    /// Finds who waits for an answer. Answers that nobody waits for are dropped.
    pub(crate) fn answered(&mut self, response: ControlResponse) -> Option<(Asker, Result<Value>)> {
        let pending = self.pending.remove(response.request_id())?;
        let answer = match response.response {
            ControlAnswer::Success { response, .. } => Ok(response.unwrap_or_else(|| json!({}))),
            ControlAnswer::Error { error, error_code, .. } => {
                let code = error_code.map(|code| format!(" ({code})")).unwrap_or_default();
                let text = format!("the engine refused {}: {error}{code}", pending.subtype);
                Err(Error::new(ErrorKind::Refused, text))
            }
        };
        Some((pending.asker, answer))
    }

    /// When the next request has waited long enough.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.pending.values().map(|pending| pending.deadline).min()
    }

    /// Takes out the requests that have waited long enough.
    pub(crate) fn overdue(&mut self) -> Vec<(Asker, Error)> {
        let now = Instant::now();
        let late: Vec<RequestId> = self
            .pending
            .iter()
            .filter(|(_, pending)| pending.deadline <= now)
            .map(|(id, _)| id.clone())
            .collect();
        let taken = late.iter().filter_map(|id| self.pending.remove(id));
        taken
            .map(|pending| {
                let text = format!(
                    "the engine did not answer {} in time; it may be busy, or nobody reads its \
                     messages; raise `request_timeout` or `start_timeout` to wait longer",
                    pending.subtype
                );
                (pending.asker, Error::new(ErrorKind::Timeout, text))
            })
            .collect()
    }

    /// Tells everybody who waits that no answer will come.
    pub(crate) fn fail(&mut self, error: &Error) {
        for (_, pending) in self.pending.drain() {
            if let Asker::Caller(caller) = pending.asker {
                drop(caller.send(Err(error.again())));
            }
        }
    }
}
