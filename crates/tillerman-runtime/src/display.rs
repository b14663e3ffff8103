//! What the agent says on its way to people: hooks may have another text shown in its place.
//!
//! Frames behind a text that hooks look at wait, so that hosts see everything in order; only what
//! hooks themselves need goes past them. The transcript and the model keep the words as they were.

use std::collections::VecDeque;

use tillerman_engine::HookOutcome;
use tillerman_protocol::content::Block;
use tillerman_protocol::control::ControlBody;
use tillerman_protocol::frame::Frame;
use tillerman_protocol::hook::HookDetail;

use crate::hook_desk::RunKey;
use crate::session_task::SessionTask;

/// Frames that may wait; with more, all are shown as they are.
const MOST_WAITING: usize = 1_024;

/// Frames that wait to be shown.
#[derive(Debug, Default)]
pub(crate) struct Display {
    waiting: VecDeque<(Option<RunKey>, Frame)>,
}

impl SessionTask {
    /// Shows a frame of the engine; hooks that listen look at its text first.
    pub(crate) async fn present(&mut self, frame: Frame) {
        let detail = said(&frame).map(|(message_id, delta)| HookDetail::MessageDisplay {
            turn_id: String::new(),
            message_id,
            index: 0,
            is_final: true,
            delta,
        });
        let is_agent = self.engine.config().agent.is_some();
        let Some(detail) = detail.filter(|detail| !is_agent && self.hears(detail)) else {
            return self.show(frame).await;
        };
        let mut input = self.engine.hook_input(detail);
        if let HookDetail::MessageDisplay { turn_id, .. } = &mut input.detail {
            *turn_id = input.base.prompt_id.clone().unwrap_or_default();
        }
        let key = self.hooks.for_display();
        self.display.waiting.push_back((Some(key), frame));
        self.start_hooks(key, input).await;
    }

    /// The frame, unless it has to wait behind others.
    pub(crate) fn in_turn(&mut self, frame: Frame) -> Option<Frame> {
        if self.display.waiting.is_empty() || goes_past(&frame) {
            return Some(frame);
        }
        self.display.waiting.push_back((None, frame));
        None
    }

    /// Whether frames wait that must be shown before the session ends.
    pub(crate) fn is_showing(&self) -> bool {
        !self.display.waiting.is_empty() && !self.facing.shutdown.is_cancelled()
    }

    /// Takes what hooks say about a text.
    pub(crate) fn display_judged(&mut self, key: RunKey, outcome: HookOutcome) {
        let held = self.display.waiting.iter_mut().find(|(held, _)| *held == Some(key));
        let Some((held, frame)) = held else { return };
        *held = None;
        let (Frame::Assistant(frame), Some(shown)) = (frame, outcome.display) else { return };
        let mut shown = Some(shown);
        for block in &mut frame.message.content {
            if let Block::Text { text, .. } = block {
                *text = shown.take().unwrap_or_default();
            }
        }
    }

    /// Shows what need not wait any longer.
    pub(crate) async fn show_waiting(&mut self) {
        while let Some((None, _)) = self.display.waiting.front()
            && let Some((_, frame)) = self.display.waiting.pop_front()
        {
            self.put_out(frame).await;
        }
    }

    /// Shows everything once too much waits.
    pub(crate) async fn relieve_display(&mut self) {
        if self.display.waiting.len() > MOST_WAITING {
            tracing::warn!("too many frames waited for MessageDisplay hooks; all were shown");
            self.show_everything().await;
        }
    }

    /// Shows everything that waits as it is.
    pub(crate) async fn show_everything(&mut self) {
        while let Some((_, frame)) = self.display.waiting.pop_front() {
            self.put_out(frame).await;
        }
    }
}

/// What a frame says to people, and in which message.
fn said(frame: &Frame) -> Option<(String, String)> {
    let Frame::Assistant(frame) = frame else { return None };
    let texts: Vec<&str> = frame.message.content.iter().filter_map(Block::as_text).collect();
    (!texts.is_empty()).then(|| (frame.message.id.clone(), texts.join("\n")))
}

/// Whether hooks may need this frame in order to answer.
fn goes_past(frame: &Frame) -> bool {
    match frame {
        Frame::ControlResponse(_) => true,
        Frame::ControlRequest(request) => matches!(
            request.request,
            ControlBody::HookCallback { .. } | ControlBody::McpMessage { .. }
        ),
        _ => false,
    }
}
