//! Responses as they go out: whole lines, in order, until nobody reads them any more.

use std::path::{Path, PathBuf};

use serde_json::json;
use tillerman_protocol::ipc::{IpcBody, IpcResponse};
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::live::Now;

const IN_FLIGHT: usize = 256;
/// No line is longer; what would be goes to a file that the line names.
const LONGEST_LINE: usize = 1024 * 1024;

/// The way out. Clones lead to the same place.
#[derive(Clone)]
pub(crate) struct Outlet {
    lines: mpsc::Sender<IpcResponse>,
    now: Now,
}

impl Outlet {
    /// The way out, and the task that writes. The token fires when nobody reads.
    pub(crate) fn new<W: AsyncWrite + Send + Unpin>(
        to: W,
        scratch: PathBuf,
        now: Now,
        gone: CancellationToken,
    ) -> (Self, impl Future<Output = ()> + Send) {
        let (lines, said) = mpsc::channel(IN_FLIGHT);
        (Self { lines, now }, write_all(to, scratch, said, gone))
    }

    /// Says something about a request. When nobody reads, nothing happens.
    pub(crate) async fn say(&self, id: &str, body: IpcBody) {
        let timestamp = (self.now)().as_millis();
        drop(self.lines.send(IpcResponse { body, id: id.to_owned(), timestamp }).await);
    }

    pub(crate) async fn done(&self, id: &str, data: Option<serde_json::Value>) {
        self.say(id, IpcBody::Done { data }).await;
    }

    pub(crate) async fn error(&self, id: &str, error: impl Into<String>) {
        self.say(id, IpcBody::Error { error: error.into() }).await;
    }
}

impl std::fmt::Debug for Outlet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Outlet").finish_non_exhaustive()
    }
}

async fn write_all<W: AsyncWrite + Unpin>(
    mut to: W,
    scratch: PathBuf,
    mut said: mpsc::Receiver<IpcResponse>,
    gone: CancellationToken,
) {
    let mut spilled = 0_u32;
    while let Some(response) = said.recv().await {
        let mut line = serde_json::to_string(&response).unwrap_or_default();
        if line.len() > LONGEST_LINE {
            spilled += 1;
            line = spill(&scratch, spilled, &response, line).await;
        }
        line.push('\n');
        let written = async {
            to.write_all(line.as_bytes()).await?;
            to.flush().await
        };
        if let Err(error) = written.await {
            tracing::warn!(%error, "the shell does not read any more");
            gone.cancel();
            return;
        }
    }
}

/// Puts a response into a file and makes the line that names it.
async fn spill(scratch: &Path, number: u32, response: &IpcResponse, line: String) -> String {
    let file = scratch.join(format!("response-{number}.json"));
    let (path, bytes) = (file.clone(), line.len());
    let writing = tokio::task::spawn_blocking(move || write_private(&path, line.as_bytes()));
    let problem = match writing.await {
        Ok(Ok(())) => None,
        Ok(Err(error)) => Some(error.to_string()),
        Err(error) => Some(error.to_string()),
    };
    let kind = serde_json::to_value(&response.body)
        .map_or_else(|_| json!("error"), |body| body.get("type").cloned().unwrap_or_default());
    let head = json!({"type": kind, "id": response.id, "timestamp": response.timestamp});
    let mut head = head;
    match problem {
        None => {
            head["file"] = json!(file);
            head["bytes"] = json!(bytes);
        }
        Some(problem) => {
            tracing::error!(problem, "a long response could not be put into a file");
            head["type"] = json!("error");
            head["error"] = json!(format!(
                "The response has {bytes} bytes and could not be put into a file: {problem}. Make \
                 room and ask again."
            ));
        }
    }
    head.to_string()
}

fn write_private(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    use std::io::Write as _;
    use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
    if let Some(folder) = path.parent() {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let mut options = std::fs::OpenOptions::new();
    // A file or a link that is there already is somebody else's.
    options.write(true).create_new(true).mode(0o600).open(path)?.write_all(bytes)
}
