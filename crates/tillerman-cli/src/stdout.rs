//! Frames on standard output: one line each, never longer than a reader takes.

#[cfg(test)]
mod tests;

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use serde_json::Value;
use tillerman_protocol::frame::Frame;
use tokio::sync::{mpsc, oneshot};

/// Readers give up at 1 MiB; some room is left for what counts characters differently.
const LONGEST_LINE: usize = (1 << 20) - 1024;
/// Strings shorter than this are not worth a file.
const WORTH_A_FILE: usize = 4096;
const PREVIEW: usize = 1024;

/// Prints frames on a thread of its own until there are no more; then tells so.
///
/// A reader that went away does not stop the session: the rest is dropped.
pub(crate) fn print_frames(
    mut frames: mpsc::Receiver<Frame>,
    spill: PathBuf,
) -> oneshot::Receiver<()> {
    let (done, finished) = oneshot::channel::<()>();
    std::thread::spawn(move || {
        let mut out = BufWriter::with_capacity(1 << 16, std::io::stdout().lock());
        let mut broken = false;
        while let Some(frame) = frames.blocking_recv() {
            broken = broken || write_line(&mut out, &frame, &spill).is_err();
            // What is ready goes out together; a reader never waits for a full buffer.
            if frames.is_empty() {
                broken = broken || out.flush().is_err();
                if matches!(frame, Frame::Result(_)) {
                    rest();
                }
            }
        }
        drop(done);
    });
    finished
}

/// After a result a session may wait for days, and should hold little meanwhile.
fn rest() {
    #[cfg(target_os = "linux")]
    if let Err(error) = tillerman_sandbox::give_back_code() {
        tracing::debug!("code that is not needed stays in memory: {error}");
    }
}

/// Writes one frame as one line.
pub(crate) fn write_line(out: &mut impl Write, frame: &Frame, spill: &Path) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(frame)?;
    if line.len() > LONGEST_LINE {
        line = shortened(frame, spill)?;
    }
    line.push(b'\n');
    out.write_all(&line)
}

/// Moves the longest texts of a frame into files that the frame then names.
fn shortened(frame: &Frame, spill: &Path) -> std::io::Result<Vec<u8>> {
    let mut value = serde_json::to_value(frame)?;
    loop {
        let line = serde_json::to_vec(&value)?;
        let Some(longest) = longest_text(&mut value) else { return Ok(line) };
        if line.len() <= LONGEST_LINE || longest.len() < WORTH_A_FILE {
            return Ok(line);
        }
        let preview: String = longest.chars().take(PREVIEW).collect();
        // A full disk costs the reader this text, not every frame that follows.
        let whereabouts = match keep(longest, spill) {
            Ok(path) => format!("kept in {}", path.display()),
            Err(error) => format!("which could not be kept: {error}"),
        };
        *longest = format!("{preview}… [{} bytes in all, {whereabouts}]", longest.len());
    }
}

fn longest_text(value: &mut Value) -> Option<&mut String> {
    match value {
        Value::String(text) => Some(text),
        Value::Array(items) => {
            items.iter_mut().filter_map(longest_text).max_by_key(|text| text.len())
        }
        Value::Object(fields) => {
            fields.values_mut().filter_map(longest_text).max_by_key(|text| text.len())
        }
        _ => None,
    }
}

fn keep(text: &str, spill: &Path) -> std::io::Result<PathBuf> {
    use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
    let mut name = [0; 16];
    getrandom::fill(&mut name).map_err(|error| std::io::Error::other(error.to_string()))?;
    let name = uuid::Uuid::from_bytes(name).simple();
    let path = spill.join(format!("frame-{name}.txt"));
    let open = || {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(spill)?;
        std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)
    };
    // A session that ends at this moment removes its directory if nothing lies in it, once.
    let mut file = open().or_else(|_| open())?;
    file.write_all(text.as_bytes())?;
    Ok(path)
}
