//! What commands in the background have printed, for hosts that look.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tillerman_protocol::task::TaskKind;
use tillerman_protocol::{RequestId, TaskId};

use crate::redact::Secrets;
use crate::session_task::SessionTask;

/// How many tasks are remembered; beyond that the oldest are forgotten.
const REMEMBERED: usize = 1_000;
/// How many bytes of the end are shown.
const SHOWN: usize = 8 * 1024;
/// How many are read, so that a credential at the cut is recognised as a whole.
const READ: u64 = 4 * SHOWN as u64;
/// A file on a disk that does not answer must not keep the host waiting.
const LONGEST_READ: Duration = Duration::from_secs(10);

/// Where the commands of a session and its agents print to.
#[derive(Clone, Debug, Default)]
pub(crate) struct TaskFiles(Arc<Mutex<VecDeque<(TaskId, String)>>>);

impl TaskFiles {
    pub(crate) fn note(&self, task: &TaskId, kind: TaskKind, file: &str) {
        if kind == TaskKind::LocalAgent {
            return;
        }
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if files.len() == REMEMBERED {
            files.pop_front();
        }
        files.push_back((task.clone(), file.to_owned()));
    }

    fn find(&self, task: &TaskId) -> Option<String> {
        let files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        files.iter().find(|(held, _)| held == task).map(|(_, file)| file.clone())
    }
}

impl SessionTask {
    /// Shows a host the end of what a command in the background has printed.
    pub(crate) async fn show_task_output(&mut self, id: RequestId, task: &TaskId) {
        let Some(file) = self.task_files.find(task) else {
            let text = format!(
                "There is no command {task} in the background of this session, so there is no \
                 output to show. The ids are those of task_started frames whose task_type is {}.",
                TaskKind::LocalBash.name()
            );
            return self.respond(id, Err((text, Some("unknown_task")))).await;
        };
        let secrets = self.facing.secrets.clone();
        self.work.request(id, async move {
            let path = file.clone();
            let reading = tokio::task::spawn_blocking(move || end_of(&path));
            match tokio::time::timeout(LONGEST_READ, reading).await {
                Ok(Ok(Ok(end))) => Ok(shown(&end, &secrets)),
                Ok(Ok(Err(error))) => Err((format!("{file} could not be read: {error}"), None)),
                Ok(Err(_)) | Err(_) => Err((format!("{file} could not be read; try again"), None)),
            }
        });
    }
}

/// The end of a file.
#[derive(Debug, Default)]
struct End {
    bytes: Vec<u8>,
    total: u64,
}

fn end_of(path: &str) -> io::Result<End> {
    let mut file = match File::open(path) {
        // A task that ended long ago may have lost its file.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(End::default()),
        opened => opened?,
    };
    let total = file.metadata()?.len();
    file.seek(SeekFrom::Start(total.saturating_sub(READ)))?;
    let mut bytes = Vec::new();
    // The file may grow while it is read.
    file.take(READ).read_to_end(&mut bytes)?;
    Ok(End { bytes, total })
}

fn shown(end: &End, secrets: &Secrets) -> Value {
    let mut text = String::from_utf8_lossy(&end.bytes).into_owned();
    secrets.redact_text(&mut text);
    let cut = text.len().saturating_sub(SHOWN);
    let output = &text[text.ceil_char_boundary(cut)..];
    json!({
        "output": output,
        "total_bytes": end.total,
        "truncated": cut > 0 || end.total > end.bytes.len() as u64,
    })
}
