//! Frames in short.

use std::fmt::Write as _;

use tillerman_protocol::frame::{
    AssistantFrame, AssistantMessage, Frame, McpServerState, ResultFrame, SystemDetail, UserFrame,
};
use tillerman_protocol::stream::{Delta, StreamEvent};

use super::effects::USUAL_MODEL;
use super::said::{block, content, quoted};

pub(super) fn line(frame: &Frame) -> String {
    match frame {
        Frame::Assistant(frame) => assistant(frame),
        Frame::User(frame) => user(frame),
        Frame::System(frame) => system(&frame.detail),
        Frame::Result(frame) => result(frame),
        Frame::StreamEvent(frame) => format!("event {}", event(&frame.event)),
        Frame::CommandLifecycle(frame) => {
            format!("lifecycle {} {}", frame.command_uuid, frame.state)
        }
        Frame::ConversationReset(_) => "conversation-reset".to_owned(),
        other => serde_json::to_string(other).unwrap(),
    }
}

pub(super) fn assistant(frame: &AssistantFrame) -> String {
    let blocks: Vec<String> = frame.message.content.iter().map(block).collect();
    let mut line = format!("assistant {}", blocks.join(", "));
    match frame.message.model.as_str() {
        USUAL_MODEL => {}
        AssistantMessage::SYNTHETIC => line.push_str(" synthetic"),
        model => write!(line, " by={model}").unwrap(),
    }
    if let Some(error) = &frame.error {
        write!(line, " error={error}").unwrap();
    }
    line
}

pub(super) fn user(frame: &UserFrame) -> String {
    let mut line = format!("user {}", content(&frame.message.content));
    for (holds, word) in [(frame.is_synthetic, " synthetic"), (frame.is_replay, " replay")] {
        if holds == Some(true) {
            line.push_str(word);
        }
    }
    line
}

fn system(detail: &SystemDetail) -> String {
    match detail {
        SystemDetail::Init(init) => {
            let mode = init.permission_mode.as_str();
            let mode = if mode == "default" { String::new() } else { format!(" mode={mode}") };
            let model = &init.model;
            let model =
                if model == USUAL_MODEL { String::new() } else { format!(" model={model}") };
            let list = |name: &str, items: Vec<String>| match items.as_slice() {
                [] => String::new(),
                items => format!(" {name}={}", items.join(",")),
            };
            let tools = list("tools", init.tools.clone());
            let state = |server: &McpServerState| format!("{}:{}", server.name, server.status);
            let servers = list("servers", init.mcp_servers.iter().map(state).collect());
            let commands = list("commands", init.slash_commands.clone());
            format!("init{model}{mode}{tools}{servers}{commands}")
        }
        SystemDetail::Status { status, permission_mode, compact_result, compact_error } => {
            let status = status.as_ref().map_or_else(String::new, |status| format!(" {status}"));
            let mode =
                permission_mode.map_or_else(String::new, |m| format!(" mode={}", m.as_str()));
            let outcome =
                compact_result.as_ref().map_or_else(String::new, |end| format!(" compact={end}"));
            let why =
                compact_error.as_ref().map_or_else(String::new, |why| format!(" {}", quoted(why)));
            format!("status{status}{mode}{outcome}{why}")
        }
        SystemDetail::CompactBoundary { compact_metadata, .. } => {
            let (trigger, before) = (&compact_metadata.trigger, compact_metadata.pre_tokens);
            format!("compact_boundary {trigger} before={before}")
        }
        SystemDetail::MicrocompactBoundary { .. } => "microcompact_boundary".to_owned(),
        SystemDetail::SessionStateChanged { state, .. } => {
            let state = serde_json::to_value(state).unwrap();
            format!("state {}", state.as_str().unwrap_or_default())
        }
        SystemDetail::PermissionDenied(denied) => {
            let reason = denied.decision_reason_type.as_deref().unwrap_or_default();
            let (id, message) = (&denied.tool_use_id, quoted(&denied.message));
            format!("permission_denied {id} {reason} {message}")
        }
        SystemDetail::ApiRetry(retry) => {
            let status = retry.error_status.map_or_else(String::new, |code| format!(" {code}"));
            let (attempt, most, error) = (retry.attempt, retry.max_retries, &retry.error);
            format!("api_retry {attempt}/{most} {}{status} {error}", delay(retry.retry_delay_ms))
        }
        SystemDetail::SessionTitleChanged { title, .. } => {
            format!("title {}", quoted(title.as_deref().unwrap_or_default()))
        }
        SystemDetail::Notification { key, text, .. } => {
            format!("notification {key} {}", quoted(text))
        }
        other => of_task(other),
    }
}

