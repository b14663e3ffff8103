//! Reaching directories and files by name without ever following a link.

use rustix::fd::{AsFd, AsRawFd as _, OwnedFd};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::{Errno, Result};
use rustix::path::Arg;

const DIRECTORY: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Opens a directory by its absolute path; a link anywhere on the way is an error.
pub(crate) fn open_directory(path: &[u8]) -> Result<OwnedFd> {
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let flags = OFlags::RDONLY | DIRECTORY;
    match rustix::fs::openat2(CWD, path, flags, Mode::empty(), resolve) {
        // Old kernels do not know the call, sandboxes forbid it, and some paths are too long for it.
        Err(Errno::NOSYS | Errno::PERM | Errno::NAMETOOLONG | Errno::AGAIN) => step_by_step(path),
        opened => opened,
    }
}

fn step_by_step(path: &[u8]) -> Result<OwnedFd> {
    let on_the_way = OFlags::PATH | DIRECTORY;
    let mut at = rustix::fs::open("/", on_the_way, Mode::empty())?;
    for name in path.split(|byte| *byte == b'/').filter(|name| !name.is_empty()) {
        at = rustix::fs::openat(&at, name, on_the_way, Mode::empty())?;
    }
    rustix::fs::openat(&at, ".", OFlags::RDONLY | DIRECTORY, Mode::empty())
}

/// Opens a file to read it; a link is an error, and a pipe in the file's place does not block.
pub(crate) fn open_file(directory: impl AsFd, name: &[u8]) -> Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    rustix::fs::openat(directory, name, flags, Mode::empty())
}

/// Whether the system ran out of something, which says nothing about the file.
pub(crate) const fn is_shortage(error: Errno) -> bool {
    matches!(error, Errno::MFILE | Errno::NFILE | Errno::NOMEM)
}

/// What a name stands for, links not followed; nothing when there is no such name.
pub(crate) fn look(directory: impl AsFd, name: impl Arg) -> Result<Option<Stat>> {
    match rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(stat)),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Changes the mode of something that cannot be opened; says whether it was of this kind.
pub(crate) fn set_mode(
    directory: impl AsFd,
    name: &[u8],
    expected: FileType,
    mode: Mode,
) -> Result<bool> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let fd = rustix::fs::openat(directory, name, flags, Mode::empty())?;
    if kind(&rustix::fs::fstat(&fd)?) != expected {
        return Ok(false);
    }
    // A handle without access can be changed only under the name that the kernel gives it.
    rustix::fs::chmod(format!("/proc/self/fd/{}", fd.as_raw_fd()), mode)?;
    Ok(true)
}

pub(crate) fn kind(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

/// A path split into the directory and the name in it; nothing for the topmost directory.
pub(crate) fn split(path: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = path.iter().rposition(|byte| *byte == b'/')?;
    let name = path.get(at + 1..).filter(|name| !name.is_empty())?;
    Some((if at == 0 { b"/" } else { &path[..at] }, name))
}

/// The path of a name in a directory.
pub(crate) fn join(directory: &[u8], name: &[u8]) -> Vec<u8> {
    let mut path = directory.to_vec();
    if path.last() != Some(&b'/') {
        path.push(b'/');
    }
    path.extend_from_slice(name);
    path
}

/// Whether a path is a directory or lies below it.
pub(crate) fn is_within(path: &[u8], directory: &[u8]) -> bool {
    match path.strip_prefix(directory) {
        Some(rest) => rest.is_empty() || rest[0] == b'/' || directory.ends_with(b"/"),
        None => false,
    }
}
