//! The secret behind a lent credential: read when a request needs it, and known to nobody before.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tillerman_ports::BoxFuture;
use tillerman_protocol::sandbox::CredentialFrom;
use tillerman_runtime::Secrets;
use tillerman_sandbox::egress::basic_value;
use tillerman_sandbox::{LentSecret, SecretSource};
use tokio::sync::Semaphore;
use tokio::time::Instant;

use crate::environment::Environment;
use crate::secret_sources::{ask_command, read_private_file};

/// How long the answer of a command holds. Commands may take a second, and git asks thrice.
const KEPT: Duration = Duration::from_secs(60);

/// Where one secret comes from. Clones share what was found.
#[derive(Clone)]
pub(crate) struct LentSource {
    shared: Arc<Shared>,
}

struct Shared {
    from: Origin,
    username: String,
    /// Whoever shows anything must know what not to show.
    secrets: Secrets,
    kept: Mutex<Option<(Instant, LentSecret)>>,
    /// One command at a time, however many requests wait for it.
    turn: Semaphore,
}

enum Origin {
    Variable { name: String, value: Option<String> },
    File(Result<PathBuf, String>),
    Command { command: String, variables: Vec<(OsString, OsString)>, cwd: PathBuf },
}

impl LentSource {
    /// The source that settings name, for a user of this name.
    pub(crate) fn new(
        from: &CredentialFrom,
        username: &str,
        environment: &Environment,
        cwd: &Path,
        secrets: &Secrets,
    ) -> Self {
        let from = match from {
            CredentialFrom::Environment(name) => {
                Origin::Variable { name: name.clone(), value: environment.get(name) }
            }
            CredentialFrom::File(path) => Origin::File(match path.strip_prefix("~/") {
                Some(rest) => environment
                    .get("HOME")
                    .map(|home| PathBuf::from(home).join(rest))
                    .ok_or_else(|| format!("{path} is nowhere, since HOME is not set")),
                None => Ok(PathBuf::from(path)),
            }),
            CredentialFrom::Command(command) => Origin::Command {
                command: command.clone(),
                variables: environment.for_children(),
                cwd: cwd.to_path_buf(),
            },
        };
        let (username, secrets) = (username.to_owned(), secrets.clone());
        let (kept, turn) = (Mutex::new(None), Semaphore::new(1));
        Self { shared: Arc::new(Shared { from, username, secrets, kept, turn }) }
    }

    /// Makes known what can be known without running anything, so that it is never shown.
    pub(crate) fn announce(&self) {
        if !matches!(self.shared.from, Origin::Command { .. }) {
            // What cannot be read now is told when it is needed.
            drop(self.shared.at_hand());
        }
    }
}

impl SecretSource for LentSource {
    fn reveal(&self) -> BoxFuture<Result<LentSecret, String>> {
        let shared = Arc::clone(&self.shared);
        Box::pin(async move {
            let Origin::Command { command, variables, cwd } = &shared.from else {
                let read = Arc::clone(&shared);
                let read = tokio::task::spawn_blocking(move || read.at_hand()).await;
                return read.map_err(|_| "reading it was interrupted".to_owned())?;
            };
            let _turn = shared.turn.acquire().await.map_err(|error| error.to_string())?;
            if let Some(secret) = shared.kept() {
                return Ok(secret);
            }
            let text = ask_command(command, variables, cwd, Stdio::null()).await;
            let text = text.map_err(|why| format!("its command {why}"))?;
            let secret = shared.checked("what its command printed", &text)?;
            let kept = (Instant::now() + KEPT, secret.clone());
            *shared.kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(kept);
            Ok(secret)
        })
    }
}

impl Shared {
    /// The secret where no command has to be asked for it.
    fn at_hand(&self) -> Result<LentSecret, String> {
        match &self.from {
            Origin::Variable { name, value } => {
                let value = value.as_deref().ok_or_else(|| format!("{name} is not set"))?;
                self.checked(&format!("the value of {name}"), value)
            }
            Origin::File(path) => {
                let path = path.as_ref().map_err(Clone::clone)?;
                self.checked(&format!("{}", path.display()), &read_private_file(path)?)
            }
            Origin::Command { .. } => Err("only its command knows it".to_owned()),
        }
    }

    fn checked(&self, what: &str, text: &str) -> Result<LentSecret, String> {
        let secret =
            LentSecret::new(text).map_err(|error| format!("{what} cannot be lent: {error}"))?;
        self.secrets.learn(secret.reveal().to_owned());
        let basic = basic_value(&self.username, secret.reveal());
        self.secrets.learn(basic.trim_start_matches("Basic ").to_owned());
        Ok(secret)
    }

    fn kept(&self) -> Option<LentSecret> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.as_ref().filter(|(until, _)| Instant::now() < *until).map(|(_, secret)| secret.clone())
    }
}

/// Says where it looks, and never what it found.
impl fmt::Debug for LentSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.shared.from {
            Origin::Variable { name, .. } => write!(f, "LentSource(variable {name})"),
            Origin::File(path) => write!(f, "LentSource(file {path:?})"),
            Origin::Command { .. } => f.write_str("LentSource(command)"),
        }
    }
}