/// What is shown about tasks; everything else is shown as it is.
fn of_task(detail: &SystemDetail) -> String {
    match detail {
        SystemDetail::TaskStarted(task) => {
            format!("task_started {} {}", task.task_id, quoted(&task.description))
        }
        SystemDetail::TaskProgress(task) => {
            let summary = task.extra.get("summary").and_then(|summary| summary.as_str());
            format!("task_progress {} {}", task.task_id, quoted(summary.unwrap_or_default()))
        }
        SystemDetail::TaskUpdated(task) => {
            let status = task.patch.status.as_deref().unwrap_or("backgrounded");
            format!("task_updated {} {status}", task.task_id)
        }
        SystemDetail::TaskNotification(task) => {
            format!("task_notification {} {} {}", task.task_id, task.status, quoted(&task.summary))
        }
        SystemDetail::BackgroundTasksChanged { tasks } => {
            let ids: Vec<&str> = tasks.iter().map(|task| task.task_id.as_str()).collect();
            format!("background_tasks_changed [{}]", ids.join(" "))
        }
        other => serde_json::to_string(other).unwrap(),
    }
}

fn result(frame: &ResultFrame) -> String {
    let subtype = serde_json::to_value(&frame.subtype).unwrap();
    let mut line = format!("result {}", subtype.as_str().unwrap_or_default());
    if frame.is_error {
        line.push_str(" failed");
    }
    for text in frame.result.iter().chain(frame.errors.iter().flatten()) {
        write!(line, " {}", quoted(text)).unwrap();
    }
    write!(line, " turns={} terminal={}", frame.num_turns, frame.terminal_reason).unwrap();
    if let Some(reason) = &frame.stop_reason
        && reason != "end_turn"
    {
        write!(line, " stop={reason}").unwrap();
    }
    if let Some(status) = frame.api_error_status {
        write!(line, " status={status}").unwrap();
    }
    let usage = &frame.usage;
    if usage.input_tokens + usage.output_tokens > 0 {
        write!(line, " in={} out={}", usage.input_tokens, usage.output_tokens).unwrap();
    }
    line.push_str(&cost(frame.total_cost_usd));
    for denial in &frame.permission_denials {
        write!(line, " denied={}", denial.tool_use_id).unwrap();
    }
    for prompt in &frame.user_message_uuids {
        write!(line, " prompt={prompt}").unwrap();
    }
    if let Some(output) = &frame.structured_output {
        write!(line, " output={output}").unwrap();
    }
    if let Some(call) = &frame.deferred_tool_use {
        write!(line, " deferred={call}").unwrap();
    }
    if let Some(origin) = frame.extra.get("origin") {
        write!(line, " origin={origin}").unwrap();
    }
    line
}

fn event(event: &StreamEvent) -> String {
    let value = serde_json::to_value(event).unwrap();
    let kind = value.get("type").and_then(|kind| kind.as_str()).unwrap_or("other").to_owned();
    match event {
        StreamEvent::ContentBlockStart { index, .. } | StreamEvent::ContentBlockStop { index } => {
            format!("{kind} {index}")
        }
        StreamEvent::ContentBlockDelta { index, delta: Delta::TextDelta { text } } => {
            format!("{kind} {index} {}", quoted(text))
        }
        StreamEvent::ContentBlockDelta { index, .. } => format!("{kind} {index}"),
        _ => kind,
    }
}

/// What something cost, unless it was free.
pub(super) fn cost(dollars: f64) -> String {
    let text = format!("{dollars:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "0" { String::new() } else { format!(" cost={text}") }
}

/// A delay as the range that its jitter may come from: a quarter of what the engine chose, 250 ms
/// of what a provider asked for.
pub(super) fn delay(millis: u64) -> String {
    let first = (0..7).map(|doubled| 500 << doubled).find(|first| {
        let range = *first..*first + *first / 4;
        range.contains(&millis)
    });
    let (first, room) = first.map_or((millis - millis % 250, 250), |first| (first, first / 4));
    format!("{first}..{}ms", first + room)
}
