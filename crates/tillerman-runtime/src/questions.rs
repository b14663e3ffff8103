//! Control requests that the host has not answered yet.

use std::collections::HashMap;

use tillerman_engine::AskId;
use tillerman_protocol::RequestId;

use crate::bound_programs::Programs;

/// What a request to the host is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    Permission(AskId),
    Hook,
    Mcp,
}

/// The open requests.
#[derive(Debug, Default)]
pub(crate) struct Questions {
    open: HashMap<RequestId, Question>,
    /// What the calls run that questions are about.
    programs: HashMap<AskId, Programs>,
}

impl Questions {
    pub(crate) fn put(&mut self, request: RequestId, question: Question) {
        self.open.insert(request, question);
    }

    /// Takes a question out; an answer that comes twice finds nothing the second time.
    pub(crate) fn take(&mut self, request: &RequestId) -> Option<Question> {
        self.open.remove(request)
    }

    /// Forgets the questions about calls; nobody hears that they are over.
    pub(crate) fn leave_open(&mut self) {
        self.open.retain(|_, question| !matches!(question, Question::Permission(_)));
    }

    pub(crate) fn bind(&mut self, ask: AskId, programs: Programs) {
        self.programs.insert(ask, programs);
    }

    /// What the call runs, as it was when the question was asked.
    pub(crate) fn unbind(&mut self, ask: AskId) -> Programs {
        self.programs.remove(&ask).unwrap_or_default()
    }

    pub(crate) fn of_ask(&self, ask: AskId) -> Option<RequestId> {
        let wanted = Question::Permission(ask);
        self.open.iter().find(|(_, question)| **question == wanted).map(|(id, _)| id.clone())
    }
}
