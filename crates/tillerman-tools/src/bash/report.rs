//! Telling the model and the host how a command ended.

use std::time::Duration;

use serde_json::{Value, json};
use tillerman_protocol::content::Content;
use tillerman_protocol::tool::{ToolFailure, ToolOutcome, ToolOutput};

use super::capture::{Capture, Captured, Success};
use super::meaning::{Meaning, meaning};
use super::run::Ending;
use crate::config::ToolLimits;

/// What is told besides the output.
#[derive(Debug)]
pub(crate) struct Circumstances<'a> {
    /// The command.
    pub(crate) command: &'a str,
    /// How long it was allowed to take.
    pub(crate) timeout: Duration,
    /// The limits it ran under.
    pub(crate) limits: ToolLimits,
    /// Remarks that follow the output.
    pub(crate) notes: Vec<String>,
}

/// The outcome of a call whose command ended like this.
pub(crate) async fn outcome(
    ending: Ending,
    capture: Capture,
    circumstances: Circumstances<'_>,
) -> ToolOutcome {
    let meaning = match ending {
        Ending::Exited(status) => meaning(circumstances.command, status),
        Ending::TimedOut => Meaning::Failure(timed_out(&circumstances)),
        Ending::Cancelled => Meaning::Failure(
            "The command was interrupted and everything it had started was stopped.".to_owned(),
        ),
        Ending::TooMuchOutput => Meaning::Failure(format!(
            "The command wrote more than {} bytes, so it was stopped. \
             Let it write less, or to a file of its own.",
            circumstances.limits.output_bytes
        )),
        Ending::Lost(error) => Meaning::Failure(format!(
            "How the command ended could not be found out ({error}); it was stopped."
        )),
    };
    let notes = circumstances.notes;
    match meaning {
        Meaning::Success => Ok(success(capture.finish(Success::Yes).await, None, notes)),
        Meaning::Answer(answer) => {
            Ok(success(capture.finish(Success::Yes).await, Some(answer), notes))
        }
        Meaning::Failure(what) => {
            let captured = capture.finish(Success::No).await;
            let parts = [what, captured.shown].into_iter().chain(notes);
            let parts: Vec<String> = parts.filter(|part| !part.trim().is_empty()).collect();
            Err(ToolFailure::new(parts.join("\n")))
        }
    }
}

fn success(captured: Captured, answer: Option<&str>, notes: Vec<String>) -> ToolOutput {
    let answer_note = answer.map(|answer| format!("[Exit code 1: {answer}.]"));
    let silent = captured.shown.trim().is_empty();
    let shown = if silent { "(no output)".to_owned() } else { captured.shown };
    let parts: Vec<String> = std::iter::once(shown).chain(answer_note).chain(notes).collect();
    let mut structured = json!({
        "stdout": captured.inline,
        "stderr": "",
        "interrupted": false,
        "isImage": false,
        "noOutputExpected": false,
    });
    if let Some(answer) = answer {
        structured["returnCodeInterpretation"] = Value::from(answer);
    }
    if let Some((path, size)) = captured.saved {
        structured["persistedOutputPath"] = Value::from(path.to_string_lossy());
        structured["persistedOutputSize"] = Value::from(size);
    }
    ToolOutput::new(Content::Text(parts.join("\n")), Some(structured))
}

fn timed_out(circumstances: &Circumstances<'_>) -> String {
    let timeout = circumstances.timeout.as_millis();
    let most = circumstances.limits.max_timeout.as_millis();
    let advice = if timeout < most {
        format!("If it needs longer, set timeout (in milliseconds, at most {most}).")
    } else {
        "That is the longest a command may take; split the work into shorter steps.".to_owned()
    };
    format!(
        "The command timed out after {timeout} ms, so it and everything it had started was \
         stopped. {advice}"
    )
}
