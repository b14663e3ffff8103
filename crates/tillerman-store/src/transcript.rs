//! The open transcript of a session: whole lines or nothing, and no success after a lost sync.

#[cfg(test)]
mod tests;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tillerman_ports::model::BoxFuture;
use tillerman_ports::{AppendError, Transcript};
use tillerman_protocol::SessionId;
use tillerman_protocol::transcript::Entry;
use tokio::runtime::Handle;

use crate::disk::{self, Disk, NewFile};
use crate::{line, names};

/// A transcript in a file. The file is locked against other writers until this is dropped.
#[derive(Debug)]
pub struct FileTranscript {
    path: PathBuf,
    stage: Stage,
    /// Where a failed append begins that could not be taken back yet.
    torn: Option<u64>,
    syncs: Arc<Syncs>,
}

#[derive(Debug)]
enum Stage {
    /// A session that was never used leaves no file, so the first append makes it.
    Planned,
    Open(Arc<dyn Disk>),
}

/// What synchronisations share, since they outlive the futures that wait for them.
#[derive(Debug, Default)]
struct Syncs {
    /// The first failure. The kernel reports one once and then forgets what it lost, so a later
    /// success would be a lie.
    lost: OnceLock<String>,
    /// Held by the running one: two at a time could each see the other's success.
    running: Mutex<()>,
}

impl FileTranscript {
    /// A transcript whose file, with the directories above it, is made by the first append.
    #[must_use]
    pub fn planned(path: PathBuf) -> Self {
        Self { path, stage: Stage::Planned, torn: None, syncs: Arc::default() }
    }

    /// A transcript in a file that exists and is locked.
    pub(crate) fn opened(path: PathBuf, file: File) -> Self {
        Self { stage: Stage::Open(Arc::new(file)), ..Self::planned(path) }
    }

    /// The file.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.path
    }

    fn store(&mut self, entry: &Entry) -> io::Result<()> {
        self.syncs.refuse_after_loss()?;
        let line = line::encode(entry)?;
        if let Stage::Open(disk) = &self.stage {
            let disk = Arc::clone(disk);
            return self.write(&*disk, &line);
        }
        let disk: Arc<dyn Disk> = Arc::new(NewFile::create(&self.path)?);
        let written = self.write(&*disk, &line);
        if written.is_ok() {
            self.stage = Stage::Open(disk);
        } else {
            // An empty file would stand in the way of the next attempt.
            drop(std::fs::remove_file(&self.path));
            self.torn = None;
        }
        written
    }

    fn write(&mut self, disk: &dyn Disk, line: &[u8]) -> io::Result<()> {
        self.take_back(disk)?;
        // Asked each time, because session helpers append titles without taking the lock.
        let start = disk.size()?;
        let error = match disk.append(line) {
            Ok(written) if written == line.len() => return Ok(()),
            Ok(written) => short_write(written, line.len()),
            Err(error) => error,
        };
        self.torn = Some(start);
        // When this fails too, the next append repeats it before it writes anything, and opening
        // the file repairs it as well.
        drop(self.take_back(disk));
        Err(error)
    }

    fn take_back(&mut self, disk: &dyn Disk) -> io::Result<()> {
        let Some(start) = self.torn else { return Ok(()) };
        if disk.size()? > start {
            disk.truncate(start)?;
        }
        self.torn = None;
        Ok(())
    }
}

impl Transcript for FileTranscript {
    fn append(&mut self, entry: &Entry) -> Result<(), AppendError> {
        self.store(entry).map_err(|source| append_error(&self.path, source))
    }

    fn sync(&mut self) -> BoxFuture<Result<(), AppendError>> {
        let syncs = Arc::clone(&self.syncs);
        let disk = match &self.stage {
            Stage::Open(disk) => Some(Arc::clone(disk)),
            Stage::Planned => None,
        };
        let path = self.path.clone();
        let job = move || disk.map_or(Ok(()), |disk| syncs.run(&*disk));
        // Started here and not at the first poll, so that dropping the future stops nothing.
        let Ok(runtime) = Handle::try_current() else {
            let outcome = job().map_err(|source| append_error(&path, source));
            return Box::pin(std::future::ready(outcome));
        };
        let task = runtime.spawn_blocking(job);
        Box::pin(async move {
            let outcome = task.await.unwrap_or_else(|error| Err(io::Error::other(error)));
            outcome.map_err(|source| append_error(&path, source))
        })
    }

    fn start_over(&mut self, session: &SessionId) {
        *self = Self::planned(self.path.with_file_name(names::file_name(session)));
    }

    fn path(&self) -> String {
        self.path.display().to_string()
    }
}

impl Syncs {
    fn run(&self, disk: &dyn Disk) -> io::Result<()> {
        let _running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        self.refuse_after_loss()?;
        disk.sync().inspect_err(|error| {
            self.lost.get_or_init(|| error.to_string());
        })
    }

    fn refuse_after_loss(&self) -> io::Result<()> {
        self.lost.get().map_or(Ok(()), |reason| {
            Err(io::Error::other(format!(
                "an earlier synchronisation failed ({reason}), so the newest entries may be lost; \
                 nothing more is written here; check the disk, then resume the session"
            )))
        })
    }
}

fn short_write(written: usize, length: usize) -> io::Error {
    let text = format!("only {written} of {length} bytes could be written, and were taken back");
    io::Error::new(io::ErrorKind::StorageFull, text)
}

fn append_error(path: &Path, source: io::Error) -> AppendError {
    AppendError { path: path.display().to_string(), may_pass: disk::may_pass(&source), source }
}

/// Keeps nothing, for sessions that are not to be stored.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoTranscript;

impl Transcript for NoTranscript {
    fn append(&mut self, _: &Entry) -> Result<(), AppendError> {
        Ok(())
    }

    fn sync(&mut self) -> BoxFuture<Result<(), AppendError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn path(&self) -> String {
        String::new()
    }
}
