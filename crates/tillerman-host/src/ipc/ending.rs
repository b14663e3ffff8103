//! How a round ends for a shell: one `done` or one `error`.

use serde_json::{Value, json};
use tillerman_protocol::ipc::IpcBody;

/// Whether somebody stopped the round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stopped {
    No,
    Yes,
}

/// The last response about a round.
pub(crate) fn of_result(
    conversation: &str,
    message: Option<&str>,
    frame: &Value,
    stopped: Stopped,
) -> IpcBody {
    let is_stopped = stopped == Stopped::Yes;
    if frame["is_error"] == true && !is_stopped {
        return IpcBody::Error { error: problem(frame) };
    }
    IpcBody::Done {
        data: Some(json!({
            "conversation_id": conversation,
            "message_id": message,
            "session_id": frame["session_id"],
            "result": frame["result"],
            "subtype": frame["subtype"],
            "interrupted": is_stopped,
            "turns": frame["num_turns"],
            "duration_ms": frame["duration_ms"],
            "total_cost_usd": frame["total_cost_usd"],
            "usage": frame["usage"],
        })),
    }
}

/// The last response about a round that was stopped before it began.
pub(crate) fn of_stop(conversation: &str) -> IpcBody {
    IpcBody::Done { data: Some(json!({"conversation_id": conversation, "interrupted": true})) }
}

fn problem(frame: &Value) -> String {
    let errors = frame["errors"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let errors: Vec<&str> = errors.collect();
    let result = frame["result"].as_str().filter(|text| !text.is_empty());
    match (frame["subtype"].as_str().unwrap_or_default(), result) {
        ("error_max_turns", _) => {
            "The agent took as many turns as it may. Send a message to have it go on.".to_owned()
        }
        (_, Some(result)) => result.to_owned(),
        (_, None) if !errors.is_empty() => errors.join("\n"),
        (subtype, None) => format!("The round failed ({subtype}). The log says why."),
    }
}
