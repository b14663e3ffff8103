//! Files that hooks want to hear of when they change.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use tillerman_protocol::hook::{HookDetail, HookEvent};

use crate::hook_line::HookLine;
use crate::session_task::SessionTask;

const EVERY: Duration = Duration::from_millis(500);
/// More files than this are not looked at; a hook that names them is told nothing of the rest.
const MOST_FILES: usize = 256;

/// The files that hooks hear of.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    /// Those that hooks named while they ran.
    named: Vec<String>,
    /// All that are looked at now.
    now: Vec<PathBuf>,
}

/// What tells one state of a file from another; nothing for one that is not there.
type State = Option<(Option<SystemTime>, u64)>;

impl SessionTask {
    /// Watches the files that a hook named, instead of those one named before.
    pub(crate) fn watch_also(&mut self, named: Vec<String>) {
        self.hook_room.watched.named = named;
        self.watch_files();
    }

    /// The watching itself failed; the session goes on without it.
    pub(crate) async fn watch_crashed(&mut self) {
        self.hook_room.watched.now.clear();
        let text = "Watching files for hooks crashed. The session goes on without FileChanged.";
        tracing::warn!("{text}");
        self.notify("hook_failed", text).await;
    }

    /// Looks from now on at the files that hooks want to hear of as things stand.
    pub(crate) fn watch_files(&mut self) {
        let cwd = PathBuf::from(&self.engine.config().origin.cwd);
        let mut files: Vec<PathBuf> = Vec::new();
        if self.hooks.events().contains(&HookEvent::FileChanged) {
            let written = self.hooks.file_names();
            let named = self.hook_room.watched.named.iter().cloned();
            files.extend(written.into_iter().chain(named).map(|name| cwd.join(name)));
        }
        files.sort();
        files.dedup();
        if files.len() > MOST_FILES {
            tracing::warn!("hooks name {} files to watch; {MOST_FILES} are watched", files.len());
            files.truncate(MOST_FILES);
        }
        if files != self.hook_room.watched.now {
            self.hook_room.watched.now.clone_from(&files);
            let watching = (!files.is_empty()).then(|| watch(self.hook_line(), files));
            self.work.watch(watching);
        }
    }
}

/// Looks at files until it is dropped, and tells hooks what changed.
async fn watch(line: HookLine, files: Vec<PathBuf>) {
    let mut known = look(files.clone()).await.unwrap_or_else(|| vec![None; files.len()]);
    loop {
        tokio::time::sleep(EVERY).await;
        let Some(found) = look(files.clone()).await else { continue };
        for ((file, before), after) in files.iter().zip(&known).zip(&found) {
            let event = match (before, after) {
                (before, after) if before == after => continue,
                (None, _) => "add",
                (_, None) => "unlink",
                _ => "change",
            };
            let (file_path, event) = (file.display().to_string(), event.to_owned());
            line.tell(HookDetail::FileChanged { file_path, event }).await;
        }
        known = found;
    }
}

async fn look(files: Vec<PathBuf>) -> Option<Vec<State>> {
    let state = |file: &PathBuf| {
        let metadata = std::fs::metadata(file).ok().filter(std::fs::Metadata::is_file)?;
        Some((metadata.modified().ok(), metadata.len()))
    };
    let looking = tokio::task::spawn_blocking(move || files.iter().map(state).collect());
    looking.await.ok()
}
