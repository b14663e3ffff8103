//! The file in which the user's trust is written down.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::trust::fingerprint::Fingerprint;

const NAME: &str = "tillerman-trust.json";
const FORMAT: u32 = 1;
const LARGEST: u64 = 32 << 20;

/// Why the user's trust could not be looked up or written down.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// The file could not be read or written.
    #[error("cannot use {}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// Somebody else can write the file, so it proves nothing.
    #[error("{} can be written by others; make it yours alone (chmod 600)", path.display())]
    NotOurs {
        /// The file.
        path: PathBuf,
    },
    /// The file does not say what it should.
    #[error("{} cannot be understood ({problem}); remove it to start over", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
}

/// What is known about one directory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustedDirectory {
    /// Digests of the files that were there when the user trusted them; none when the user did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<BTreeMap<String, String>>,
    /// Rules and directories that the user approved one by one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approved: Vec<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Ledger {
    format: u32,
    pub(crate) directories: BTreeMap<String, TrustedDirectory>,
}

impl Default for Ledger {
    fn default() -> Self {
        Self { format: FORMAT, directories: BTreeMap::new() }
    }
}

/// Where it lies.
pub(crate) fn path(config_dir: &Path) -> PathBuf {
    config_dir.join(NAME)
}

impl Ledger {
    /// Reads it; a missing file means that nothing is trusted.
    pub(crate) fn read(config_dir: &Path) -> Result<Self, LedgerError> {
        let path = path(config_dir);
        let io = |source| LedgerError::Io { path: path.clone(), source };
        let metadata = match std::fs::symlink_metadata(&path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self::default());
            }
            Err(error) => return Err(io(error)),
        };
        let damaged = |problem: &str| LedgerError::Damaged {
            path: path.clone(),
            problem: problem.to_owned(),
        };
        if !metadata.is_file() || metadata.len() > LARGEST {
            return Err(damaged("it is not a regular file of reasonable size"));
        }
        if metadata.mode() & 0o022 != 0 {
            return Err(LedgerError::NotOurs { path });
        }
        let text = std::fs::read_to_string(&path).map_err(io)?;
        let ledger: Self =
            serde_json::from_str(&text).map_err(|error| damaged(&error.to_string()))?;
        if ledger.format != FORMAT {
            return Err(damaged("another version of this program wrote it"));
        }
        Ok(ledger)
    }

    /// Replaces it in one step; only its owner can read it.
    pub(crate) fn write(&self, config_dir: &Path) -> Result<(), LedgerError> {
        let path = path(config_dir);
        let io = |source| LedgerError::Io { path: path.clone(), source };
        std::fs::create_dir_all(config_dir).map_err(io)?;
        let mut text = serde_json::to_string_pretty(self).map_err(|error| io(error.into()))?;
        text.push('\n');
        let owner_only = std::fs::Permissions::from_mode(0o600);
        let mut file =
            tempfile::Builder::new().permissions(owner_only).tempfile_in(config_dir).map_err(io)?;
        file.write_all(text.as_bytes()).map_err(io)?;
        file.as_file().sync_all().map_err(io)?;
        file.persist(&path).map_err(|error| io(error.error))?;
        Ok(())
    }

    pub(crate) fn trust(&mut self, directory: String, files: Fingerprint) {
        self.directories.entry(directory).or_default().files = Some(files);
    }
}
