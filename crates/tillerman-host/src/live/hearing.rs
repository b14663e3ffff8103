//! Taking in the frames of a run.

use serde_json::Value;
use tillerman_protocol::control::{ControlBody, ControlRequest, PersonRequest};
use tillerman_protocol::frame::ResultFrame;
use tokio::time::Instant;

use crate::live::committing::{Change, Item, said};
use crate::live::run::Beginning;
use crate::live::talk::Talk;
use crate::metrics::Spent;
use crate::store::{MessageRow, MessageState, UsageRow};
use crate::wire::{ConversationState, Event, RunState};

/// What an engine says about a session that it cannot find.
const NOT_FOUND: &str = "No conversation found";
/// Outages in a row after which a conversation waits for its provider.
pub(crate) const OUTAGES: u32 = 3;

impl Talk {
    /// Takes in frames, in order.
    pub(crate) async fn hear(&mut self, frames: Vec<Value>) {
        let mut change = Change::default();
        for frame in frames {
            match frame["type"].as_str().unwrap_or_default() {
                "control_request" => {
                    self.keep(std::mem::take(&mut change)).await;
                    self.asked(frame).await;
                }
                "control_response" => {
                    self.keep(std::mem::take(&mut change)).await;
                    self.answered(&frame["response"]).await;
                }
                "control_cancel_request" => {
                    self.keep(std::mem::take(&mut change)).await;
                    let request = frame["request_id"].as_str().unwrap_or_default().to_owned();
                    // A question that ends because the host does is still open.
                    if !self.is_draining {
                        self.withdraw_request(&request).await;
                    }
                }
                "system" if frame["subtype"] == "elicitation_complete" => {
                    self.keep(std::mem::take(&mut change)).await;
                    self.page_done(&frame).await;
                    self.note(frame, &mut change);
                }
                "transcript_mirror" | "keep_alive" => {}
                _ => self.note(frame, &mut change),
            }
        }
        self.keep(change).await;
    }

    /// Notes what a frame says about the run, and whether it is kept.
    fn note(&mut self, frame: Value, change: &mut Change) {
        let now = Instant::now();
        self.meter.hear(&frame, &self.shared.metrics.models);
        if let Some(run) = &mut self.run {
            run.has_spoken = true;
            if is_output(&frame) {
                run.last_output = now;
            }
        }
        match frame["type"].as_str().unwrap_or_default() {
            "stream_event" | "tool_progress" => return change.items.push(Item::Live(frame)),
            "system" if !self.note_news(&frame, change) => {
                return change.items.push(Item::Live(frame));
            }
            "assistant" if frame["parent_tool_use_id"].is_null() => {
                self.row.heard(&said(&frame));
            }
            "command_lifecycle" => self.note_lifecycle(&frame, change),
            "conversation_reset" => {
                let id = frame["new_conversation_id"].as_str().map(str::to_owned);
                self.row.shown.session_id = id.or(self.row.shown.session_id.take());
                self.row.session_cost = 0.0;
            }
            "result" => {
                if self.is_about_stale_session(&frame) {
                    return;
                }
                self.note_result(&frame, change);
            }
            _ => {}
        }
        change.push(Event::Frame { frame });
    }

    /// Whether the frame is to be stored.
    fn note_news(&mut self, frame: &Value, change: &mut Change) -> bool {
        match frame["subtype"].as_str().unwrap_or_default() {
            "init" => {
                self.row.session_begun = true;
                self.row.drops_message = None;
                if let Some(id) = frame["session_id"].as_str() {
                    self.row.shown.session_id = Some(id.to_owned());
                }
                true
            }
            "session_state_changed" => {
                self.note_state(frame["state"].as_str().unwrap_or_default(), change);
                false
            }
            "status" => {
                if let Some(mode) = frame["permissionMode"].as_str() {
                    mode.clone_into(&mut self.row.shown.permission_mode);
                }
                false
            }
            "thinking_tokens" => false,
            _ => true,
        }
    }

    fn note_state(&mut self, state: &str, change: &mut Change) {
        // A round that ends because the host does is not over.
        let Some(run) = self.run.as_mut().filter(|_| !self.is_draining) else { return };
        match state {
            "idle" => {
                run.set_idle();
                let done = |(message, state): &(MessageRow, MessageState)| {
                    (*state == MessageState::Taken).then(|| message.id.clone())
                };
                let ids = self.messages.iter().filter_map(done);
                change.messages.extend(ids.map(|id| (id, MessageState::Done)));
                self.messages.retain(|(_, state)| *state != MessageState::Taken);
                if self.row.outages < OUTAGES {
                    self.row.shown.state = ConversationState::Idle;
                    change.push(Event::Run { state: RunState::Idle, message: String::new() });
                }
            }
            "running" => {
                run.set_busy();
                self.row.shown.state = ConversationState::Running;
                change.push(Event::Run { state: RunState::Running, message: String::new() });
            }
            _ => {}
        }
    }

