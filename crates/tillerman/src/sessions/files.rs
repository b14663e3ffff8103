//! Sessions on disk, in the layout that engines use.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde_json::Value;
use tillerman_ports::BoxFuture;
use tillerman_protocol::{Moment, SessionId};

use crate::error::{Error, ErrorKind, Result};
use crate::sessions::key::SessionKey;
use crate::sessions::store::{Ends, SessionStore, StoredSession};

/// How much of each end of a file is read to list it.
const END: u64 = 64 << 10;

/// Sessions below a configuration directory, as `projects/PROJECT/SESSION.jsonl`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileStore {
    projects: PathBuf,
}

impl FileStore {
    /// The sessions below this directory, which need not exist.
    pub fn new(config_dir: impl Into<PathBuf>) -> Self {
        Self { projects: config_dir.into().join("projects") }
    }

    fn path(&self, key: &SessionKey) -> Result<PathBuf> {
        let session = key.session_id.as_str();
        let subpath = key.subpath.as_deref().unwrap_or_default();
        let is_plain = |name: &str| !name.is_empty() && name != ".." && name != ".";
        let names = [key.project_key.as_str(), session].into_iter().chain(subpath.split('/'));
        let names: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
        let is_safe = names.len() >= 2
            && names.iter().all(|name| is_plain(name))
            && !key.project_key.contains('/')
            && !session.contains('/');
        if !is_safe {
            let text = format!("{key:?} cannot be the name of a file; nothing was read or written");
            return Err(Error::new(ErrorKind::Store, text));
        }
        let mut path = self.projects.clone();
        path.extend(&names);
        path.as_mut_os_string().push(".jsonl");
        Ok(path)
    }

    /// Does work on files where it keeps nobody waiting.
    fn work<T: Send + 'static>(
        &self,
        key: &SessionKey,
        work: impl FnOnce(&Path) -> io::Result<T> + Send + 'static,
    ) -> BoxFuture<Result<T>> {
        let path = self.path(key);
        Box::pin(async move {
            let path = path?;
            on_disk(move || work(&path).map_err(|error| failure(&path, error))).await
        })
    }
}

async fn on_disk<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let worked = tokio::task::spawn_blocking(work).await;
    worked.unwrap_or_else(|error| {
        Err(Error::new(ErrorKind::Store, "the work on files ended early").because(error))
    })
}

fn failure(path: &Path, error: io::Error) -> Error {
    let text = format!("{} cannot be used as a transcript", path.display());
    Error::new(ErrorKind::Store, text).because(error)
}

impl SessionStore for FileStore {
    fn append(&self, key: SessionKey, entries: Vec<Value>) -> BoxFuture<Result<()>> {
        self.work(&key, move |path| {
            let mut text = Vec::new();
            for entry in &entries {
                text.extend_from_slice(entry.to_string().as_bytes());
                text.push(b'\n');
            }
            if text.is_empty() {
                return Ok(());
            }
            if let Some(folder) = path.parent() {
                DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
            }
            let mut file = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
            // One write, so that lines of several writers do not mix.
            file.write_all(&text)
        })
    }

    fn load(&self, key: SessionKey) -> BoxFuture<Result<Option<Vec<Value>>>> {
        self.work(&key, |path| {
            let Some(mut file) = open(path)? else { return Ok(None) };
            let mut text = Vec::new();
            file.read_to_end(&mut text)?;
            Ok(Some(lines(&text)))
        })
    }

    fn list_sessions(&self, project_key: String) -> BoxFuture<Result<Vec<StoredSession>>> {
        let key = SessionKey::new(project_key, SessionId::new("any"));
        self.work(&key, |path| {
            let files = match path.parent().map(std::fs::read_dir) {
                Some(Ok(files)) => files,
                Some(Err(error)) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => return Ok(Vec::new()),
            };
            Ok(files
                .filter_map(std::result::Result::ok)
                .filter_map(|file| session(&file))
                .collect())
        })
    }

    fn list_subkeys(&self, key: SessionKey) -> BoxFuture<Result<Vec<String>>> {
        self.work(&key, |path| {
            let folder = path.with_extension("");
            let files =
                walkdir::WalkDir::new(&folder).into_iter().filter_map(std::result::Result::ok);
            let transcripts = files.filter(|file| {
                file.file_type().is_file()
                    && file.path().extension().is_some_and(|ending| ending == "jsonl")
            });
            let names = transcripts.filter_map(|file| {
                let inner = file.path().strip_prefix(&folder).ok()?.with_extension("");
                Some(inner.to_str()?.to_owned())
            });
            Ok(names.collect())
        })
    }

    fn delete(&self, key: SessionKey) -> BoxFuture<Result<()>> {
        self.work(&key, |path| {
            ignore_missing(std::fs::remove_file(path))?;
            ignore_missing(std::fs::remove_dir_all(path.with_extension("")))
        })
    }

    fn ends(&self, key: SessionKey) -> BoxFuture<Result<Option<Ends>>> {
        self.work(&key, |path| {
            let Some(mut file) = open(path)? else { return Ok(None) };
            let size = file.metadata()?.len();
            let mut first = Vec::new();
            (&mut file).take(END).read_to_end(&mut first)?;
            let mut last = Vec::new();
            if size > END {
                file.seek(SeekFrom::Start(size.saturating_sub(END).max(END)))?;
                (&mut file).take(END).read_to_end(&mut last)?;
            }
            Ok(Some(Ends { first: lines(&first), last: lines(&last) }))
        })
    }
}

/// Opens a plain file; nothing when there is none.
fn open(path: &Path) -> io::Result<Option<File>> {
    match path.symlink_metadata() {
        // Engines write plain files; a link may point anywhere.
        Ok(found) if !found.is_file() => Err(io::Error::other("it is a link or no plain file")),
        Ok(_) => File::open(path).map(Some),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The lines that can be read. Others were torn by a crash, or cut by whoever reads only an end.
fn lines(text: &[u8]) -> Vec<Value> {
    let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    lines.filter_map(|line| serde_json::from_slice(line).ok()).collect()
}

fn session(file: &std::fs::DirEntry) -> Option<StoredSession> {
    let name = file.file_name();
    let id = name.to_str()?.strip_suffix(".jsonl")?;
    let metadata = file.metadata().ok().filter(|it| it.is_file() && it.len() > 0)?;
    let since = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    let modified = Moment::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX));
    Some(StoredSession::new(SessionId::new(id), modified))
}

fn ignore_missing(done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}
