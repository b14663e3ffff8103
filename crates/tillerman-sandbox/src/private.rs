//! The private directory of a confinement: its temporary files, its socket, its plans.

use std::io;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use tempfile::TempDir;

use crate::confinement::SandboxUser;
use crate::layout::may_pass;

/// How the names of private directories begin.
pub(crate) const PRIVATE_PREFIX: &str = "tillerman-";
/// The socket of the egress proxy in the private directory.
pub(crate) const PROXY_SOCKET: &str = "egress";

/// The private directory of a confinement. It is removed when it is dropped.
#[derive(Debug)]
pub(crate) struct PrivateDirectory {
    directory: TempDir,
    temp: PathBuf,
    count: AtomicU64,
}

/// Why no private directory could be made.
#[derive(Debug, thiserror::Error)]
#[error("no private directory could be made in {}", scratch.display())]
pub struct MakePrivateError {
    /// Where.
    pub scratch: PathBuf,
    /// Why not.
    pub source: io::Error,
}

impl PrivateDirectory {
    /// Makes a directory that only this user, and on its way the command's user, can enter.
    pub(crate) fn make(
        scratch: &Path,
        user: Option<SandboxUser>,
    ) -> Result<Self, MakePrivateError> {
        let passable = |path: &Path| {
            user.is_none_or(|user| path.ancestors().all(|directory| may_pass(directory, user)))
        };
        let resolved = scratch.canonicalize().ok().filter(|path| passable(path));
        let place = resolved.unwrap_or_else(|| PathBuf::from("/tmp"));
        let failed = |source| MakePrivateError { scratch: place.clone(), source };
        let directory =
            tempfile::Builder::new().prefix(PRIVATE_PREFIX).tempdir_in(&place).map_err(failed)?;
        if user.is_some() {
            // Passing through is not looking: names in it are not secret, contents are closed.
            let mode = std::fs::Permissions::from_mode(0o711);
            std::fs::set_permissions(directory.path(), mode).map_err(failed)?;
        }
        let temp = directory.path().join("tmp");
        std::fs::DirBuilder::new().mode(0o700).create(&temp).map_err(failed)?;
        Ok(Self { directory, temp, count: AtomicU64::new(0) })
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Lists of users and groups in which the command's user has a name, since some programs give
    /// up without one.
    pub(crate) fn accounts(&self, user: SandboxUser, home: &Path) -> io::Result<[PathBuf; 2]> {
        let SandboxUser { uid, gid } = user;
        let home = home.display();
        let own = [
            ("passwd", format!("sandbox:x:{uid}:{gid}:confined commands:{home}:/bin/sh\n")),
            ("group", format!("sandbox:x:{gid}:\n")),
        ];
        for (name, line) in &own {
            let host = std::fs::read_to_string(Path::new("/etc").join(name)).unwrap_or_default();
            let path = self.path().join(name);
            std::fs::write(&path, format!("{}\n{line}", host.trim_end()))?;
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644))?;
        }
        Ok(own.map(|(name, _)| self.path().join(name)))
    }

    /// Where temporary files go.
    pub(crate) fn temp(&self) -> &Path {
        &self.temp
    }

    /// A path in it that nobody has used yet.
    pub(crate) fn fresh(&self, name: &str) -> PathBuf {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        self.directory.path().join(format!("{name}-{count}"))
    }
}
