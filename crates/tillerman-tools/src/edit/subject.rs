//! The file under edit: what it holds, what the model knows of it, and its new content.

use std::path::{Path, PathBuf};

use tillerman_protocol::tool::ToolFailure;
use tokio_util::sync::CancellationToken;

use crate::files::{
    Fingerprint, OpenFileError, absolute, load, open_regular, replace, resolve_target,
};
use crate::session::Session;

const EDITED_BYTES: usize = 64 << 20;

/// A file under edit.
#[derive(Debug)]
pub(super) struct Subject {
    /// As the model named it, made absolute.
    pub(super) path: PathBuf,
    /// With its links followed.
    target: PathBuf,
    /// What it held when the model last saw it.
    pub(super) seen: Option<Fingerprint>,
    /// What it holds now, or why it holds nothing.
    pub(super) before: Result<Before, ToolFailure>,
}

/// What a file holds before it is changed.
#[derive(Debug)]
pub(super) struct Before {
    pub(super) bytes: Vec<u8>,
    pub(super) fingerprint: Fingerprint,
}

impl Subject {
    /// Opens a file; one that does not exist is a subject with nothing before.
    pub(super) fn open(
        session: &Session,
        file_path: &str,
        cancel: &CancellationToken,
    ) -> Result<Self, ToolFailure> {
        let cwd = &session.config().cwd;
        let path = absolute(cwd, file_path);
        let target = resolve_target(&path).map_err(|error| cannot_edit(&path, &error))?;
        let before = match open_regular(&target, session.config()) {
            Ok((file, metadata)) => {
                let stored = load(file, &metadata, EDITED_BYTES, cancel)
                    .map_err(|error| cannot_edit(&path, &error))?;
                let bytes = stored.bytes.ok_or_else(|| too_large(&path))?;
                Ok(Before { bytes, fingerprint: stored.fingerprint })
            }
            Err(error @ OpenFileError::Missing { .. }) => Err(ToolFailure::new(error.to_string())),
            Err(error) => return Err(ToolFailure::new(error.to_string())),
        };
        let seen = session.last_seen(&target);
        Ok(Self { path, target, seen, before })
    }

    /// The content before, where there is a file.
    pub(super) fn bytes(&self) -> Option<&[u8]> {
        self.before.as_ref().ok().map(|before| before.bytes.as_slice())
    }

    /// Whether the file is another than the one the model saw.
    pub(super) fn has_changed(&self) -> bool {
        let before = self.before.as_ref().ok().zip(self.seen);
        before.is_some_and(|(before, seen)| seen != before.fingerprint)
    }

    /// Gives the file its new content. One that the model had not seen it still has not.
    pub(super) fn write(&self, session: &Session, content: &[u8]) -> Result<(), ToolFailure> {
        replace(&self.target, content, session.config())
            .map_err(|error| cannot_edit(&self.path, &error))?;
        if self.seen.is_some() || self.before.is_err() {
            session.remember(self.target.clone(), Fingerprint::of(content));
        }
        Ok(())
    }
}

fn too_large(path: &Path) -> ToolFailure {
    ToolFailure::new(format!(
        "{} is larger than {} MiB, too large to edit here; it is unchanged. Use Bash, for example sed.",
        path.display(),
        EDITED_BYTES >> 20
    ))
}

fn cannot_edit(path: &Path, error: &dyn std::fmt::Display) -> ToolFailure {
    ToolFailure::new(format!("{} could not be edited: {error}.", path.display()))
}
