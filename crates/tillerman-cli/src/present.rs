//! What a person or script sees: text as it comes, or one JSON object at the end.

#[cfg(test)]
mod tests;

use std::io::{IsTerminal as _, Write as _};

use serde_json::Value;
use tillerman_protocol::content::{Block, Content};
use tillerman_protocol::frame::{Frame, ResultFrame, SystemDetail};
use tillerman_protocol::stream::{Delta, StreamEvent};
use tokio::sync::{mpsc, oneshot};

/// Prints the answer as text: live on a terminal, only the final text into a pipe.
pub(crate) fn print_text(mut frames: mpsc::Receiver<Frame>) -> oneshot::Receiver<()> {
    let (done, finished) = oneshot::channel::<()>();
    std::thread::spawn(move || {
        let mut view = TextView {
            live: std::io::stdout().is_terminal(),
            progress: std::io::stderr().is_terminal(),
            mid_line: false,
        };
        while let Some(frame) = frames.blocking_recv() {
            // A reader that went away does not stop the session.
            drop(view.show(&frame));
        }
        drop(done);
    });
    finished
}

/// Prints the result as one JSON object, or all frames as an array.
pub(crate) fn print_json(mut frames: mpsc::Receiver<Frame>, all: bool) -> oneshot::Receiver<()> {
    let (done, finished) = oneshot::channel::<()>();
    std::thread::spawn(move || {
        let mut kept: Vec<Value> = Vec::new();
        while let Some(frame) = frames.blocking_recv() {
            let is_result = matches!(frame, Frame::Result(_));
            if all || is_result {
                kept.extend(serde_json::to_value(&frame));
            }
        }
        // A session that was ended has no result, and then nothing is better than a wrong one.
        let text = if all { Some(Value::Array(kept)) } else { kept.pop() };
        if let Some(text) = text {
            drop(writeln!(std::io::stdout(), "{text}"));
        }
        drop(done);
    });
    finished
}

struct TextView {
    live: bool,
    progress: bool,
    mid_line: bool,
}

impl TextView {
    fn show(&mut self, frame: &Frame) -> std::io::Result<()> {
        match frame {
            Frame::StreamEvent(frame) if self.live => self.show_event(&frame.event),
            Frame::Assistant(frame) => {
                frame.message.content.iter().try_for_each(|b| self.show_call(b))
            }
            Frame::User(frame) => self.show_outcome(&frame.message.content),
            Frame::System(frame) => self.show_news(&frame.detail),
            Frame::Result(result) => self.show_result(result),
            _ => Ok(()),
        }
    }

    fn show_event(&mut self, event: &StreamEvent) -> std::io::Result<()> {
        let mut out = std::io::stdout().lock();
        match event {
            StreamEvent::ContentBlockDelta { delta: Delta::TextDelta { text }, .. } => {
                self.mid_line = !text.ends_with('\n');
                out.write_all(text.as_bytes())?;
            }
            StreamEvent::ContentBlockStop { .. } if std::mem::take(&mut self.mid_line) => {
                out.write_all(b"\n")?;
            }
            _ => {}
        }
        out.flush()
    }

    fn show_call(&self, block: &Block) -> std::io::Result<()> {
        match block {
            Block::ToolUse { name, input, .. } => {
                self.note(&format!("→ {name} {}", summary(input)))
            }
            _ => Ok(()),
        }
    }

    fn show_outcome(&self, content: &Content) -> std::io::Result<()> {
        let Content::Blocks(blocks) = content else { return Ok(()) };
        for block in blocks {
            if let Block::ToolResult(result) = block
                && result.is_error
            {
                self.note(&format!("✗ {}", first_line(&result.content.plain_text())))?;
            }
        }
        Ok(())
    }

    fn show_news(&self, detail: &SystemDetail) -> std::io::Result<()> {
        match detail {
            SystemDetail::ApiRetry(retry) => self.note(&format!(
                "… the model failed ({}), trying again in {:.1} s ({} of {})",
                retry.error,
                std::time::Duration::from_millis(retry.retry_delay_ms).as_secs_f64(),
                retry.attempt,
                retry.max_retries
            )),
            SystemDetail::Notification { text, .. } => self.note(&format!("! {text}")),
            _ => Ok(()),
        }
    }

    fn show_result(&self, result: &ResultFrame) -> std::io::Result<()> {
        let mut out = std::io::stdout().lock();
        let errors = result.errors.as_ref().map(|errors| errors.join("\n"));
        let output = result.structured_output.as_ref().map(Value::to_string);
        // On a terminal a good answer has been shown already, but an output in a given form not.
        let is_new = !self.live || result.is_error || result.num_turns == 0 || output.is_some();
        let text = output.or(result.result.clone()).or(errors).unwrap_or_default();
        if is_new && !text.is_empty() {
            writeln!(out, "{text}")?;
        }
        out.flush()
    }

    fn note(&self, text: &str) -> std::io::Result<()> {
        if self.progress {
            writeln!(std::io::stderr(), "\x1b[2m{}\x1b[0m", visible(text))
        } else {
            Ok(())
        }
    }
}

/// The most telling part of an input.
fn summary(input: &Value) -> String {
    let telling = ["command", "file_path", "pattern", "url", "query", "description"];
    let found = telling.iter().find_map(|field| input.get(*field)).and_then(Value::as_str);
    found.map_or_else(|| first_line(&input.to_string()), first_line)
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().chars().take(160).collect()
}

/// What a terminal would act on is shown instead.
fn visible(text: &str) -> String {
    text.chars()
        .flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] })
        .collect()
}