    fn note_lifecycle(&mut self, frame: &Value, change: &mut Change) {
        let id = frame["command_uuid"].as_str().unwrap_or_default();
        let state = match frame["state"].as_str().unwrap_or_default() {
            "started" => MessageState::Taken,
            "completed" => MessageState::Done,
            "cancelled" => MessageState::Withdrawn,
            _ => return,
        };
        if self.is_draining {
            return;
        }
        let Some(place) = self.messages.iter().position(|(message, _)| message.id == id) else {
            return;
        };
        change.messages.push((id.to_owned(), state));
        if state == MessageState::Taken {
            if self.messages[place].0.position > 0 {
                change.push(Event::Queued { message_id: id.to_owned(), position: 0 });
            }
            self.messages[place].1 = state;
        } else {
            self.messages.remove(place);
        }
        self.close_ranks(change);
    }

    fn is_about_stale_session(&mut self, frame: &Value) -> bool {
        let Some(run) = &mut self.run else { return false };
        let errors = frame["errors"].to_string();
        let is_stale = run.beginning != Beginning::Fresh
            && run.greeting.is_none()
            && errors.contains(NOT_FOUND);
        if is_stale {
            run.beginning = Beginning::Stale;
        }
        is_stale
    }

    fn note_result(&mut self, frame: &Value, change: &mut Change) {
        let Ok(result) = serde_json::from_value::<ResultFrame>(frame.clone()) else { return };
        let total = result.total_cost_usd;
        let cost =
            if total >= self.row.session_cost { total - self.row.session_cost } else { total };
        self.row.session_cost = total;
        self.row.shown.cost_usd += cost;
        let usage = &result.usage;
        let dearest = result.model_usage.iter().max_by(|(_, a), (_, b)| {
            a.cost_usd.total_cmp(&b.cost_usd).then(a.output_tokens.cmp(&b.output_tokens))
        });
        let model = dearest.map(|(model, _)| model.clone()).unwrap_or_else(|| self.shown().model);
        let spent = Spent {
            input: usage.input_tokens,
            cache_read: usage.cache_read_input_tokens,
            cache_creation: usage.cache_creation_input_tokens,
            output: usage.output_tokens,
            usd: cost,
        };
        self.shared.metrics.models.spent(&model, spent);
        change.usage.push(UsageRow {
            conversation_id: self.row.shown.id.clone(),
            project_id: self.row.shown.project_id.clone(),
            session_id: result.session_id.to_string(),
            message_id: result.user_message_uuids.first().map(ToString::to_string),
            model,
            at: self.shared.now(),
            cost_usd: cost,
            input_tokens: usage.input_tokens
                + usage.cache_read_input_tokens
                + usage.cache_creation_input_tokens,
            output_tokens: usage.output_tokens,
        });
        let is_outage = result.terminal_reason == "api_error"
            && result.api_error_status.is_none_or(|status| status == 429 || status >= 500);
        self.row.outages = if is_outage { self.row.outages + 1 } else { 0 };
        if self.row.outages >= OUTAGES {
            self.plan_look(change);
        }
    }

    /// Somebody behind the session wants an answer.
    async fn asked(&mut self, frame: Value) {
        let Ok(request) = serde_json::from_value::<ControlRequest>(frame) else { return };
        let id = request.request_id.to_string();
        match request.request {
            ControlBody::CanUseTool(question) => self.card_wanted(id, *question).await,
            ControlBody::Person(question @ PersonRequest::Elicitation { .. }) => {
                self.elicitation_wanted(id, question).await;
            }
            other => {
                let error = format!("Unsupported control request subtype: {}", other.subtype());
                if let Some(run) = &self.run {
                    run.decline(&id, &error).await;
                }
            }
        }
    }
}

/// Whether a frame is a sign of progress and not only of life.
fn is_output(frame: &Value) -> bool {
    match frame["type"].as_str().unwrap_or_default() {
        "assistant" | "user" | "result" | "stream_event" | "tool_progress" => true,
        "system" => {
            let subtype = frame["subtype"].as_str().unwrap_or_default();
            subtype.starts_with("task_") || matches!(subtype, "init" | "compact_boundary")
        }
        _ => false,
    }
}
