//! Whether a repository is trusted as it is now, and how that changes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::source::Places;
use crate::trust::fingerprint::{self, Fingerprint, FingerprintError};
use crate::trust::ledger::{Ledger, LedgerError, TrustedDirectory};

/// Whether a repository is trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrustState {
    /// The user trusts it as it is now.
    Trusted,
    /// The user does not trust it.
    Untrusted {
        /// Why not, for people.
        why: String,
    },
    /// The user trusted it, and something in it is different now.
    Changed {
        /// What is different: paths relative to the working directory.
        files: Vec<String>,
    },
}

/// Why trust could not be given or taken back.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// There is no such directory.
    #[error("{} is not a directory", path.display())]
    NoDirectory {
        /// What was named.
        path: PathBuf,
    },
    /// The repository could not be looked through.
    #[error(transparent)]
    Fingerprint(#[from] FingerprintError),
    /// The trust could not be looked up or written down.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

/// The user's trust in repositories.
#[derive(Clone, Copy, Debug)]
pub struct Trust;

impl Trust {
    /// Whether a working directory is trusted as it is now. When that cannot be found out it is not.
    #[must_use]
    pub fn of(cwd: &Path, config_dir: &Path) -> TrustState {
        let places = Places::new(config_dir.to_path_buf(), cwd.to_path_buf());
        if places.is_at_home() {
            // What lies there is the user's own.
            return TrustState::Trusted;
        }
        match look(cwd, config_dir) {
            Ok(state) => state,
            Err(error) => TrustState::Untrusted { why: with_source(&error) },
        }
    }

    /// Rules and directories that the user approved one by one for a working directory.
    #[must_use]
    pub fn approved(cwd: &Path, config_dir: &Path) -> Vec<String> {
        let Ok(name) = name(cwd) else { return Vec::new() };
        let ledger = Ledger::read(config_dir).unwrap_or_default();
        ledger.directories.get(&name).map(|entry| entry.approved.clone()).unwrap_or_default()
    }

    /// Trusts a working directory as it is now; the result names the files that are now trusted.
    ///
    /// # Errors
    /// When the directory cannot be looked through or the trust not written down.
    pub fn grant(cwd: &Path, config_dir: &Path) -> Result<Vec<String>, TrustError> {
        let directory = canonical(cwd)?;
        let mut ledger = Ledger::read(config_dir)?;
        let files = fingerprint::take(&directory)?;
        let names = files.keys().cloned().collect();
        ledger.trust(directory.display().to_string(), files);
        ledger.write(config_dir)?;
        Ok(names)
    }

    /// Takes back everything that was trusted or approved for a working directory; the result says
    /// whether there was anything. The directory need not exist any more.
    ///
    /// # Errors
    /// When the trust cannot be looked up or written down.
    pub fn revoke(cwd: &Path, config_dir: &Path) -> Result<bool, TrustError> {
        let mut ledger = Ledger::read(config_dir)?;
        let name = name(cwd).unwrap_or_else(|_| cwd.display().to_string());
        let was_there = ledger.directories.remove(&name).is_some();
        if was_there {
            ledger.write(config_dir)?;
        }
        Ok(was_there)
    }

    /// Everything that is written down, by directory.
    ///
    /// # Errors
    /// When it cannot be looked up.
    pub fn list(config_dir: &Path) -> Result<BTreeMap<String, TrustedDirectory>, TrustError> {
        Ok(Ledger::read(config_dir)?.directories)
    }

    /// Remembers rules and directories that the user approved for a working directory, so that they
    /// hold although the file they are written into is not trusted as a whole.
    ///
    /// # Errors
    /// When it cannot be written down.
    pub fn approve(cwd: &Path, config_dir: &Path, items: &[String]) -> Result<(), TrustError> {
        let mut ledger = Ledger::read(config_dir)?;
        let entry = ledger.directories.entry(name(cwd)?).or_default();
        for item in items {
            if !entry.approved.contains(item) {
                entry.approved.push(item.clone());
            }
        }
        Ok(ledger.write(config_dir)?)
    }

    /// Keeps the trust in a file that the user lets this program change, if its content was the
    /// trusted one before; `text` is the content before and after.
    ///
    /// # Errors
    /// When it cannot be written down.
    pub(crate) fn renew(
        cwd: &Path,
        config_dir: &Path,
        file: &str,
        text: (Option<&str>, &str),
    ) -> Result<(), TrustError> {
        let mut ledger = Ledger::read(config_dir)?;
        let entry = ledger.directories.get_mut(&name(cwd)?);
        let Some(files) = entry.and_then(|entry| entry.files.as_mut()) else { return Ok(()) };
        if files.get(file).map(String::as_str) != text.0.map(fingerprint::digest).as_deref() {
            return Ok(());
        }
        files.insert(file.to_owned(), fingerprint::digest(text.1));
        Ok(ledger.write(config_dir)?)
    }

    /// Forgets approvals that the user took back.
    ///
    /// # Errors
    /// When it cannot be written down.
    pub fn disapprove(cwd: &Path, config_dir: &Path, items: &[String]) -> Result<(), TrustError> {
        let mut ledger = Ledger::read(config_dir)?;
        let Some(entry) = ledger.directories.get_mut(&name(cwd)?) else { return Ok(()) };
        entry.approved.retain(|held| !items.contains(held));
        Ok(ledger.write(config_dir)?)
    }
}

fn look(cwd: &Path, config_dir: &Path) -> Result<TrustState, TrustError> {
    let directory = canonical(cwd)?;
    let ledger = Ledger::read(config_dir)?;
    let entry = ledger.directories.get(&directory.display().to_string());
    let Some(trusted) = entry.and_then(|entry| entry.files.as_ref()) else {
        let why = "nobody has trusted this directory".to_owned();
        return Ok(TrustState::Untrusted { why });
    };
    let files = differences(trusted, &fingerprint::take(&directory)?);
    Ok(if files.is_empty() { TrustState::Trusted } else { TrustState::Changed { files } })
}

fn differences(then: &Fingerprint, now: &Fingerprint) -> Vec<String> {
    let new_or_other = now.iter().filter(|(name, digest)| then.get(*name) != Some(*digest));
    let gone = then.keys().filter(|name| !now.contains_key(*name));
    let mut names: Vec<String> = new_or_other.map(|(name, _)| name).chain(gone).cloned().collect();
    names.sort();
    names
}

/// Trust belongs to the folder itself, whatever links lead to it. A name that is no text could be
/// mistaken for another's.
fn canonical(cwd: &Path) -> Result<PathBuf, TrustError> {
    let path = cwd.canonicalize().ok().filter(|path| path.is_dir() && path.to_str().is_some());
    path.ok_or_else(|| TrustError::NoDirectory { path: cwd.to_path_buf() })
}

fn name(cwd: &Path) -> Result<String, TrustError> {
    Ok(canonical(cwd)?.display().to_string())
}

fn with_source(error: &TrustError) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        text.push_str(&format!(": {error}"));
        source = error.source();
    }
    text
}
