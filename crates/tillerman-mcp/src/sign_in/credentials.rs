//! Where tokens of servers are kept: one file per server, which only the user can read.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::time::Duration;

use rmcp::transport::auth::{
    AuthError, CredentialRefreshGuard, CredentialStore, StoredCredentials,
};
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use tokio::time::{Instant, sleep};

use super::scopes;

/// How large a file may be; tokens are a few kilobytes.
const LONGEST: u64 = 256 * 1024;
/// Where a file holds what nobody may see.
const SECRETS: [&str; 4] = [
    "/client_secret",
    "/credentials/token_response/access_token",
    "/credentials/token_response/refresh_token",
    "/credentials/token_response/id_token",
];
/// How files end that hold the scopes to sign in for.
const WANTED: &str = ".scopes";
/// How long another process may take to renew a token.
const LOCK: Duration = Duration::from_secs(30);
const LOCK_AGAIN: Duration = Duration::from_millis(50);
/// How often a server that waits for somebody to sign in looks whether that happened.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Where the tokens of servers are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CredentialFiles {
    directory: PathBuf,
}

/// Why tokens could not be kept, read or forgotten.
#[derive(Debug, thiserror::Error)]
#[error("the tokens in {} cannot be used: {source}", path.display())]
pub struct KeepError {
    path: PathBuf,
    source: io::Error,
}

/// What is kept about one server.
#[derive(Serialize, Deserialize)]
pub(crate) struct Record {
    server: String,
    url: String,
    #[serde(flatten)]
    pub(crate) origin: Origin,
    pub(crate) credentials: StoredCredentials,
}

/// What every renewal leaves as it is.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(crate) struct Origin {
    /// Tells this sign-in from others.
    pub(crate) sign_in: String,
    /// The secret of a client that has one; without it no token can be renewed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) client_secret: Option<String>,
}

impl CredentialFiles {
    /// Tokens are kept in this directory, which is made when it is first needed.
    #[must_use]
    pub const fn new(directory: PathBuf) -> Self {
        Self { directory }
    }

    /// Forgets every token of the servers of this name; the result is whether there were any.
    ///
    /// # Errors
    /// When a file cannot be removed.
    pub fn forget(&self, server: &str) -> Result<bool, KeepError> {
        let failed = |path: &Path, source| KeepError { path: path.to_path_buf(), source };
        let entries = match std::fs::read_dir(&self.directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(failed(&self.directory, error)),
        };
        let prefix = format!("{}-", hash(server));
        let mut any = false;
        for entry in entries {
            let entry = entry.map_err(|error| failed(&self.directory, error))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_tokens = name.ends_with(".json");
            if name.starts_with(&prefix) && (is_tokens || name.ends_with(WANTED)) {
                std::fs::remove_file(entry.path()).map_err(|it| failed(&entry.path(), it))?;
                any |= is_tokens;
            }
        }
        Ok(any)
    }

    /// Every token and secret that is kept, so that they can be taken out of what is shown.
    #[must_use]
    pub fn secrets(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.directory).into_iter().flatten();
        let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
        let files = paths.filter(|path| path.extension().is_some_and(|ending| ending == "json"));
        let records = files.filter_map(|path| {
            let file = File::open(path).ok()?;
            serde_json::from_reader::<_, Value>(io::BufReader::new(file.take(LONGEST))).ok()
        });
        let text = |record: &Value, place: &str| Some(record.pointer(place)?.as_str()?.to_owned());
        let secrets = |record: Value| SECRETS.map(|place| text(&record, place));
        records.flat_map(secrets).flatten().collect()
    }

    /// Keeps the tokens of one server. Its address is part of the name, so that no other server
    /// gets them by taking its name.
    pub(crate) fn keeper(&self, server: &str, url: &str) -> Keeper {
        let name = format!("{}-{}.json", hash(server), hash(url));
        Keeper {
            path: self.directory.join(name),
            server: server.to_owned(),
            url: url.to_owned(),
            origin: Origin::default(),
        }
    }
}

/// A short name for a text, which does not show it.
pub(super) fn hash(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().take(10).map(|byte| format!("{byte:02x}")).collect()
}

/// Keeps the tokens of one server.
#[derive(Clone)]
pub(crate) struct Keeper {
    path: PathBuf,
    server: String,
    url: String,
    /// Goes into the file with the tokens.
    pub(crate) origin: Origin,
}

impl Keeper {
    /// What is kept, if anything.
    pub(crate) async fn record(&self) -> Result<Option<Record>, AuthError> {
        let path = self.path.clone();
        blocking(move || read(&path)).await
    }

    /// The scopes that the server has wanted beyond those it names to everybody.
    pub(super) async fn wanted_scopes(&self) -> Vec<String> {
        let path = self.path.with_extension(&WANTED[1..]);
        blocking(move || Ok(scopes::wanted(&path))).await.unwrap_or_default()
    }

    /// Remembers what the next sign-in asks for besides.
    pub(super) async fn want_scopes(&self, wanted: Vec<String>) -> Result<(), AuthError> {
        let path = self.path.with_extension(&WANTED[1..]);
        blocking(move || scopes::want(&path, &wanted)).await
    }

