//! What may be read and written where no mount namespace hides anything.

use std::path::{Path, PathBuf};

use crate::confinement::Confinement;

/// Directories that other programs share.
const SHARED: [&str; 4] = ["/tmp", "/var/tmp", "/run", "/home"];
/// Devices that hold nothing.
const DEVICES: [&str; 7] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx"];

/// The trees that may be read: everything but what is hidden. Directories above something hidden
/// are taken apart, because a tree is granted only as a whole; they cannot be listed then.
pub(crate) fn readable(confinement: &Confinement) -> Vec<PathBuf> {
    let hidden = SHARED.iter().map(PathBuf::from).chain(confinement.home.clone());
    let hidden: Vec<PathBuf> = hidden
        .chain(confinement.hidden.iter().cloned())
        .filter_map(|path| path.canonicalize().ok())
        .collect();
    let mut granted = Vec::new();
    take_apart(Path::new("/"), &hidden, &mut granted);
    for tree in confinement.readable.iter().filter_map(|path| path.canonicalize().ok()) {
        // What is hidden in a tree that is shown stays hidden.
        let secrets: Vec<PathBuf> = confinement
            .hidden
            .iter()
            .filter_map(|path| path.canonicalize().ok())
            .filter(|path| path.starts_with(&tree))
            .collect();
        take_apart(&tree, &secrets, &mut granted);
    }
    granted
}

/// The trees that may be written.
pub(crate) fn writable(confinement: &Confinement, temp: PathBuf) -> Vec<PathBuf> {
    let roots = confinement.writable.iter().filter_map(|path| path.canonicalize().ok());
    let devices = DEVICES.iter().map(PathBuf::from).filter(|device| device.exists());
    roots.chain([temp]).chain(devices).collect()
}

fn take_apart(path: &Path, hidden: &[PathBuf], granted: &mut Vec<PathBuf>) {
    if hidden.iter().any(|it| it == path) {
        return;
    }
    if !hidden.iter().any(|it| it.starts_with(path)) {
        granted.push(path.to_path_buf());
        return;
    }
    let Ok(entries) = std::fs::read_dir(path) else { return };
    for entry in entries.flatten() {
        // A link grants nothing by itself, and opening it would grant what it leads to.
        if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
            take_apart(&entry.path(), hidden, granted);
        }
    }
}
