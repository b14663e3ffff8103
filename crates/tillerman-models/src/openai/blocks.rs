//! Puts the pieces of an answer into content blocks that open and close one after the other.

use std::collections::VecDeque;

use serde_json::{Value, json};
use tillerman_protocol::stream::{Delta, StreamEvent};

/// What a block holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Text for the reader.
    Text,
    /// Reasoning.
    Thinking,
    /// The call with this number.
    Call(usize),
}

/// The blocks of an answer. Only the first unfinished one streams; pieces of later ones wait, since
/// servers may send several calls at once while the order of events allows one open block.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    unfinished: VecDeque<Block>,
    closed: u32,
}

#[derive(Debug)]
struct Block {
    kind: Kind,
    /// The block as it starts; a call has none before its name is known.
    start: Option<Value>,
    is_open: bool,
    waiting: String,
    /// Whether a later block may take its place.
    is_complete: bool,
}

impl Blocks {
    /// Adds text or reasoning: to the newest block if that is of the same kind, else to a new one.
    pub(super) fn add_text(&mut self, kind: Kind, text: &str, out: &mut Vec<StreamEvent>) {
        if text.is_empty() {
            return;
        }
        if self.unfinished.back().is_none_or(|block| block.kind != kind) {
            let start = match kind {
                Kind::Thinking => json!({"type": "thinking", "thinking": "", "signature": ""}),
                _ => json!({"type": "text", "text": ""}),
            };
            self.begin(kind, Some(start));
        }
        if let Some(block) = self.unfinished.back_mut() {
            block.waiting.push_str(text);
        }
        self.advance(out);
    }

    /// Begins the block of a call.
    pub(super) fn begin_call(&mut self, call: usize) {
        self.begin(Kind::Call(call), None);
    }

    /// Names a call, which lets its block open.
    pub(super) fn name_call(&mut self, call: usize, id: &str, name: &str) {
        if let Some(block) = self.call(call) {
            block.start = Some(json!({"type": "tool_use", "id": id, "name": name, "input": {}}));
        }
    }

    /// Adds to the arguments of a call; false when its block is closed already.
    pub(super) fn add_arguments(
        &mut self,
        call: usize,
        arguments: &str,
        is_complete: bool,
        out: &mut Vec<StreamEvent>,
    ) -> bool {
        let Some(block) = self.call(call) else { return arguments.trim().is_empty() };
        block.waiting.push_str(arguments);
        block.is_complete = is_complete;
        self.advance(out);
        true
    }

    /// Closes everything that is left.
    pub(super) fn finish(&mut self, out: &mut Vec<StreamEvent>) {
        for block in &mut self.unfinished {
            block.is_complete = true;
        }
        self.advance(out);
        if let Some(block) = self.unfinished.pop_front() {
            self.close(&block, out);
        }
    }

    fn begin(&mut self, kind: Kind, start: Option<Value>) {
        // Text and reasoning are over as soon as something else begins.
        if let Some(last) = self.unfinished.back_mut()
            && !matches!(last.kind, Kind::Call(_))
        {
            last.is_complete = true;
        }
        let (is_open, waiting, is_complete) = (false, String::new(), false);
        self.unfinished.push_back(Block { kind, start, is_open, waiting, is_complete });
    }

    fn call(&mut self, call: usize) -> Option<&mut Block> {
        self.unfinished.iter_mut().find(|block| block.kind == Kind::Call(call))
    }

    /// Streams the first block, and closes complete ones that others wait for.
    fn advance(&mut self, out: &mut Vec<StreamEvent>) {
        while let Some(block) = self.unfinished.front_mut() {
            block.stream(self.closed, out);
            if !block.is_complete || self.unfinished.len() == 1 {
                return;
            }
            if let Some(block) = self.unfinished.pop_front() {
                self.close(&block, out);
            }
        }
    }

    fn close(&mut self, block: &Block, out: &mut Vec<StreamEvent>) {
        // A call that never got a name is nothing anybody could run.
        if block.is_open {
            out.push(StreamEvent::ContentBlockStop { index: self.closed });
            self.closed += 1;
        }
    }
}

impl Block {
    fn stream(&mut self, index: u32, out: &mut Vec<StreamEvent>) {
        if !self.is_open {
            let Some(start) = &self.start else { return };
            out.push(StreamEvent::ContentBlockStart { index, content_block: start.clone() });
            self.is_open = true;
        }
        if self.waiting.is_empty() {
            return;
        }
        let text = std::mem::take(&mut self.waiting);
        let delta = match self.kind {
            Kind::Text => Delta::TextDelta { text },
            Kind::Thinking => Delta::ThinkingDelta { thinking: text },
            Kind::Call(_) => Delta::InputJsonDelta { partial_json: text },
        };
        out.push(StreamEvent::ContentBlockDelta { index, delta });
    }
}
