//! Programs and scripts that a question is about: an answer counts for what was in them.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tillerman_engine::{AskId, PermissionAnswer, PermissionAsk};
use tillerman_protocol::control::ControlBody;

use crate::session_task::SessionTask;

/// Larger files are known by their place, size and time instead of their content.
const LARGEST: u64 = 4 * 1024 * 1024;

/// What a call runs, as it was at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Programs(Vec<(PathBuf, Print)>);

/// What was in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Print {
    Content(String),
    Place {
        device: u64,
        inode: u64,
        size: u64,
        changed: (i64, i64),
    },
    /// There was none, or none that could be read.
    Nothing,
}

impl Programs {
    /// Looks at what a call runs; of each list the first file that exists is meant.
    fn look(candidates: Vec<Vec<PathBuf>>) -> Self {
        let found = candidates.into_iter().filter_map(|paths| {
            let first = paths.iter().find(|path| path.is_file()).or(paths.first())?;
            Some((first.clone(), print(first)))
        });
        Self(found.collect())
    }

    /// The first that is not what it was.
    fn changed(&self) -> Option<&Path> {
        self.0.iter().find(|(path, before)| print(path) != *before).map(|(path, _)| path.as_path())
    }

    /// The question with the names of those that exist, so that a host can bind its answer too.
    pub(crate) fn name_in(&self, mut question: ControlBody) -> ControlBody {
        let named: Vec<Value> =
            self.0.iter().filter_map(|(path, print)| name(path, print)).collect();
        if let ControlBody::CanUseTool(question) = &mut question
            && !named.is_empty()
        {
            question.extra.insert("programs".to_owned(), Value::Array(named));
        }
        question
    }
}

fn name(path: &Path, print: &Print) -> Option<Value> {
    let path = path.to_string_lossy();
    match print {
        Print::Content(sha256) => Some(json!({"path": path, "sha256": sha256})),
        Print::Place { device, inode, size, changed: (seconds, nanos) } => {
            let place = [*device, *inode, *size, seconds.cast_unsigned(), nanos.cast_unsigned()];
            Some(json!({"path": path, "place": place}))
        }
        Print::Nothing => None,
    }
}

fn print(path: &Path) -> Print {
    let Ok(metadata) = fs::metadata(path) else { return Print::Nothing };
    if !metadata.is_file() {
        return Print::Nothing;
    }
    if metadata.len() > LARGEST {
        return place(&metadata);
    }
    match fs::read(path) {
        Ok(bytes) => {
            let digest = Sha256::digest(&bytes);
            Print::Content(digest.iter().map(|byte| format!("{byte:02x}")).collect())
        }
        // What can be run and not read is known by its place.
        Err(_) => place(&metadata),
    }
}

fn place(metadata: &Metadata) -> Print {
    Print::Place {
        device: metadata.dev(),
        inode: metadata.ino(),
        size: metadata.len(),
        changed: (metadata.mtime(), metadata.mtime_nsec()),
    }
}

impl SessionTask {
    /// Remembers what the call runs that somebody is asked about.
    pub(crate) fn bind_programs(&mut self, ask: AskId, request: &PermissionAsk) -> Programs {
        let programs = Programs::look(self.policy.programs(&request.tool_name, &request.input));
        self.questions.bind(ask, programs.clone());
        programs
    }

    /// The answer, unless it allows a call that would run something else than was asked about.
    pub(crate) async fn if_still_bound(
        &mut self,
        ask: AskId,
        answer: PermissionAnswer,
    ) -> PermissionAnswer {
        let programs = self.questions.unbind(ask);
        let PermissionAnswer::Allow { .. } = &answer else { return answer };
        let Some(path) = programs.changed() else { return answer };
        let message = format!(
            "{} was changed after this call was shown, so the permission does not count and nothing \
             was run. Make the call again if it is still wanted; it is asked about anew.",
            path.display()
        );
        tracing::warn!("{message}");
        self.notify("permission_void", &message).await;
        PermissionAnswer::Deny { message, interrupt: false }
    }
}
