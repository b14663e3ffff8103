//! Removing sessions that nobody has touched for a long time.

use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use tillerman_protocol::{Moment, SessionId};

use crate::disk::{self, Lock, Purpose};
use crate::names;

const STAMP: &str = ".tillerman-swept";
const HISTORIES: &str = "file-history";
const DAY: u64 = 24 * 60 * 60 * 1_000;

/// What was removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Transcripts, with the folders beside them.
    pub transcripts: usize,
    /// Histories of files.
    pub histories: usize,
}

/// Whether it is time to sweep: at most once a day, which a file beside the sessions remembers.
#[must_use]
pub fn sweep_is_due(config_dir: &Path, now: Moment) -> bool {
    if !config_dir.join("projects").is_dir() {
        return false;
    }
    match modified(&config_dir.join(STAMP)) {
        Some(last) => now.millis_since(last) >= DAY,
        None => true,
    }
}

/// Removes the transcripts, folders, file histories and teams of sessions that were last written to more
/// than so many days ago. The session named, and every session that a process holds open, stays.
/// Whatever does not look like a session stays as well, and nothing is removed through a link.
/// Directories of projects stay even when they are empty: a session may be about to use one.
#[must_use]
pub fn sweep(config_dir: &Path, days: u32, now: Moment, running: &SessionId) -> Swept {
    // Written first: a process that starts meanwhile need not do the same.
    if std::fs::write(config_dir.join(STAMP), []).is_err() {
        return Swept::default();
    }
    let broom = Broom { oldest: u64::from(days) * DAY, now, running };
    let mut swept = Swept::default();
    for project in entries(&config_dir.join("projects")).into_iter().filter(|it| is_directory(it)) {
        for path in entries(&project) {
            swept.transcripts += usize::from(broom.remove_transcript(&path));
        }
    }
    let kept = sessions(config_dir);
    for folder in [HISTORIES, "teams", "tasks"] {
        for path in entries(&config_dir.join(folder)) {
            let id = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let is_orphan = names::is_uuid(id) && !kept.iter().any(|held| held == id);
            if is_orphan && broom.is_old(&path) && broom.is_over(id) && is_directory(&path) {
                let is_gone = std::fs::remove_dir_all(&path).is_ok();
                swept.histories += usize::from(is_gone && folder == HISTORIES);
            }
        }
    }
    swept
}

struct Broom<'a> {
    oldest: u64,
    now: Moment,
    running: &'a SessionId,
}

impl Broom<'_> {
    fn remove_transcript(&self, path: &Path) -> bool {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let Some(id) = name.strip_suffix(".jsonl").filter(|id| names::is_uuid(id)) else {
            return false;
        };
        if !self.is_old(path) || !self.is_over(id) {
            return false;
        }
        // Held until the file is gone, so that nobody resumes it in between.
        let Ok(file) = disk::open(path, Purpose::Append) else { return false };
        if !matches!(disk::lock(&file), Ok(Lock::Taken)) || !self.is_old(path) {
            return false;
        }
        let beside = path.with_extension("");
        if is_directory(&beside) {
            drop(std::fs::remove_dir_all(&beside));
        }
        std::fs::remove_file(path).is_ok()
    }

    fn is_over(&self, id: &str) -> bool {
        self.running.as_str() != id
    }

    fn is_old(&self, path: &Path) -> bool {
        modified(path).is_some_and(|time| self.now.millis_since(time) > self.oldest)
    }
}

/// The ids of all sessions that have a transcript.
fn sessions(config_dir: &Path) -> Vec<String> {
    let projects = entries(&config_dir.join("projects"));
    let files = projects.iter().flat_map(|project| entries(project));
    files.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect()
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten();
    entries.flatten().map(|entry| entry.path()).collect()
}

fn is_directory(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir())
}

fn modified(path: &Path) -> Option<Moment> {
    let time = path.symlink_metadata().and_then(|metadata| metadata.modified()).ok()?;
    let since = time.duration_since(UNIX_EPOCH).ok()?;
    Some(Moment::from_millis(i64::try_from(since.as_millis()).ok()?))
}
