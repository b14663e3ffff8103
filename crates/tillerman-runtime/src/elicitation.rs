//! Questions of MCP servers on their way to the person, and the answers on their way back: hooks
//! hear both and may answer in the person's place.

use serde_json::{Value, json};
use tillerman_engine::HookOutcome;
use tillerman_ports::HostFailure;
use tillerman_protocol::control::PersonRequest;
use tillerman_protocol::hook::HookDetail;

use crate::hook_line::HookLine;

/// Has hooks look at a question, then the person, then hooks at the person's answer.
///
/// # Errors
/// As asking the person ends, where hooks leave it to the person.
///
/// # Cancel safety
/// Dropping the future takes the question back; hooks that run end by themselves.
pub(crate) async fn mediate(
    line: HookLine,
    question: PersonRequest,
    asking: impl Future<Output = Result<Value, HostFailure>>,
) -> Result<Value, HostFailure> {
    let PersonRequest::Elicitation {
        mcp_server_name,
        message,
        mode,
        url,
        elicitation_id,
        requested_schema,
        ..
    } = question
    else {
        return asking.await;
    };
    let asked = HookDetail::Elicitation {
        mcp_server_name: mcp_server_name.clone(),
        message,
        mode: mode.clone(),
        url,
        elicitation_id: elicitation_id.clone(),
        requested_schema,
    };
    if let Some(answer) = instead(line.ask(asked).await) {
        return Ok(answer);
    }
    let answer = asking.await?;
    let action = answer.get("action").and_then(Value::as_str).unwrap_or("decline").to_owned();
    let answered = HookDetail::ElicitationResult {
        mcp_server_name,
        action,
        content: answer.get("content").cloned(),
        mode,
        elicitation_id,
    };
    Ok(instead(line.ask(answered).await).unwrap_or(answer))
}

/// What the server is told in place of what the person says; an objection agrees to nothing.
fn instead(outcome: HookOutcome) -> Option<Value> {
    if outcome.halt.is_some() || outcome.refusal().is_some() {
        return Some(json!({"action": "decline"}));
    }
    outcome.answer
}
