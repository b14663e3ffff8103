//! How the disk looks to a confined command: an ordered list of mounts over a read-only root.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::confinement::{Confinement, Guard, GuardKind, SandboxUser, UnixSockets};
use crate::links::{self, Concern};
use crate::placeholder::Placeholder;
use crate::private::{PRIVATE_PREFIX, PROXY_SOCKET};

/// The program that carries out the stages.
pub(crate) const RUNNER: &str = "/run/tillerman/runner";
/// The socket of the egress proxy.
pub(crate) const EGRESS: &str = "/run/tillerman/egress";
/// Where the private temporary directory is seen.
pub(crate) const TEMP: &str = "/tmp";

/// Directories that other programs share, shown empty. `/tmp` is the private one.
const COVERS: [&str; 3] = ["/var/tmp", "/run", "/home"];
/// Programs that some distributions keep below a covered directory.
const UNCOVERED: [&str; 2] = ["/run/current-system", "/run/opengl-driver"];
/// Where the kernel's own file systems are: nothing there can be granted.
const RESERVED: [&str; 4] = ["/proc", "/sys", "/dev", "/run/tillerman"];

/// How the disk looks to a confined command, parents before children.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Layout {
    /// What is mounted where.
    pub(crate) mounts: BTreeMap<PathBuf, Mount>,
    /// Missing guarded paths, which need an entry to be covered.
    pub(crate) placeholders: Vec<Guard>,
}

/// One mount.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Mount {
    /// Something of the host's.
    Bind {
        /// Where it is on the host.
        source: PathBuf,
        /// Whether it may be written.
        access: Access,
    },
    /// An empty directory in memory.
    Empty(Access),
    /// Something that can be neither read nor written.
    Blocked,
}

/// Whether a mount may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Access {
    /// It may be.
    Writable,
    /// It may not.
    ReadOnly,
}

/// What the host contributes to the layout.
#[derive(Clone, Debug)]
pub(crate) struct Fixtures {
    /// The private temporary directory.
    pub(crate) temp: PathBuf,
    /// The program that carries out the stages.
    pub(crate) runner: PathBuf,
    /// The socket of the egress proxy.
    pub(crate) egress: Option<PathBuf>,
    /// The lists of users and groups, with the command's own in them.
    pub(crate) accounts: Option<[PathBuf; 2]>,
    /// Who runs the command, when it is not the host's own user.
    pub(crate) user: Option<SandboxUser>,
}

/// Why no layout keeps what was asked for.
#[derive(Debug, thiserror::Error)]
pub enum LayoutError {
    /// A directory is not there.
    #[error("the directory {} cannot be opened to confined commands", path.display())]
    Unreachable {
        /// The directory.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A directory belongs to the system.
    #[error("{} belongs to the system and cannot be opened to confined commands", .0.display())]
    Reserved(PathBuf),
    /// A guarded path leads through a link that the command could replace.
    #[error(
        "the guarded path {} leads through the symbolic link {}, which a command could replace; \
         put a file or directory in its place",
        guard.display(),
        link.display()
    )]
    Link {
        /// The guarded path.
        guard: PathBuf,
        /// The link on the way.
        link: PathBuf,
    },
    /// A directory is to be both.
    #[error("{} is to be writable but lies in the guarded path {}", root.display(), guard.display())]
    WritableInGuard {
        /// The directory.
        root: PathBuf,
        /// The guard it lies in.
        guard: PathBuf,
    },
    /// A guarded path is not absolute.
    #[error("the path {} is not absolute", .0.display())]
    Relative(PathBuf),
    /// Other names of guarded files could not be looked for.
    #[error("other names of guarded files could not be looked for")]
    Links(#[from] links::SearchLinksError),
}

