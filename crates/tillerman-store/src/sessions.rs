//! The sessions of a project: making, finding, listing and opening their transcripts.

use std::fs::{File, Metadata};
use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::io::Errno;
use tillerman_protocol::{EntryId, Moment, SessionId};

use crate::disk::{self, Disk as _, Lock, Purpose};
use crate::index::Tail;
use crate::load::{self, LoadError, Loaded, ResumeAt};
use crate::names::{self, project_name};
use crate::probe;
use crate::transcript::FileTranscript;

const LOCK_ATTEMPTS: u32 = 25;
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// The transcripts of one working directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionFiles {
    projects: PathBuf,
    project: String,
}

/// A stored session, known by its file's metadata alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionFile {
    /// The session.
    pub id: SessionId,
    /// Its transcript.
    pub path: PathBuf,
    /// When it was last written to.
    pub modified: Moment,
    /// The size of the transcript in bytes.
    pub size: u64,
}

/// Why a transcript could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// There is no such session.
    #[error("No conversation found with session ID: {id}")]
    NotFound {
        /// The session that was asked for.
        id: SessionId,
    },
    /// A new session got an id that is no UUID.
    #[error(
        "the session ID {id} is not a UUID; nothing was started; \
         give one like 6ba7b810-9dad-41d1-80b4-00c04fd430c8 or none at all"
    )]
    BadId {
        /// The id.
        id: SessionId,
    },
    /// A new session got the id of an existing one.
    #[error(
        "the session ID {id} is already in use by {}; nothing was changed; \
         resume that session or choose another ID", path.display()
    )]
    Exists {
        /// The id.
        id: SessionId,
        /// The transcript that has it.
        path: PathBuf,
    },
    /// Another process has the session open.
    #[error(
        "the session {id} is open in another process; {} was left as it is; \
         end the other process, or fork the session", path.display()
    )]
    InUse {
        /// The session.
        id: SessionId,
        /// Its transcript.
        path: PathBuf,
    },
    /// Several other projects have a session with this id.
    #[error(
        "the session {id} exists in {} other projects and not in this one; none was opened; \
         start from the working directory of the one you mean", paths.len()
    )]
    Ambiguous {
        /// The session.
        id: SessionId,
        /// Its transcripts.
        paths: Vec<PathBuf>,
    },
    /// A newer program wrote the transcript.
    #[error(
        "{} was written by a newer version (format {found}, this version knows up to {known}); \
         it was left as it is; update to resume the session", path.display()
    )]
    NewerFormat {
        /// The transcript.
        path: PathBuf,
        /// Its format.
        found: u64,
        /// The newest format known here.
        known: u64,
    },
    /// The entry to resume at is not in the transcript.
    #[error(
        "the session {id} has no message with the UUID {entry}; nothing was changed; \
         resume at a message of this session, or at its end"
    )]
    NoSuchMessage {
        /// The session.
        id: SessionId,
        /// The entry that was asked for.
        entry: EntryId,
    },
    /// Something other than a plain file has the transcript's name.
    #[error(
        "{} is a link or not a plain file; it was not opened; \
         put the transcript itself in its place", path.display()
    )]
    NotAFile {
        /// Where the transcript should be.
        path: PathBuf,
    },
    /// New transcripts cannot be written.
    #[error(
        "sessions cannot be stored below {}; nothing was started; make that directory writable, \
         set CLAUDE_CONFIG_DIR to another one, or turn session persistence off", path.display()
    )]
    Unwritable {
        /// The directory.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The system refused a file operation.
    #[error("cannot open {}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

impl SessionFiles {
    /// The transcripts of a working directory below a configuration directory. Nothing is created.
    #[must_use]
    pub fn new(config_dir: PathBuf, cwd: &Path) -> Self {
        let config_dir = std::path::absolute(&config_dir).unwrap_or(config_dir);
        let cwd = cwd.canonicalize().or_else(|_| std::path::absolute(cwd));
        let project =
            cwd.map_or_else(|_| "-".to_owned(), |cwd| project_name(&cwd.to_string_lossy()));
        Self { projects: config_dir.join("projects"), project }
    }

    /// The directory that holds the transcripts, which need not exist.
    #[must_use]
    pub fn project_dir(&self) -> PathBuf {
        self.projects.join(&self.project)
    }

    /// The transcript of a session of this project, which need not exist.
    #[must_use]
    pub fn path(&self, id: &SessionId) -> PathBuf {
        self.project_dir().join(names::file_name(id))
    }

    /// Prepares the transcript of a new session. The file is made by the first append.
    ///
    /// # Errors
    /// When the id is taken or no UUID, or when nothing can be written there.
    pub fn create(&self, id: &SessionId) -> Result<FileTranscript, OpenError> {
        if !names::is_uuid(id.as_str()) {
            return Err(OpenError::BadId { id: id.clone() });
        }
        let path = self.path(id);
        match path.symlink_metadata() {
            Ok(_) => return Err(OpenError::Exists { id: id.clone(), path }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(source) => return Err(OpenError::Unwritable { path: self.project_dir(), source }),
        }
        check_writable(&self.project_dir())?;
        Ok(FileTranscript::planned(path))
    }

    /// Opens a stored session to go on with it, and repairs the end of its file.
    ///
    /// # Errors
    /// When there is no such session or entry, when another process has it open, or when the file
    /// cannot be read. The file is then as it was.
    pub fn resume(
        &self,
        id: &SessionId,
        at: &ResumeAt,
    ) -> Result<(FileTranscript, Loaded), OpenError> {
        let path = self.find(id)?;
        let file = open(&path, Purpose::Append)?;
        let io_error = |source| OpenError::Io { path: path.clone(), source };
        if lock_soon(&file).map_err(io_error)? == Lock::Busy {
            return Err(OpenError::InUse { id: id.clone(), path });
        }
        let (loaded, tail) = load_file(&file, id, &path, at)?;
        match tail {
            Tail::Whole => {}
            Tail::Torn(start) => file.truncate(start).map_err(io_error)?,
            Tail::Unterminated => drop(file.append(b"\n").map_err(io_error)?),
        }
        Ok((FileTranscript::opened(path, file), loaded))
    }

    /// Reads a stored session and changes nothing, for forks and displays.
    ///
    /// # Errors
    /// When there is no such session or entry, or when the file cannot be read.
    pub fn read(&self, id: &SessionId, at: &ResumeAt) -> Result<Loaded, OpenError> {
        let path = self.find(id)?;
        let file = open(&path, Purpose::Read)?;
        Ok(load_file(&file, id, &path, at)?.0)
    }

    /// Finds the transcript of a session: in this project, else in the only other one that has it.
    ///
    /// # Errors
    /// When there is none, or more than one.
    pub fn find(&self, id: &SessionId) -> Result<PathBuf, OpenError> {
        let not_found = || OpenError::NotFound { id: id.clone() };
        if !names::is_uuid(id.as_str()) {
            return Err(not_found());
        }
        let name = names::file_name(id);
        for directory in [self.project_dir(), self.present_dir()] {
            let path = directory.join(&name);
            if path.symlink_metadata().is_ok_and(|metadata| holds_something(&metadata)) {
                return Ok(path);
            }
        }
        let mut paths = directories(&self.projects);
        paths.iter_mut().for_each(|path| path.push(&name));
        paths.retain(|path| path.symlink_metadata().is_ok_and(|found| holds_something(&found)));
        match paths.len() {
            2.. => Err(OpenError::Ambiguous { id: id.clone(), paths }),
            _ => paths.pop().ok_or_else(not_found),
        }
    }

    /// Whether a session is stored, in this project or another.
    #[must_use]
    pub fn exists(&self, id: &SessionId) -> bool {
        !matches!(self.find(id), Err(OpenError::NotFound { .. }))
    }

    /// The sessions of this project, newest first, without reading any of them.
    ///
    /// # Errors
    /// When the project's directory cannot be read.
    pub fn list(&self) -> Result<Vec<SessionFile>, OpenError> {
        let directory = self.present_dir();
        let files = match std::fs::read_dir(&directory) {
            Ok(files) => files,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(OpenError::Io { path: directory, source }),
        };
        let mut sessions: Vec<(SystemTime, SessionFile)> =
            files.filter_map(Result::ok).filter_map(|file| session_file(&file)).collect();
        sessions.sort_by(|(a_time, a), (b_time, b)| b_time.cmp(a_time).then(a.id.cmp(&b.id)));
        Ok(sessions.into_iter().map(|(_, session)| session).collect())
    }

    /// The session of this project that was written to last and holds a conversation of its own.
    ///
    /// # Errors
    /// When the project's directory cannot be read.
    pub fn newest(&self) -> Result<Option<SessionId>, OpenError> {
        let mut sessions = self.list()?.into_iter();
        let newest = sessions.find(|session| is_conversation(&session.path).unwrap_or(false));
        Ok(newest.map(|session| session.id))
    }

    /// The directory to read from. For long paths the official program computes another hash, so
    /// any directory with the same beginning serves when ours does not exist.
    fn present_dir(&self) -> PathBuf {
        let exact = self.project_dir();
        let Some(prefix) = self.project.get(..=names::LONGEST_PLAIN_NAME) else { return exact };
        if exact.is_dir() {
            return exact;
        }
        let starts_alike = |path: &PathBuf| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(prefix))
        };
        directories(&self.projects).into_iter().find(starts_alike).unwrap_or(exact)
    }
}

