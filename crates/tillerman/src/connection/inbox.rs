//! Messages that the caller has not taken yet.

use std::collections::VecDeque;

use crate::error::Error;
use crate::message::Message;

/// More than this wait for nobody: reading stops until the caller takes some.
const MOST: usize = 16_384;

/// Messages in the order in which they came.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    waiting: VecDeque<Result<Message, Error>>,
    closed: bool,
}

impl Inbox {
    pub(crate) fn push(&mut self, message: Result<Message, Error>) {
        if !self.closed {
            self.waiting.push_back(message);
        }
    }

    pub(crate) fn pop(&mut self) -> Option<Result<Message, Error>> {
        self.waiting.pop_front()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Whether there is room for more.
    pub(crate) fn has_room(&self) -> bool {
        self.waiting.len() < MOST
    }

    /// Nobody will take anything any more.
    pub(crate) fn close(&mut self) {
        self.closed = true;
        self.waiting.clear();
    }
}