impl Layout {
    /// Lays out the disk for a confinement as the disk is now.
    pub(crate) fn plan(
        confinement: &Confinement,
        fixtures: &Fixtures,
    ) -> Result<Self, LayoutError> {
        let mut layout = Self::default();
        let writable = writable_roots(confinement)?;
        layout.add_covers(confinement, fixtures);
        for path in &confinement.readable {
            // Missing directories cannot be read anyway.
            if let Ok(path) = path.canonicalize() {
                layout.bind(path.clone(), path, Access::ReadOnly);
            }
        }
        for root in &writable {
            layout.bind(root.clone(), root.clone(), Access::Writable);
        }
        let mut concerns = Vec::new();
        for path in &confinement.hidden {
            // What does not exist, or cannot even be reached by the host, is no secret.
            let Ok(path) = path.canonicalize() else { continue };
            layout.hide(&path, &writable);
            concerns.push((path, Concern::Secret));
        }
        for guard in &confinement.guarded {
            layout.guard(guard, &writable, &mut concerns)?;
        }
        for found in links::search(&concerns, &writable)? {
            match found.concern {
                Concern::Secret => layout.hide(&found.path, &writable),
                Concern::Guard => layout.protect(&found.path, &writable),
            }
        }
        layout.add_sockets(&confinement.unix_sockets);
        layout.settle_below_temp();
        if let Some(user) = fixtures.user {
            layout.cover_closed_directories(user);
        }
        Ok(layout)
    }

    fn add_covers(&mut self, confinement: &Confinement, fixtures: &Fixtures) {
        for cover in COVERS.iter().map(Path::new).filter(|path| is_directory(path)) {
            self.mounts.insert(cover.to_path_buf(), Mount::Empty(Access::ReadOnly));
        }
        self.bind(fixtures.temp.clone(), PathBuf::from(TEMP), Access::Writable);
        if let Some(home) = confinement.home.as_deref().and_then(|home| home.canonicalize().ok())
            && home != Path::new("/")
        {
            self.mounts.insert(home, Mount::Empty(Access::Writable));
        }
        for path in UNCOVERED.iter().filter_map(|path| Path::new(path).canonicalize().ok()) {
            self.bind(path.clone(), path, Access::ReadOnly);
        }
        self.mounts.entry(PathBuf::from("/run")).or_insert(Mount::Empty(Access::ReadOnly));
        self.bind(fixtures.runner.clone(), PathBuf::from(RUNNER), Access::ReadOnly);
        for (source, at) in fixtures.accounts.iter().flatten().zip(["/etc/passwd", "/etc/group"]) {
            if let Ok(at) = Path::new(at).canonicalize() {
                self.bind(source.clone(), at, Access::ReadOnly);
            }
        }
        if let Some(egress) = &fixtures.egress {
            self.bind(egress.clone(), PathBuf::from(EGRESS), Access::ReadOnly);
        }
    }

    fn bind(&mut self, source: PathBuf, at: PathBuf, access: Access) {
        self.mounts.insert(at, Mount::Bind { source, access });
    }

    fn hide(&mut self, path: &Path, writable: &[PathBuf]) {
        let mount = if path.is_dir() { Mount::Empty(Access::ReadOnly) } else { Mount::Blocked };
        self.mounts.insert(path.to_path_buf(), mount);
        self.pin_ancestors(path, writable);
    }

    /// Makes something that exists read-only, unless it is hidden altogether.
    fn protect(&mut self, path: &Path, writable: &[PathBuf]) {
        if !matches!(self.mounts.get(path), Some(Mount::Blocked | Mount::Empty(_))) {
            self.bind(path.to_path_buf(), path.to_path_buf(), Access::ReadOnly);
        }
        self.pin_ancestors(path, writable);
    }

    /// A mount point cannot be renamed, so nobody can put another directory in an ancestor's place.
    fn pin_ancestors(&mut self, path: &Path, writable: &[PathBuf]) {
        let Some(root) = innermost(path, writable) else { return };
        for ancestor in path.ancestors().skip(1).take_while(|ancestor| *ancestor != root) {
            let pin = Mount::Bind { source: ancestor.to_path_buf(), access: Access::Writable };
            self.mounts.entry(ancestor.to_path_buf()).or_insert(pin);
        }
    }

