//! A small world for attacks: a workspace, a sandbox around it, and a secret outside.

use std::ffi::OsString;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};
use std::sync::{Arc, OnceLock};

use tempfile::TempDir;
use tillerman_sandbox::egress::{Outside, Resolve};
use tillerman_sandbox::{Backend, ConfinedCommand, Confinement, Prepared, Sandbox, Violation};

/// A user that owns nothing here.
const NOBODY: u32 = 65_534;

pub(crate) const ATTACKER: &str = env!("CARGO_BIN_EXE_attacker");
const RUNNER: &str = env!("CARGO_BIN_EXE_confined-runner");

/// A workspace and what lies beside it.
pub(crate) struct World {
    directory: TempDir,
    pub(crate) sandbox: Sandbox,
}

/// How a command ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) violations: Vec<Violation>,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with_sandbox(usual_sandbox())
    }

    pub(crate) fn with_resolver(resolver: Arc<dyn Resolve>) -> Self {
        Self::with_sandbox(Sandbox::with_resolver(RUNNER.into(), std::env::temp_dir(), resolver))
    }

    pub(crate) fn with_outside(outside: Outside) -> Self {
        Self::with_sandbox(Sandbox::with_outside(RUNNER.into(), std::env::temp_dir(), outside))
    }

    fn with_sandbox(sandbox: Sandbox) -> Self {
        let directory = tempfile::Builder::new().prefix("world-").tempdir().unwrap();
        // The workspace of a person whose directories are closed to others.
        std::fs::set_permissions(directory.path(), mode(0o700)).unwrap();
        std::fs::create_dir(directory.path().join("workspace")).unwrap();
        std::fs::create_dir(directory.path().join("outside")).unwrap();
        Self { directory, sandbox }
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.directory.path().join("workspace").canonicalize().unwrap()
    }

    pub(crate) fn outside(&self) -> PathBuf {
        self.directory.path().join("outside").canonicalize().unwrap()
    }

    /// What most tests use: the workspace and nothing else.
    pub(crate) fn confinement(&self) -> Confinement {
        Confinement {
            writable: vec![self.workspace()],
            readable: vec![Path::new(ATTACKER).parent().unwrap().to_path_buf()],
            environment: [("PATH".into(), "/usr/bin:/bin".into())].into(),
            ..Confinement::default()
        }
    }

    pub(crate) fn prepare(&self, confinement: Confinement) -> Prepared {
        block_on(self.sandbox.prepare(confinement)).unwrap()
    }

    /// Runs a script in a shell inside.
    pub(crate) fn run(&self, script: &str) -> Ended {
        self.run_in(self.confinement(), script)
    }

    pub(crate) fn run_in(&self, confinement: Confinement, script: &str) -> Ended {
        block_on(async {
            let prepared = self.sandbox.prepare(confinement).await.unwrap();
            let command = self.shell(&prepared, script);
            let mut process = spawnable(&command);
            // The proxy works on this thread while another waits for the command.
            let output = tokio::task::spawn_blocking(move || process.output()).await.unwrap();
            let mut ended = Ended::new(&output.unwrap(), command);
            ended.violations.extend(prepared.take_violations());
            ended
        })
    }

    pub(crate) fn shell(&self, prepared: &Prepared, script: &str) -> ConfinedCommand {
        let arguments: [OsString; 4] =
            ["--noprofile".into(), "--norc".into(), "-c".into(), script.into()];
        prepared.command("bash".as_ref(), &arguments, &self.workspace()).unwrap()
    }
}

impl Ended {
    pub(crate) fn new(output: &Output, command: ConfinedCommand) -> Self {
        Self {
            status: output.status,
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            violations: command.finish(),
        }
    }

    #[track_caller]
    pub(crate) fn succeeded(&self) -> &str {
        assert!(self.status.success(), "{self:#?}");
        self.stdout.trim_end()
    }