    /// Watches for tokens that come or go from now on.
    pub(crate) fn watch(&self) -> Watch {
        Watch { since: sign_in(&self.path), path: self.path.clone() }
    }
}

type Keeping<'a, T> = Pin<Box<dyn Future<Output = Result<T, AuthError>> + Send + 'a>>;

impl CredentialStore for Keeper {
    fn load<'s, 'f>(&'s self) -> Keeping<'f, Option<StoredCredentials>>
    where
        's: 'f,
        Self: 'f,
    {
        Box::pin(async move { Ok(self.record().await?.map(|record| record.credentials)) })
    }

    fn save<'s, 'f>(&'s self, credentials: StoredCredentials) -> Keeping<'f, ()>
    where
        's: 'f,
        Self: 'f,
    {
        let record = Record {
            server: self.server.clone(),
            url: self.url.clone(),
            origin: self.origin.clone(),
            credentials,
        };
        let path = self.path.clone();
        Box::pin(blocking(move || write(&path, &record)))
    }

    fn clear<'s, 'f>(&'s self) -> Keeping<'f, ()>
    where
        's: 'f,
        Self: 'f,
    {
        let path = self.path.clone();
        Box::pin(blocking(move || match std::fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }))
    }

    /// Of all sessions and processes only one renews a token at a time: many servers accept a
    /// refresh token once, and the second to use it would have to sign in again.
    fn acquire_refresh_guard<'s, 'f>(&'s self) -> Keeping<'f, Option<CredentialRefreshGuard>>
    where
        's: 'f,
        Self: 'f,
    {
        let path = self.path.with_extension("lock");
        Box::pin(async move {
            let deadline = Instant::now() + LOCK;
            loop {
                let path = path.clone();
                if let Some(file) = blocking(move || try_lock(&path)).await? {
                    return Ok(Some(CredentialRefreshGuard::new(file)));
                }
                if Instant::now() >= deadline {
                    let why = "another process has been renewing the token for too long";
                    return Err(AuthError::CredentialStoreError(why.to_owned()));
                }
                sleep(LOCK_AGAIN).await;
            }
        })
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, AuthError> {
    let failed = |why: String| AuthError::CredentialStoreError(why);
    let done =
        tokio::task::spawn_blocking(work).await.map_err(|error| failed(error.to_string()))?;
    done.map_err(|error| failed(error.to_string()))
}

/// The text of a file, unless there is none.
pub(super) fn read_text(path: &Path) -> io::Result<Option<String>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut text = String::new();
    file.take(LONGEST).read_to_string(&mut text)?;
    Ok(Some(text))
}

fn read(path: &Path) -> io::Result<Option<Record>> {
    let Some(text) = read_text(path)? else { return Ok(None) };
    // What the parser says could repeat a part of a token.
    serde_json::from_str(&text).map(Some).map_err(|_| {
        let why = format!("{} is damaged; sign in again", path.display());
        io::Error::new(io::ErrorKind::InvalidData, why)
    })
}

fn write(path: &Path, record: &Record) -> io::Result<()> {
    replace(path, &serde_json::to_vec(record)?)
}

/// Replaces a file in one step, so that no reader ever sees half of it.
pub(super) fn replace(path: &Path, text: &[u8]) -> io::Result<()> {
    let directory = made_directory(path)?;
    // Temporary files are made for their owner only, and keep that when they get their name.
    let mut file = tempfile::NamedTempFile::new_in(directory)?;
    file.write_all(text)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

fn made_directory(path: &Path) -> io::Result<&Path> {
    let directory = path.parent().unwrap_or(Path::new("."));
    DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    Ok(directory)
}

fn try_lock(path: &Path) -> io::Result<Option<File>> {
    made_directory(path)?;
    let mut options = OpenOptions::new();
    let file = options.create(true).truncate(false).write(true).mode(0o600).open(path)?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(file)),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Tells one state of a file from another: every write makes a new file.
type Stamp = Option<(u64, i64, i64)>;

fn stamp(path: &Path) -> Stamp {
    let found = std::fs::metadata(path).ok()?;
    Some((found.ino(), found.mtime(), found.mtime_nsec()))
}

fn sign_in(path: &Path) -> Option<String> {
    read(path).ok().flatten().map(|record| record.origin.sign_in)
}

/// Notices that somebody signed in or out. Renewals do not count: a server that refuses what was
/// renewed a moment ago would be asked again without end.
#[derive(Debug)]
pub(crate) struct Watch {
    path: PathBuf,
    since: Option<String>,
}

impl Watch {
    /// Waits until somebody signed in or out.
    ///
    /// # Cancel safety
    /// A change that happened meanwhile is noticed by the next wait.
    pub(crate) async fn changed(&self) {
        loop {
            // Taken before the file is read, so that what is written meanwhile is read next.
            let seen = stamp(&self.path);
            if sign_in(&self.path) != self.since {
                return;
            }
            while stamp(&self.path) == seen {
                sleep(LOOK_EVERY).await;
            }
        }
    }
}
