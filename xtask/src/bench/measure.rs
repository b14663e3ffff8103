//! One round of measurements of one contender.

use std::time::Duration;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use crate::bench::arena::{Arena, Contender, TOOL_TURNS, Talk};
use crate::bench::memory;
use crate::bench::session::Session;

/// How long a session rests after a turn before its memory is read.
const REST: Duration = Duration::from_millis(300);

/// What one round found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Round {
    /// Milliseconds from the start of the process to the answer to `initialize`.
    pub(crate) initialize: f64,
    /// Milliseconds from the start of the process to the result of one text turn.
    pub(crate) text_turn: f64,
    /// Milliseconds that one tool turn adds.
    pub(crate) tool_turn: f64,
    /// Megabytes that the idle session holds; not known on every system.
    pub(crate) memory: Option<f64>,
}

/// Measures a contender once. The order is always the same, and every process is new.
pub(crate) fn round(arena: &Arena, contender: &Contender) -> Result<Round> {
    let named = |what: &str| format!("cannot measure {what} of {}", contender.name);
    let initialize = initialize(arena, contender).with_context(|| named("the start"))?;
    let (text_turn, memory) = text(arena, contender).with_context(|| named("a text turn"))?;
    let tools = tools(arena, contender).with_context(|| named("tool turns"))?;
    let tool_turn = (tools - text_turn) / f64::from(TOOL_TURNS);
    Ok(Round { initialize, text_turn, tool_turn, memory })
}

fn initialize(arena: &Arena, contender: &Contender) -> Result<f64> {
    let mut session = arena.spawn(contender, Talk::Text)?;
    session.send(&initialize_request())?;
    session.frame("control_response")?;
    let taken = milliseconds(session.elapsed());
    session.finish();
    Ok(taken)
}

fn text(arena: &Arena, contender: &Contender) -> Result<(f64, Option<f64>)> {
    let (session, taken) = turn(arena, contender, Talk::Text)?;
    std::thread::sleep(REST);
    let memory = memory::resident(session.process()).map(megabytes);
    session.finish();
    Ok((taken, memory))
}

fn tools(arena: &Arena, contender: &Contender) -> Result<f64> {
    let (session, taken) = turn(arena, contender, Talk::Tools)?;
    session.finish();
    Ok(taken)
}

/// Plays one prompt to its result and leaves the session open.
fn turn(arena: &Arena, contender: &Contender, talk: Talk) -> Result<(Session, f64)> {
    let mut session = arena.spawn(contender, talk)?;
    session.send(&initialize_request())?;
    session.send(&prompt())?;
    session.result()?;
    let taken = milliseconds(session.elapsed());
    Ok((session, taken))
}

fn initialize_request() -> Value {
    let request = json!({ "subtype": "initialize", "hooks": null });
    json!({ "type": "control_request", "request_id": "r1", "request": request })
}

fn prompt() -> Value {
    let message = json!({ "role": "user", "content": "Begin." });
    json!({ "type": "user", "message": message, "parent_tool_use_id": null, "session_id": "" })
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

/// Bytes as megabytes of a million.
#[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^52 bytes")]
pub(crate) fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}
