//! Makes events of frames.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::{Value, json};
use tillerman_protocol::ToolUseId;
use tillerman_protocol::content::{Block, Content, ToolResult};
use tillerman_protocol::frame::{AssistantFrame, Frame, ResultFrame, SystemDetail, UserFrame};

use crate::events::bus::{Event, EventBus, PromptExecuted, PromptRendered, ToolInvoked};

/// Calls that can be open at once before the oldest knowledge is given up.
const MOST_OPEN: usize = 4096;

/// Watches one session for a bus.
#[derive(Debug)]
pub(crate) struct Watch {
    bus: EventBus,
    tools: Vec<String>,
    open: HashMap<ToolUseId, Call>,
}

#[derive(Debug)]
struct Call {
    name: String,
    input: Value,
    parent: Option<String>,
}

impl Watch {
    pub(crate) fn new(bus: EventBus) -> Self {
        Self { bus, tools: Vec::new(), open: HashMap::new() }
    }

    /// A prompt goes out.
    pub(crate) fn prompted(&self, content: &Content) {
        let rendered = PromptRendered { text: content.plain_text(), tools: self.tools.clone() };
        self.bus.publish(&Event::PromptRendered(rendered));
    }

    /// A frame came in.
    pub(crate) fn saw(&mut self, frame: &Frame) {
        match frame {
            Frame::Assistant(frame) => self.opened(frame),
            Frame::User(frame) => self.closed(frame),
            Frame::Result(result) => self.bus.publish(&Event::PromptExecuted(executed(result))),
            Frame::System(frame) => {
                if let SystemDetail::Init(init) = &frame.detail {
                    self.tools.clone_from(&init.tools);
                }
            }
            _ => {}
        }
    }

    fn opened(&mut self, frame: &AssistantFrame) {
        for block in &frame.message.content {
            let Block::ToolUse { id, name, input } = block else { continue };
            if self.open.len() < MOST_OPEN {
                let parent = frame.parent_tool_use_id.as_ref().map(|id| id.as_str().to_owned());
                let call = Call { name: name.clone(), input: input.clone(), parent };
                self.open.insert(id.clone(), call);
            }
        }
    }

    fn closed(&mut self, frame: &UserFrame) {
        let Content::Blocks(blocks) = &frame.message.content else { return };
        for block in blocks {
            let Block::ToolResult(result) = block else { continue };
            // A call that is closed already was told of already.
            let Some(call) = self.open.remove(&result.tool_use_id) else { continue };
            let outcome = frame.tool_use_result.clone().unwrap_or_else(|| said(result));
            self.bus.publish(&Event::ToolInvoked(ToolInvoked {
                call_id: result.tool_use_id.as_str().to_owned(),
                name: call.name,
                params: call.input,
                result: outcome,
                is_error: result.is_error,
                parent_call_id: call.parent,
            }));
        }
    }
}

fn said(result: &ToolResult) -> Value {
    json!(result.content.plain_text())
}

fn executed(result: &ResultFrame) -> PromptExecuted {
    PromptExecuted {
        output: result.result.clone().unwrap_or_default(),
        structured_output: result.structured_output.clone(),
        is_error: result.is_error,
        usage: result.usage.clone(),
        total_cost_usd: result.total_cost_usd,
        duration: Duration::from_millis(result.duration_ms),
    }
}