    fn guard(
        &mut self,
        guard: &Guard,
        writable: &[PathBuf],
        concerns: &mut Vec<(PathBuf, Concern)>,
    ) -> Result<(), LayoutError> {
        let path = resolve_above(&guard.path, writable)?;
        if let Some(root) = writable.iter().find(|root| root.starts_with(&path)) {
            return Err(LayoutError::WritableInGuard { root: root.clone(), guard: path });
        }
        // Everything outside the writable directories is read-only already.
        let Some(root) = innermost(&path, writable).map(Path::to_path_buf) else { return Ok(()) };
        let mut present = root.clone();
        let names = path.strip_prefix(&root).unwrap_or(&path).to_path_buf();
        for name in names.components() {
            let next = present.join(name);
            match std::fs::symlink_metadata(&next) {
                Ok(metadata) if metadata.is_symlink() => {
                    return Err(LayoutError::Link { guard: guard.path.clone(), link: next });
                }
                // Another command has covered it too; whoever ends last takes the entry away.
                Ok(metadata) if Placeholder::is_in_use(&next, &metadata) => {
                    let directory = metadata.is_dir();
                    let kind = if directory { GuardKind::Directory } else { GuardKind::File };
                    self.mask(next, kind, writable);
                    return Ok(());
                }
                Ok(metadata) => {
                    present = next;
                    // A file where a directory is expected keeps the guarded path from existing.
                    if !metadata.is_dir() {
                        break;
                    }
                }
                Err(_) => {
                    let kind = if next == path { guard.kind } else { GuardKind::Directory };
                    self.mask(next, kind, writable);
                    return Ok(());
                }
            }
        }
        self.protect(&present, writable);
        concerns.push((present, Concern::Guard));
        Ok(())
    }

    /// Covers a path that is missing, so that it cannot be created.
    fn mask(&mut self, path: PathBuf, kind: GuardKind, writable: &[PathBuf]) {
        let mount = match kind {
            GuardKind::File => Mount::Blocked,
            GuardKind::Directory => Mount::Empty(Access::ReadOnly),
        };
        self.pin_ancestors(&path, writable);
        if self.mounts.insert(path.clone(), mount).is_none() {
            self.placeholders.push(Guard { path, kind });
        }
    }

    fn add_sockets(&mut self, sockets: &UnixSockets) {
        let allowed: Vec<PathBuf> = match sockets {
            UnixSockets::None => return,
            UnixSockets::Only(paths) => {
                paths.iter().filter_map(|path| path.canonicalize().ok()).collect()
            }
            // Another confinement's proxy lets through, and lends, what this one was not given.
            UnixSockets::All => {
                listening_sockets().into_iter().filter(|socket| !is_proxy(socket)).collect()
            }
        };
        for path in &allowed {
            let bind = Mount::Bind { source: path.clone(), access: Access::ReadOnly };
            self.mounts.entry(path.clone()).or_insert(bind);
        }
        // Once sockets can be made at all, those that happen to be visible must be covered.
        for socket in listening_sockets() {
            if !allowed.contains(&socket) && !self.is_below_empty(&socket) {
                self.mounts.entry(socket).or_insert(Mount::Blocked);
            }
        }
    }

    /// Whether the innermost mount above a path shows nothing of the host.
    fn is_below_empty(&self, path: &Path) -> bool {
        let above = path.ancestors().skip(1).find_map(|ancestor| self.mounts.get(ancestor));
        match above {
            Some(Mount::Empty(_) | Mount::Blocked) => true,
            // The private temporary directory shows itself, not what the host has there.
            Some(Mount::Bind { source, .. }) => !path.starts_with(source),
            None => false,
        }
    }

    /// What is mounted below the private temporary directory hangs from a mount point there: a name
    /// in it could otherwise be turned into a link before the next command.
    fn settle_below_temp(&mut self) {
        let temp = Path::new(TEMP);
        if !matches!(self.mounts.get(temp), Some(Mount::Bind { source, .. }) if source != temp) {
            return;
        }
        let below = self.mounts.keys().filter(|at| at.starts_with(temp) && *at != temp);
        let tops: Vec<PathBuf> =
            below.filter_map(|at| at.components().nth(2).map(|top| temp.join(top))).collect();
        for top in tops {
            self.mounts.entry(top).or_insert(Mount::Empty(Access::ReadOnly));
        }
    }

