//! The walls inside: what the kernel refuses to the command even should an outer wall fail.

pub(crate) mod landlock;
pub(crate) mod rlimits;
pub(crate) mod seccomp;
mod syscalls;
