//! Tells the calls of an answer apart, however a server numbers and names them.

use std::collections::HashSet;

use serde::de::IgnoredAny;
use tillerman_protocol::content::{Block, Content};
use tillerman_protocol::model::ModelRequest;

use super::chunk::CallDelta;

/// The calls of one answer.
#[derive(Debug)]
pub(super) struct Calls {
    calls: Vec<Call>,
    /// Ids that the conversation, or this answer, uses already.
    taken_ids: HashSet<String>,
    messages: usize,
}

/// One call so far.
#[derive(Debug)]
pub(super) struct Call {
    index: Option<u64>,
    given_id: Option<String>,
    pub(super) id: Option<String>,
    pub(super) name: Option<String>,
    pub(super) arguments: String,
}

impl Call {
    /// Whether the arguments are a whole JSON value.
    pub(super) fn is_complete(&self) -> bool {
        self.arguments.trim_end().ends_with('}')
            && serde_json::from_str::<IgnoredAny>(&self.arguments).is_ok()
    }
}

impl Calls {
    /// No calls yet, in answer to a request.
    pub(super) fn new(request: &ModelRequest) -> Self {
        let used = |block: &Block| match block {
            Block::ToolUse { id, .. } => Some(id.as_str().to_owned()),
            _ => None,
        };
        let taken_ids = request
            .messages
            .iter()
            .filter_map(|message| match &message.content {
                Content::Blocks(blocks) => Some(blocks),
                Content::Text(_) => None,
            })
            .flat_map(|blocks| blocks.iter().filter_map(used))
            .collect();
        Self { calls: Vec::new(), taken_ids, messages: request.messages.len() }
    }

    /// How many messages the conversation had before this answer.
    pub(super) const fn messages(&self) -> usize {
        self.messages
    }

    /// Whether the model called anything.
    pub(super) fn any_named(&self) -> bool {
        self.calls.iter().any(|call| call.name.is_some())
    }

    /// How many calls have begun.
    pub(super) fn count(&self) -> usize {
        self.calls.len()
    }

    /// Calls by their number.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, &Call)> {
        self.calls.iter().enumerate()
    }

    /// Adds a delta to the call it belongs to and returns that call's number.
    pub(super) fn add(&mut self, delta: &CallDelta, response_id: &str) -> usize {
        let number = self.find(delta).unwrap_or_else(|| {
            self.calls.push(Call {
                index: delta.index,
                given_id: None,
                id: None,
                name: None,
                arguments: String::new(),
            });
            self.calls.len() - 1
        });
        let call = &mut self.calls[number];
        if call.given_id.is_none() {
            call.given_id = delta.id().map(str::to_owned);
        }
        if call.name.is_none()
            && let Some(name) = delta.name()
        {
            call.name = Some(name.to_owned());
            let given = call.given_id.clone().filter(|id| !self.taken_ids.contains(id));
            let id = given.unwrap_or_else(|| self.invent_id(number, response_id));
            self.taken_ids.insert(id.clone());
            self.calls[number].id = Some(id);
        }
        self.calls[number].arguments.push_str(&delta.arguments());
        number
    }

    /// The call a delta goes on with.
    ///
    /// Some servers give every call the index 0, or none at all; then another id, or a name after
    /// complete arguments, means another call.
    fn find(&self, delta: &CallDelta) -> Option<usize> {
        let (number, call) = match delta.index {
            Some(_) => self.iter().filter(|(_, call)| call.index == delta.index).last()?,
            None => self.iter().last()?,
        };
        if let (Some(new), Some(old)) = (delta.id(), call.given_id.as_deref())
            && new != old
        {
            return self
                .iter()
                .find(|(_, call)| call.given_id.as_deref() == Some(new))
                .map(|(n, _)| n);
        }
        let repeats_name = delta.name().is_some() && !delta.arguments().trim().is_empty();
        let is_next = delta.id().is_none() && repeats_name && call.is_complete();
        (!is_next).then_some(number)
    }

    /// An id for a call that has none of its own. It is the same whenever the answer is the same.
    fn invent_id(&self, number: usize, response_id: &str) -> String {
        let response: String =
            response_id.chars().filter(char::is_ascii_alphanumeric).take(20).collect();
        let mut id = format!("call_{}_{number}_{response}", self.messages);
        while self.taken_ids.contains(&id) {
            id.push('x');
        }
        id
    }
}