fn open(path: &Path, purpose: Purpose) -> Result<File, OpenError> {
    disk::open(path, purpose).map_err(|source| {
        let path = path.to_owned();
        if source.raw_os_error() == Some(Errno::LOOP.raw_os_error()) {
            OpenError::NotAFile { path }
        } else {
            OpenError::Io { path, source }
        }
    })
}

/// Takes the lock, also when a process that was killed while it started another has left it to
/// that one for the moment before it runs its own program.
fn lock_soon(file: &File) -> io::Result<Lock> {
    for _ in 0..LOCK_ATTEMPTS {
        if disk::lock(file)? == Lock::Taken {
            return Ok(Lock::Taken);
        }
        std::thread::sleep(LOCK_PAUSE);
    }
    disk::lock(file)
}

fn load_file(
    file: &File,
    id: &SessionId,
    path: &Path,
    at: &ResumeAt,
) -> Result<(Loaded, Tail), OpenError> {
    load::load(file, at).map_err(|error| match (error, at) {
        (LoadError::NewerFormat(found), _) => {
            OpenError::NewerFormat { path: path.to_owned(), found, known: crate::line::FORMAT }
        }
        (LoadError::NoSuchEntry, ResumeAt::Entry(entry)) => {
            OpenError::NoSuchMessage { id: id.clone(), entry: entry.clone() }
        }
        (LoadError::NoSuchEntry, ResumeAt::End) => OpenError::NotFound { id: id.clone() },
        (LoadError::Io(source), _) => OpenError::Io { path: path.to_owned(), source },
    })
}