    /// Covers directories on the way to a mount that the command's user could not pass.
    fn cover_closed_directories(&mut self, user: SandboxUser) {
        let targets: Vec<PathBuf> = self.mounts.keys().cloned().collect();
        for target in targets {
            let mut ancestors: Vec<&Path> = target.ancestors().skip(1).collect();
            ancestors.reverse();
            for ancestor in ancestors {
                if ancestor != Path::new("/") && self.mounts.contains_key(ancestor) {
                    break;
                }
                if !may_pass(ancestor, user) {
                    self.mounts.insert(ancestor.to_path_buf(), Mount::Empty(Access::ReadOnly));
                    break;
                }
            }
        }
    }
}

/// The innermost of the writable directories around a path, the path itself excluded.
fn innermost<'a>(path: &Path, writable: &'a [PathBuf]) -> Option<&'a Path> {
    let around = writable.iter().filter(|root| path.starts_with(root) && path != root.as_path());
    around.max_by_key(|root| root.components().count()).map(PathBuf::as_path)
}

fn writable_roots(confinement: &Confinement) -> Result<Vec<PathBuf>, LayoutError> {
    let mut roots = Vec::new();
    for path in &confinement.writable {
        let unreachable = |source| LayoutError::Unreachable { path: path.clone(), source };
        let root = path.canonicalize().map_err(unreachable)?;
        if !root.is_dir() {
            return Err(unreachable(io::ErrorKind::NotADirectory.into()));
        }
        let reserved = RESERVED.iter().map(Path::new);
        let clashes = |path: &Path| root.starts_with(path) || path.starts_with(&root);
        if root == Path::new("/") || reserved.into_iter().any(clashes) {
            return Err(LayoutError::Reserved(root));
        }
        roots.push(root);
    }
    Ok(roots)
}

/// Resolves links above the writable directories, which no command can change, and none below.
fn resolve_above(path: &Path, writable: &[PathBuf]) -> Result<PathBuf, LayoutError> {
    if !path.is_absolute() {
        return Err(LayoutError::Relative(path.to_path_buf()));
    }
    let mut resolved = PathBuf::from("/");
    for component in path.components() {
        match component {
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
            Component::ParentDir => {
                resolved.pop();
            }
            Component::Normal(name) => {
                let inside = writable.iter().any(|root| resolved.starts_with(root));
                resolved.push(name);
                if !inside && let Ok(canonical) = resolved.canonicalize() {
                    resolved = canonical;
                }
            }
        }
    }
    Ok(resolved)
}

fn is_directory(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir())
}

/// Whether a user without groups may pass through a directory.
pub(crate) fn may_pass(directory: &Path, user: SandboxUser) -> bool {
    let Ok(metadata) = std::fs::metadata(directory) else { return false };
    let bit = if metadata.uid() == user.uid {
        0o100
    } else if metadata.gid() == user.gid {
        0o010
    } else {
        0o001
    };
    metadata.mode() & bit != 0
}

/// Whether a socket is that of an egress proxy.
fn is_proxy(socket: &Path) -> bool {
    let directory = socket.parent().and_then(Path::file_name).and_then(|name| name.to_str());
    socket.ends_with(PROXY_SOCKET) && directory.is_some_and(|name| name.starts_with(PRIVATE_PREFIX))
}

/// The Unix sockets with a path that programs have open now.
fn listening_sockets() -> Vec<PathBuf> {
    let table = std::fs::read_to_string("/proc/net/unix").unwrap_or_default();
    let path = |line: &str| {
        let path = line.split_whitespace().nth(7).filter(|path| path.starts_with('/'))?;
        // A name that leads elsewhere, or nowhere any more, is not the socket.
        Path::new(path).canonicalize().ok().filter(|resolved| resolved == Path::new(path))
    };
    let mut paths: Vec<PathBuf> = table.lines().filter_map(path).collect();
    paths.sort();
    paths.dedup();
    paths
}

#[cfg(test)]
mod tests;
