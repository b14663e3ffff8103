//! What the host tells the stages of a confined command.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::confinement::{Limits, SandboxUser};
use crate::layout::Access;

/// What the first stage does: it gives up what the host has, then starts the second.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum StartPlan {
    /// Namespaces by bubblewrap, with Landlock and seccomp inside.
    Namespaced(NamespacedPlan),
    /// Landlock and seccomp only.
    Walled(WalledPlan),
}

/// A start with namespaces.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct NamespacedPlan {
    /// Who runs the command, when the host is root.
    pub(crate) user: Option<SandboxUser>,
    /// Trees that the host's root opens to that user.
    pub(crate) staged: Vec<Staged>,
    /// Files that take the process into its control groups.
    pub(crate) groups: Vec<PathBuf>,
    /// Bubblewrap and its arguments up to the program.
    pub(crate) bubblewrap: Vec<OsString>,
    /// What the second stage is told.
    pub(crate) init: InitPlan,
}

/// A tree that the host's root opens to the command's user in a mount namespace of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Staged {
    /// The tree.
    pub(crate) source: PathBuf,
    /// Where it is mounted.
    pub(crate) at: PathBuf,
    /// The owner on disk whom the command's user stands for, if it is to write.
    pub(crate) owner: Option<SandboxUser>,
}

/// What the second stage does: it checks the confinement, watches over it, and starts the third.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct InitPlan {
    /// Mounts that must be there.
    pub(crate) mounts: BTreeMap<PathBuf, Access>,
    /// The loopback port that leads to the egress proxy.
    pub(crate) egress_port: Option<u16>,
    /// What the third stage is told.
    pub(crate) exec: ExecPlan,
}

/// A start without namespaces.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct WalledPlan {
    /// Files that take the process into its control groups.
    pub(crate) groups: Vec<PathBuf>,
    /// What the stage does.
    pub(crate) exec: ExecPlan,
}

/// What the last stage does before it becomes the command.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ExecPlan {
    /// The Landlock wall, where the kernel can build one.
    pub(crate) landlock: Option<LandlockPlan>,
    /// The seccomp wall.
    pub(crate) seccomp: SeccompPlan,
    /// Limits that no control group enforces.
    pub(crate) limits: Limits,
    /// The program.
    pub(crate) program: OsString,
    /// Its arguments.
    pub(crate) arguments: Vec<OsString>,
    /// Its whole environment.
    pub(crate) environment: Vec<(OsString, OsString)>,
    /// Where it starts.
    pub(crate) cwd: PathBuf,
}

/// What Landlock lets through.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LandlockPlan {
    /// The version of the kernel's interface.
    pub(crate) abi: u8,
    /// Trees that may be read.
    pub(crate) readable: Vec<PathBuf>,
    /// Trees that may be written.
    pub(crate) writable: Vec<PathBuf>,
}

/// What seccomp refuses besides what it always does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SeccompPlan {
    /// Which sockets can be made.
    pub(crate) sockets: Sockets,
    /// Whether other walls keep metadata and process groups in place.
    pub(crate) namespaces: Namespaces,
}

/// Which sockets can be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Sockets {
    /// None.
    None,
    /// Internet sockets, which lead to a private loopback only.
    Internet,
    /// Unix sockets as well.
    InternetAndUnix,
}

/// Whether the command has namespaces of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Namespaces {
    /// It has.
    Own,
    /// It shares the host's.
    Shared,
}
