//! The sandbox where there is no Linux: Seatbelt on macOS, a refusal everywhere else.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use tempfile::TempDir;

use crate::capabilities::{Backend, Capabilities, GroupLimits};
use crate::confinement::{Confinement, NetworkPolicy};
use crate::egress::{Outside, Resolve, Violation};
use crate::seatbelt;

/// The hidden subcommand of the stages, which only Linux has.
pub const STAGE: &str = "__confined";

/// The exit code of a command that was not run because it was not confined.
pub const REFUSED: u8 = 125;

/// There are no stages here.
pub fn run_stage(_arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    ExitCode::from(REFUSED)
}

/// The sandbox of this machine.
#[derive(Clone, Debug)]
pub struct Sandbox {
    scratch: PathBuf,
    capabilities: Capabilities,
}

/// Why a confinement is not possible here. Nothing was run.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// Nothing confines commands on this machine.
    #[error("commands cannot be confined here, so none is run: {reason}")]
    Unavailable {
        /// Why not.
        reason: String,
    },
    /// This machine cannot enforce a part of it.
    #[error("{what} cannot be enforced on macOS, so no command is run; leave it out")]
    Unenforceable {
        /// What was asked for.
        what: &'static str,
    },
    /// There is no private directory for the sandbox.
    #[error("the sandbox has no private directory in {}", scratch.display())]
    Private {
        /// Where.
        scratch: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// Why a command cannot be confined as the disk is now. It was not run.
#[derive(Debug, thiserror::Error)]
#[error("the command was not run, because {} cannot be found", path.display())]
pub struct CommandError {
    /// What is missing.
    pub path: PathBuf,
    /// Why.
    pub source: io::Error,
}

/// A confinement that is ready for commands.
#[derive(Debug)]
pub struct Prepared {
    confinement: Confinement,
    capabilities: Capabilities,
    temp: TempDir,
}

/// What to start.
#[derive(Debug)]
pub struct ConfinedCommand {
    /// The program to start.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Its whole environment; clear what would be inherited.
    pub environment: BTreeMap<OsString, OsString>,
}

impl Sandbox {
    /// A sandbox whose private directories are made in `scratch`. There are no stages to run.
    #[must_use]
    pub fn new(runner: PathBuf, scratch: PathBuf) -> Self {
        Self::with_outside(runner, scratch, Outside::default())
    }

    /// Like [`Sandbox::new`]; names are not looked up here.
    #[must_use]
    pub fn with_resolver(runner: PathBuf, scratch: PathBuf, resolver: Arc<dyn Resolve>) -> Self {
        Self::with_outside(runner, scratch, Outside { resolver, ..Outside::default() })
    }

    /// Like [`Sandbox::new`]; there is no proxy here that would go outside.
    #[must_use]
    pub fn with_outside(_runner: PathBuf, scratch: PathBuf, _outside: Outside) -> Self {
        let backend = if cfg!(target_os = "macos") && Path::new(seatbelt::PROGRAM).is_file() {
            Backend::Seatbelt
        } else {
            Backend::None { reason: "this system has no sandbox that is supported".to_owned() }
        };
        let groups = GroupLimits::default();
        let root = rustix::process::geteuid().is_root();
        let capabilities = Capabilities { backend, landlock: 0, seccomp: false, groups, root };
        Self { scratch, capabilities }
    }

    /// What this machine can enforce.
    #[must_use]
    pub fn probe(&self) -> &Capabilities {
        &self.capabilities
    }

    /// Makes a confinement ready, or says why it cannot be had.
    ///
    /// # Errors
    /// When this machine cannot enforce every part of it.
    ///
    /// # Cancel safety
    /// Dropping the future leaves nothing behind.
    pub async fn prepare(&self, mut confinement: Confinement) -> Result<Prepared, SandboxError> {
        if let Backend::None { reason } = &self.capabilities.backend {
            return Err(SandboxError::Unavailable { reason: reason.clone() });
        }
        if self.capabilities.root {
            let reason = "the host is root, which Seatbelt does not hold back".to_owned();
            return Err(SandboxError::Unavailable { reason });
        }
        if confinement.network != NetworkPolicy::None {
            return Err(SandboxError::Unenforceable { what: "a list of allowed domains" });
        }
        let private = |source| SandboxError::Private { scratch: self.scratch.clone(), source };
        let scratch = self.scratch.canonicalize().map_err(private)?;
        let temp = tempfile::Builder::new().prefix("tillerman-").tempdir_in(scratch);
        // Seatbelt compares what paths lead to.
        let lists = [&mut confinement.writable, &mut confinement.readable, &mut confinement.hidden];
        for path in lists.into_iter().flatten() {
            *path = path.canonicalize().unwrap_or_else(|_| path.clone());
        }
        confinement.environment.remove(OsStr::new("TMPDIR"));
        let capabilities = self.capabilities.clone();
        Ok(Prepared { confinement, capabilities, temp: temp.map_err(private)? })
    }
}

impl Prepared {
    /// What enforces the confinement.
    #[must_use]
    pub fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    /// The private temporary directory.
    #[must_use]
    pub fn private_temp(&self) -> &Path {
        self.temp.path()
    }

    /// The private temporary directory as the command sees it.
    #[must_use]
    pub fn private_temp_inside(&self) -> &Path {
        self.temp.path()
    }

    /// Nothing is written down here.
    #[must_use]
    pub fn take_violations(&self) -> Vec<Violation> {
        Vec::new()
    }

    /// A command to start in `cwd`.
    ///
    /// # Errors
    /// When the directory does not exist.
    pub fn command(
        &self,
        program: &OsStr,
        arguments: &[OsString],
        cwd: &Path,
    ) -> Result<ConfinedCommand, CommandError> {
        self.command_with(program, arguments, cwd, &[])
    }

    /// Like [`Prepared::command`], with variables of its own beside those of the confinement.
    ///
    /// # Errors
    /// When the directory does not exist.
    pub fn command_with(
        &self,
        program: &OsStr,
        arguments: &[OsString],
        cwd: &Path,
        variables: &[(OsString, OsString)],
    ) -> Result<ConfinedCommand, CommandError> {
        // A shell enters the directory, since the profile applies from the start.
        let cwd = cwd
            .canonicalize()
            .map_err(|source| CommandError { path: cwd.to_path_buf(), source })?;
        let profile = seatbelt::profile(&self.confinement, self.temp.path(), None);
        let mut line: Vec<OsString> =
            vec!["-c".into(), "cd \"$0\" && exec \"$@\"".into(), cwd.into(), program.to_owned()];
        line.extend(arguments.iter().cloned());
        let mut environment = self.confinement.environment.clone();
        environment.extend(variables.iter().cloned());
        environment.insert("TMPDIR".into(), self.temp.path().into());
        Ok(ConfinedCommand {
            program: seatbelt::PROGRAM.into(),
            arguments: seatbelt::arguments(&profile, Path::new("/bin/sh"), &line),
            environment,
        })
    }
}

impl ConfinedCommand {
    /// Nothing is held for a command here.
    #[must_use]
    pub fn finish(self) -> Vec<Violation> {
        Vec::new()
    }
}