/// An empty file is what a crash leaves of a session that never began.
fn holds_something(metadata: &Metadata) -> bool {
    !metadata.is_dir() && metadata.len() > 0
}

fn session_file(file: &std::fs::DirEntry) -> Option<(SystemTime, SessionFile)> {
    let name = file.file_name();
    let id = name.to_str()?.strip_suffix(".jsonl").filter(|id| names::is_uuid(id))?;
    let metadata = file.metadata().ok().filter(|found| found.is_file() && found.len() > 0)?;
    let time = metadata.modified().unwrap_or(UNIX_EPOCH);
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let modified = Moment::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX));
    let id = SessionId::new(id);
    Some((time, SessionFile { id, path: file.path(), modified, size: metadata.len() }))
}

/// Reads a file as far as the first thing said in it.
fn is_conversation(path: &Path) -> io::Result<bool> {
    let mut reader = BufReader::new(disk::open(path, Purpose::Read)?);
    let mut line = Vec::new();
    let mut first = true;
    while reader.read_until(b'\n', &mut line)? > 0 {
        let looked = probe::look(line.trim_ascii_end(), |probe| {
            (probe.is_sidechain == Some(true), matches!(probe.kind, Some("user" | "assistant")))
        });
        match looked {
            Ok((true, _)) if first => return Ok(false),
            Ok((false, true)) => return Ok(true),
            _ => {}
        }
        first = false;
        line.clear();
    }
    Ok(false)
}

fn directories(parent: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(parent) else { return Vec::new() };
    entries.filter_map(Result::ok).map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
}

/// Asks whether the nearest directory that exists may be written to, so that a session that could
/// not be stored does not even start.
fn check_writable(directory: &Path) -> Result<(), OpenError> {
    let existing = directory.ancestors().find(|path| path.symlink_metadata().is_ok());
    let existing = existing.unwrap_or(directory);
    let access = rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK;
    let allowed = if existing.is_dir() {
        rustix::fs::access(existing, access).map_err(io::Error::from)
    } else {
        Err(io::ErrorKind::NotADirectory.into())
    };
    allowed.map_err(|source| OpenError::Unwritable { path: existing.to_owned(), source })
}
