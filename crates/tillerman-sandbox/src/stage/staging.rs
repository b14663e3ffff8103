//! Opening trees of the host's root to the command's user, so that ownership on disk stays right.
//!
//! The trees are mounted in a mount namespace that only this command sees. An id-mapped mount lets
//! the command's user stand for the owner of a tree: what it creates there belongs to that owner.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::CWD;
use rustix::mount::{MountPropagationFlags, MoveMountFlags, OpenTreeFlags};
use rustix::thread::UnshareFlags;

use super::run::StageError;
use crate::confinement::SandboxUser;
use crate::plan::Staged;

/// Mounts the trees where the plan says.
pub(crate) fn open(trees: &[Staged], user: SandboxUser) -> Result<(), StageError> {
    #[expect(unsafe_code, reason = "rustix marks unshare as unsafe for the sake of file tables")]
    // SAFETY: only the mount namespace is unshared; the table of descriptors stays as it is.
    let unshared = unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNS) };
    let failed = |what: &str| {
        let what = format!(
            "{what}; started as root, the sandbox needs the right to mount \
             (CAP_SYS_ADMIN), or a host that is not root"
        );
        move |error: rustix::io::Errno| StageError::step(what, error)
    };
    unshared.map_err(failed("no mount namespace could be made"))?;
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    rustix::mount::mount_change("/", private)
        .map_err(failed("the mount namespace could not be separated"))?;
    for tree in trees {
        mount(tree, user)?;
    }
    Ok(())
}

fn mount(tree: &Staged, user: SandboxUser) -> Result<(), StageError> {
    let shown = tree.source.display();
    let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    let clone = rustix::mount::open_tree(CWD, &tree.source, flags)
        .map_err(|error| StageError::step(format!("{shown} could not be opened"), error))?;
    if let Some(owner) = tree.owner {
        map_owner(clone.as_fd(), owner, user).map_err(|error| {
            let what = format!(
                "{shown} belongs to user {}, and its file system cannot lend it to user {} \
                 (id-mapped mounts); use a directory on ext4, xfs, btrfs or tmpfs, or start the \
                 host as that user",
                owner.uid, user.uid
            );
            StageError::step(what, error)
        })?;
    }
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
    rustix::mount::move_mount(clone, "", CWD, &tree.at, flags)
        .map_err(|error| StageError::step(format!("{shown} could not be mounted"), error))
}

/// Lets `user` stand for `owner` on a mount that is not attached yet.
fn map_owner(mount: BorrowedFd<'_>, owner: SandboxUser, user: SandboxUser) -> io::Result<()> {
    let namespace = user_namespace(&map(owner.uid, user.uid), &map(owner.gid, user.gid))?;
    let attributes = libc::mount_attr {
        attr_set: libc::MOUNT_ATTR_IDMAP,
        attr_clr: 0,
        propagation: 0,
        userns_fd: u64::from(namespace.as_raw_fd().cast_unsigned()),
    };
    #[expect(unsafe_code, reason = "rustix has no mount_setattr")]
    // SAFETY: the path is an empty C string, the attributes live through the call and their size is
    // given; the kernel only reads them.
    let outcome = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_EMPTY_PATH,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    };
    if outcome == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Maps `owner` to `user` and everybody else to themselves. Files of `user` itself, should there be
/// any, belong to nobody.
fn map(owner: u32, user: u32) -> String {
    const COUNT: u64 = 0xffff_ffff;
    let mut lines = format!("{owner} {user} 1\n");
    let mut edges = [u64::from(owner), u64::from(user)];
    edges.sort_unstable();
    let mut next = 0;
    for edge in edges {
        if edge > next {
            lines.push_str(&format!("{next} {next} {}\n", edge - next));
        }
        next = edge + 1;
    }
    if COUNT > next {
        lines.push_str(&format!("{next} {next} {}\n", COUNT - next));
    }
    lines
}

/// A user namespace with these maps, held by nothing but its descriptor.
fn user_namespace(users: &str, groups: &str) -> io::Result<OwnedFd> {
    let (ready, tell_ready) = io::pipe()?;
    let (release, tell_release) = io::pipe()?;
    #[expect(unsafe_code, reason = "the maps of a namespace are written by a process outside it")]
    // SAFETY: this process has one thread, and the child makes nothing but system calls.
    let child = unsafe { libc::fork() };
    match child {
        -1 => Err(io::Error::last_os_error()),
        0 => hold_namespace(&ready, &tell_ready, &release, &tell_release),
        child => {
            drop((tell_ready, release));
            let namespace = write_maps(ready, child, users, groups);
            drop(tell_release);
            let child = rustix::process::Pid::from_raw(child);
            rustix::process::waitpid(child, rustix::process::WaitOptions::empty())?;
            namespace
        }
    }
}

/// The child: enters a new user namespace and waits until it has been seen.
fn hold_namespace(
    ready: &io::PipeReader,
    tell_ready: &io::PipeWriter,
    release: &io::PipeReader,
    tell_release: &io::PipeWriter,
) -> ! {
    #[expect(unsafe_code, reason = "a forked child ends without running anything of its parent")]
    // SAFETY: only system calls on descriptors that are open here. Closing the child's copies of
    // the parent's ends is what lets it see that the parent is gone; nothing uses them again.
    unsafe {
        libc::close(ready.as_raw_fd());
        libc::close(tell_release.as_raw_fd());
        let mut byte = 0_u8;
        if libc::unshare(libc::CLONE_NEWUSER) == 0 {
            libc::write(tell_ready.as_raw_fd(), (&raw const byte).cast(), 1);
            libc::read(release.as_raw_fd(), (&raw mut byte).cast(), 1);
        }
        libc::_exit(0)
    }
}

fn write_maps(
    mut ready: io::PipeReader,
    child: i32,
    users: &str,
    groups: &str,
) -> io::Result<OwnedFd> {
    use io::Read as _;
    if ready.read(&mut [0])? == 0 {
        return Err(io::Error::other("no user namespace could be made"));
    }
    let process = PathBuf::from(format!("/proc/{child}"));
    let write = |name: &str, text: &str| std::fs::write(process.join(name), text);
    write("uid_map", users)?;
    write("gid_map", groups)?;
    File::open(process.join(Path::new("ns/user"))).map(OwnedFd::from)
}

#[cfg(test)]
mod tests;
