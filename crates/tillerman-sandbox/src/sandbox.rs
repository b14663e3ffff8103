//! The sandbox of a machine, and a confinement that is ready for commands.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, OnceLock};

use crate::capabilities::{Backend, Capabilities};
use crate::command::{CommandError, ConfinedCommand};
use crate::confinement::{Confinement, NetworkPolicy, SandboxUser};
use crate::egress::{EgressProxy, Outside, Resolve, StartProxyError, Violation};
use crate::private::{MakePrivateError, PROXY_SOCKET, PrivateDirectory};
use crate::probe::{self, Installed};

/// The hidden subcommand behind which a program passes its arguments to
/// [`run_stage`](crate::run_stage).
pub const STAGE: &str = "__confined";

/// The exit code of a command that was not run, or was stopped, because it was not confined.
pub const REFUSED: u8 = 125;

/// The sandbox of this machine.
#[derive(Clone, Debug)]
pub struct Sandbox {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    runner: PathBuf,
    scratch: PathBuf,
    outside: Outside,
    bubblewrap: OnceLock<Result<Installed, String>>,
    capabilities: OnceLock<Capabilities>,
}

/// Why a confinement is not possible here. Nothing was run.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// Nothing confines commands on this machine.
    #[error(
        "commands cannot be confined here, so none is run: {reason}; install bubblewrap, or turn \
         sandbox.enabled off and decide about each command yourself"
    )]
    Unavailable {
        /// Why not.
        reason: String,
    },
    /// This machine cannot enforce a part of it.
    #[error("{what} cannot be enforced here, so no command is run: {reason}; {remedy}")]
    Unenforceable {
        /// What was asked for.
        what: &'static str,
        /// Why it cannot be had.
        reason: String,
        /// What helps.
        remedy: &'static str,
    },
    /// There is no private directory for the sandbox.
    #[error("the sandbox has no private directory")]
    Private(#[from] MakePrivateError),
    /// The egress proxy did not start.
    #[error("the egress proxy did not start")]
    Proxy(#[from] StartProxyError),
    /// The work was interrupted.
    #[error("preparing the sandbox was interrupted")]
    Interrupted,
}

/// A confinement that is ready for commands. Dropping it ends its proxy and removes its private
/// directory.
#[derive(Debug)]
pub struct Prepared {
    pub(crate) confinement: Confinement,
    pub(crate) capabilities: Capabilities,
    pub(crate) bubblewrap: Option<Installed>,
    pub(crate) runner: PathBuf,
    pub(crate) user: Option<SandboxUser>,
    pub(crate) accounts: Option<[PathBuf; 2]>,
    pub(crate) proxy: Option<EgressProxy>,
    // Last, because the socket of the proxy lies in it.
    pub(crate) private: PrivateDirectory,
}

impl Sandbox {
    /// A sandbox whose stages are carried out by `runner`: a program that passes what follows
    /// [`STAGE`] to [`run_stage`](crate::run_stage), usually this very one. Private directories are
    /// made in `scratch`.
    #[must_use]
    pub fn new(runner: PathBuf, scratch: PathBuf) -> Self {
        Self::with_outside(runner, scratch, Outside::default())
    }

    /// Like [`Sandbox::new`], with another way to find the addresses of names.
    #[must_use]
    pub fn with_resolver(runner: PathBuf, scratch: PathBuf, resolver: Arc<dyn Resolve>) -> Self {
        Self::with_outside(runner, scratch, Outside { resolver, ..Outside::default() })
    }

    /// Like [`Sandbox::new`], with another world outside.
    #[must_use]
    pub fn with_outside(runner: PathBuf, scratch: PathBuf, outside: Outside) -> Self {
        let (bubblewrap, capabilities) = (OnceLock::new(), OnceLock::new());
        Self { inner: Arc::new(Inner { runner, scratch, outside, bubblewrap, capabilities }) }
    }

    /// What this machine can enforce. The first call tries it, which takes some hundredths of a
    /// second; the answer is kept.
    #[must_use]
    pub fn probe(&self) -> &Capabilities {
        self.inner.capabilities()
    }

    /// Makes a confinement ready, or says why it cannot be had. Must be called in a tokio runtime.
    ///
    /// # Errors
    /// When this machine cannot enforce every part of it.
    ///
    /// # Cancel safety
    /// Dropping the future leaves nothing behind.
    pub async fn prepare(&self, confinement: Confinement) -> Result<Prepared, SandboxError> {
        let inner = Arc::clone(&self.inner);
        let prepare = tokio::task::spawn_blocking(move || inner.prepare(confinement));
        let mut prepared = prepare.await.map_err(|_| SandboxError::Interrupted)??;
        if let NetworkPolicy::Proxied(rules) = &prepared.confinement.network {
            let socket = prepared.private.path().join(PROXY_SOCKET);
            let (outside, lent) = (&self.inner.outside, &prepared.confinement.credentials);
            prepared.proxy = Some(EgressProxy::start(socket, rules, outside, lent)?);
        }
        Ok(prepared)
    }
}

impl Inner {
    fn bubblewrap(&self) -> &Result<Installed, String> {
        self.bubblewrap.get_or_init(probe::bubblewrap)
    }

    fn capabilities(&self) -> &Capabilities {
        self.capabilities.get_or_init(|| probe::capabilities(self.try_bubblewrap()))
    }

    fn prepare(&self, confinement: Confinement) -> Result<Prepared, SandboxError> {
        let capabilities = self.capabilities().clone();
        let bubblewrap = match &capabilities.backend {
            Backend::Bubblewrap { .. } => self.bubblewrap().as_ref().ok().cloned(),
            Backend::Walls { reason } => {
                enforceable_by_walls(&confinement, reason)?;
                None
            }
            Backend::Seatbelt => None,
            Backend::None { reason } => {
                return Err(SandboxError::Unavailable { reason: reason.clone() });
            }
        };
        self.assemble(confinement, capabilities, bubblewrap)
    }

    fn assemble(
        &self,
        confinement: Confinement,
        capabilities: Capabilities,
        bubblewrap: Option<Installed>,
    ) -> Result<Prepared, SandboxError> {
        let user = capabilities.root.then(|| confinement.user.unwrap_or_default());
        let private = PrivateDirectory::make(&self.scratch, user)?;
        let home = confinement.home.as_deref().unwrap_or(Path::new("/"));
        let accounts = user.map(|user| private.accounts(user, home)).transpose();
        let accounts = accounts.map_err(|source| {
            let scratch = private.path().to_path_buf();
            MakePrivateError { scratch, source }
        })?;
        let runner = self.runner.clone();
        let proxy = None;
        Ok(Prepared {
            confinement,
            capabilities,
            bubblewrap,
            runner,
            user,
            accounts,
            proxy,
            private,
        })
    }

    /// Runs a command that does nothing, all the way, and returns the version of bubblewrap.
    fn try_bubblewrap(&self) -> Result<String, String> {
        let installed = self.bubblewrap().clone()?;
        let capabilities = probe::capabilities(Ok(installed.name.clone()));
        let chain = |error: &dyn std::error::Error| {
            std::iter::successors(Some(error), |error| error.source())
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(": ")
        };
        let prepared = self
            .assemble(Confinement::default(), capabilities, Some(installed.clone()))
            .map_err(|error| chain(&error))?;
        let arguments = ["-c".into(), ":".into()];
        let command = prepared
            .command("/bin/sh".as_ref(), &arguments, Path::new("/"))
            .map_err(|error| chain(&error))?;
        #[expect(clippy::disallowed_methods, reason = "the environment is given")]
        let output = Command::new(&command.program)
            .args(&command.arguments)
            .env_clear()
            .envs(&command.environment)
            .stdin(Stdio::null())
            .output()
            .map_err(|error| format!("{} does not start: {error}", command.program.display()))?;
        if output.status.success() {
            return Ok(installed.name);
        }
        let said = String::from_utf8_lossy(&output.stderr);
        Err(format!("bubblewrap {} does not work: {}", installed.name, said.trim()))
    }
}

impl Prepared {
    /// What enforces the confinement.
    #[must_use]
    pub fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    /// The private temporary directory as the host sees it.
    #[must_use]
    pub fn private_temp(&self) -> &Path {
        self.private.temp()
    }

    /// The private temporary directory as the command sees it.
    #[must_use]
    pub fn private_temp_inside(&self) -> &Path {
        if self.bubblewrap.is_some() { Path::new(crate::layout::TEMP) } else { self.private.temp() }
    }

    /// What commands tried in the network and were refused since the last time.
    #[must_use]
    pub fn take_violations(&self) -> Vec<Violation> {
        self.proxy.as_ref().map(EgressProxy::take_violations).unwrap_or_default()
    }

    /// A command to start. Looks at the disk as it is now, so call it right before the start, where
    /// blocking for some milliseconds does no harm.
    ///
    /// # Errors
    /// When the disk does not allow what the confinement asks for.
    pub fn command(
        &self,
        program: &std::ffi::OsStr,
        arguments: &[std::ffi::OsString],
        cwd: &Path,
    ) -> Result<ConfinedCommand, CommandError> {
        crate::command::assemble(self, program, arguments, cwd, &[])
    }

    /// Like [`Prepared::command`], with variables of its own beside those of the confinement.
    ///
    /// # Errors
    /// When the disk does not allow what the confinement asks for.
    pub fn command_with(
        &self,
        program: &std::ffi::OsStr,
        arguments: &[std::ffi::OsString],
        cwd: &Path,
        variables: &[(std::ffi::OsString, std::ffi::OsString)],
    ) -> Result<ConfinedCommand, CommandError> {
        crate::command::assemble(self, program, arguments, cwd, variables)
    }
}

/// Refuses what Landlock and seccomp cannot enforce without namespaces.
fn enforceable_by_walls(confinement: &Confinement, reason: &str) -> Result<(), SandboxError> {
    let refuse = |what| {
        let remedy = "install bubblewrap, or leave it out of the confinement";
        Err(SandboxError::Unenforceable { what, reason: reason.to_owned(), remedy })
    };
    if confinement.network != NetworkPolicy::None {
        return refuse("a list of allowed domains");
    }
    if confinement.unix_sockets != crate::confinement::UnixSockets::None {
        return refuse("a choice of Unix sockets");
    }
    let inside = |path: &Path| confinement.writable.iter().any(|root| path.starts_with(root));
    if confinement.guarded.iter().any(|guard| inside(&guard.path)) {
        return refuse("a guarded path in a writable directory");
    }
    if confinement.hidden.iter().any(|path| inside(path)) {
        return refuse("a hidden path in a writable directory");
    }
    Ok(())
}