    #[track_caller]
    pub(crate) fn failed_saying(&self, text: &str) {
        assert!(!self.status.success(), "{self:#?}");
        let said = format!("{}{}", self.stdout, self.stderr);
        assert!(said.contains(text), "{text:?} is missing in {self:#?}");
    }
}

/// A sandbox that all tests share, so that this machine is tried only once.
fn usual_sandbox() -> Sandbox {
    static SANDBOX: OnceLock<Sandbox> = OnceLock::new();
    SANDBOX.get_or_init(|| Sandbox::new(RUNNER.into(), std::env::temp_dir())).clone()
}

/// The process for a confined command.
#[expect(clippy::disallowed_methods, reason = "tests start processes")]
pub(crate) fn spawnable(command: &ConfinedCommand) -> Command {
    let mut process = Command::new(&command.program);
    process.args(&command.arguments).env_clear().envs(&command.environment);
    process.stdin(Stdio::null());
    process
}

/// A process that is not confined.
#[expect(clippy::disallowed_methods, reason = "tests start processes")]
pub(crate) fn process(program: &str) -> Command {
    let mut process = Command::new(program);
    process.stdin(Stdio::null());
    process
}

pub(crate) fn mode(mode: u32) -> std::fs::Permissions {
    std::fs::Permissions::from_mode(mode)
}

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(future)
}

pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Waits for something that happens by itself.
#[track_caller]
pub(crate) fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while !condition() {
        assert!(std::time::Instant::now() < deadline, "waited in vain for {what}");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

/// Whether this machine can run bubblewrap at all; says so when it cannot. Where it can, ours must
/// work too: a sandbox that is broken is no reason to skip its tests.
fn has_bubblewrap() -> bool {
    let mut plain = process("bwrap");
    plain.args([
        "--unshare-all",
        "--ro-bind",
        "/",
        "/",
        "--proc",
        "/proc",
        "--dev",
        "/dev",
        "true",
    ]);
    if is_root() {
        plain.uid(NOBODY).gid(NOBODY);
        let mounts = process("unshare").args(["--mount", "true"]).status();
        if !mounts.is_ok_and(|status| status.success()) {
            skip("root may not mount here");
            return false;
        }
    }
    let works = plain.output();
    if !works.as_ref().is_ok_and(|output| output.status.success()) {
        skip(&format!("this machine has no working bubblewrap: {works:?}"));
        return false;
    }
    let sandbox = usual_sandbox();
    let backend = &sandbox.probe().backend;
    assert!(matches!(backend, Backend::Bubblewrap { .. }), "{backend:?}");
    true
}

pub(crate) fn skip(why: &str) {
    drop(writeln!(std::io::stderr(), "skipped: {why}"));
}

/// Runs a test with bubblewrap, and when this process is root once more as somebody who is not.
/// `name` is the test's own name, by which it is started again.
pub(crate) fn everyone(name: &str, test: impl FnOnce()) {
    if !has_bubblewrap() {
        return;
    }
    test();
    if is_root() {
        as_nobody(name);
    }
}

/// Runs a test only as somebody who is not root, starting it again when this process is.
pub(crate) fn unprivileged(name: &str, test: impl FnOnce()) {
    if is_root() {
        as_nobody(name);
    } else {
        test();
    }
}

fn as_nobody(name: &str) {
    let this = std::env::current_exe().unwrap();
    let mut again = process(this.to_str().unwrap());
    again.args(["--exact", name, "--nocapture"]).current_dir("/").uid(NOBODY).gid(NOBODY);
    again.env("HOME", "/nonexistent").env_remove("TMPDIR");
    let output = match again.output() {
        Ok(output) => output,
        Err(error) => return skip(&format!("another user cannot run {}: {error}", this.display())),
    };
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "as another user: {said}\n{errors}");
    assert!(said.contains("1 passed"), "{name} is not the name of the test: {said}");
}
