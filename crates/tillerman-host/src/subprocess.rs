//! Sessions as processes of their own: slower to start, isolated, and as another user if wanted.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::last_words::Secrets;
use crate::launch::{
    BoxFuture, Health, LaunchError, Launcher, OWNER_VARIABLE, OpenOrder, RunEnd, RunOrder,
    RunningSession, SessionStart,
};

const IN_FLIGHT: usize = 256;
/// No line of a session is longer than a MiB; a longer one is not a session's.
const LONGEST_LINE: usize = 8 * 1024 * 1024;
/// How much of what a session says on standard error is kept.
const KEPT_STDERR: usize = 8 * 1024;
/// How long a session may take to end when it is told to.
const LEAVE: Duration = Duration::from_secs(5);
/// How long the pipes of a session that has ended are read while nothing comes: what it started
/// may hold them open.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// What shells add to the number of a signal that ended a process.
const SIGNALLED: i32 = 128;

/// Starts sessions as processes.
#[derive(Clone, Debug)]
pub struct Subprocess {
    /// The program.
    pub program: PathBuf,
    /// Its environment, whole.
    pub environment: Vec<(OsString, OsString)>,
    /// Where files lie that a session reads once at its start.
    pub scratch: PathBuf,
    /// Who sessions run as, when it is not the host's own user.
    pub run_as: Option<RunAs>,
    /// An address that answers when the model's provider is there.
    pub probe_address: Option<String>,
}

/// Another user for sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunAs {
    /// The user's number.
    pub uid: u32,
    /// The group's number.
    pub gid: u32,
    /// Where the user is at home.
    pub home: PathBuf,
}

impl Launcher for Subprocess {
    fn launch(&self, order: RunOrder) -> BoxFuture<'_, Result<RunningSession, LaunchError>> {
        Box::pin(async move {
            let papers = self.papers(&order).map_err(|error| {
                LaunchError::new(format!("The session's settings could not be written: {error}."))
            })?;
            let mut secrets = self.secrets(&order.environment);
            order.mcp_servers.values().for_each(|server| secrets.note_server(server));
            let (cwd, variables, owner) = (&order.cwd, &BTreeMap::new(), order.owner.as_deref());
            let start = Start { cwd, variables, papers, secrets, owner };
            self.start(&arguments(&order), start)
        })
    }

    fn open(&self, order: OpenOrder) -> BoxFuture<'_, Result<RunningSession, LaunchError>> {
        Box::pin(async move {
            let secrets = self.secrets(&order.environment);
            let (cwd, variables, owner) = (&order.cwd, &order.environment, order.owner.as_deref());
            let start = Start { cwd, variables, papers: Vec::new(), secrets, owner };
            self.start(&order.arguments, start)
        })
    }

    fn probe(&self, _model: &str) -> BoxFuture<'_, Health> {
        Box::pin(async move {
            let Some(address) = self.probe_address.clone() else { return Health::Up };
            let connecting = tokio::net::TcpStream::connect(address);
            match tokio::time::timeout(LEAVE, connecting).await {
                Ok(Ok(_)) => Health::Up,
                Ok(Err(_)) | Err(_) => Health::Down,
            }
        })
    }
}

/// What a session is started with beside its arguments.
struct Start<'a> {
    cwd: &'a Path,
    variables: &'a BTreeMap<String, String>,
    papers: Vec<(OsString, PathBuf)>,
    secrets: Secrets,
    owner: Option<&'a str>,
}

impl Subprocess {
    fn start(&self, arguments: &[String], start: Start<'_>) -> Result<RunningSession, LaunchError> {
        let Start { cwd, variables, papers, secrets, owner } = start;
        let mut command = Command::new(&self.program);
        command
            .args(arguments)
            .args(papers.iter().flat_map(|(flag, path)| [flag.as_os_str(), path.as_os_str()]))
            .env_clear()
            .envs(self.environment.iter().cloned())
            .env("CLAUDE_CODE_SDK_READS_SESSION_STATE", "1")
            .env("CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING", "true")
            .env("CLAUDE_CODE_ENTRYPOINT", "tillerman-host")
            // What it says last is shown to people.
            .env("TILLERMAN_LOG_FORMAT", "text")
            .envs(variables)
            .env(OWNER_VARIABLE, owner.unwrap_or_default())
            .current_dir(cwd)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        if let Some(run_as) = &self.run_as {
            command.uid(run_as.uid).gid(run_as.gid).env("HOME", &run_as.home);
        }
        let mut child = command.spawn().map_err(|error| explain(&error, &self.program, cwd))?;
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(LaunchError::new("The session has no pipes."));
        };
        let (inbound, to_write) = mpsc::channel(IN_FLIGHT);
        let (read, outbound) = mpsc::channel(IN_FLIGHT);
        let stop = CancellationToken::new();
        let process = Process { child, stop: stop.clone(), papers, secrets };
        let ended = Box::pin(process.attend(Pipes { stdin, stdout, stderr }, to_write, read));
        Ok(RunningSession { inbound, outbound, stop, ended })
    }

    /// What a session knows and nobody is to read in its last words.
    fn secrets(&self, variables: &BTreeMap<String, String>) -> Secrets {
        let mut secrets = Secrets::default();
        for (name, value) in &self.environment {
            secrets.note(&name.to_string_lossy(), &value.to_string_lossy());
        }
        variables.iter().for_each(|(name, value)| secrets.note(name, value));
        secrets
    }

    /// Settings and servers go in files, since a command line is open to every user.
    fn papers(&self, order: &RunOrder) -> std::io::Result<Vec<(OsString, PathBuf)>> {
        let mut papers = Vec::new();
        if !order.environment.is_empty() {
            let settings = json!({"env": order.environment});
            papers.push((OsString::from("--settings"), self.write_paper(&settings)?));
        }
        if !order.mcp_servers.is_empty() {
            let servers = json!({"mcpServers": order.mcp_servers});
            papers.push((OsString::from("--mcp-config"), self.write_paper(&servers)?));
        }
        Ok(papers)
    }

    fn write_paper(&self, content: &Value) -> std::io::Result<PathBuf> {
        use std::os::unix::fs::OpenOptionsExt as _;
        std::fs::create_dir_all(&self.scratch)?;
        let path = self.scratch.join(format!("{}.json", uuid_text()?));
        let mut options = std::fs::OpenOptions::new();
        let mut file = options.write(true).create_new(true).mode(0o600).open(&path)?;
        file.write_all(content.to_string().as_bytes())?;
        if let Some(run_as) = &self.run_as {
            std::os::unix::fs::chown(&path, Some(run_as.uid), Some(run_as.gid))?;
        }
        Ok(path)
    }
}

fn uuid_text() -> std::io::Result<String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).map_err(|error| std::io::Error::other(error.to_string()))?;
    Ok(uuid::Builder::from_random_bytes(bytes).into_uuid().to_string())
}

/// The command line of a session, without what is secret.
fn arguments(order: &RunOrder) -> Vec<String> {
    let mut all: Vec<String> = [
        "--output-format=stream-json",
        "--verbose",
        "--input-format=stream-json",
        "--include-partial-messages",
        "--permission-prompt-tool=stdio",
    ]
    .map(str::to_owned)
    .into();
    all.push(format!("--permission-mode={}", order.permission_mode));
    match &order.session {
        SessionStart::Begin(id) => all.push(format!("--session-id={id}")),
        SessionStart::Resume(id) => all.push(format!("--resume={id}")),
        SessionStart::ResumeBefore { session, message } => {
            all.push(format!("--resume={session}"));
            all.push(format!("--resume-drops-turn={message}"));
        }
    }
    all.extend(order.model.iter().map(|model| format!("--model={model}")));
    all.extend(order.max_budget_usd.map(|most| format!("--max-budget-usd={most}")));
    all.extend(order.guarded_paths.iter().map(|path| format!("--guard={path}")));
    if order.may_bypass {
        all.push("--allow-dangerously-skip-permissions".to_owned());
    }
    for (flag, rules) in
        [("--allowedTools", &order.allowed_tools), ("--disallowedTools", &order.disallowed_tools)]
    {
        if !rules.is_empty() {
            all.push(flag.to_owned());
            all.extend(rules.iter().cloned());
        }
    }
    all
}

fn explain(error: &std::io::Error, program: &Path, cwd: &Path) -> LaunchError {
    let message = if cwd.is_dir() {
        format!("{} could not be started: {error}.", program.display())
    } else {
        format!(
            "The working directory {} is not there. Bring it back, or begin a conversation in \
             another directory.",
            cwd.display()
        )
    };
    LaunchError::new(message)
}

/// What leads into and out of a process.
struct Pipes {
    stdin: ChildStdin,
    stdout: ChildStdout,
    stderr: ChildStderr,
}

/// A process that is a session.
struct Process {
    child: Child,
    stop: CancellationToken,
    papers: Vec<(OsString, PathBuf)>,
    secrets: Secrets,
}

impl Process {
    async fn attend(
        mut self,
        pipes: Pipes,
        to_write: mpsc::Receiver<Value>,
        read: mpsc::Sender<Value>,
    ) -> RunEnd {
        let Pipes { stdin, stdout, stderr } = pipes;
        let group = self.child.id();
        let stop = self.stop.clone();
        let exited = CancellationToken::new();
        let mut said = Vec::new();
        let work = async {
            // The end of the process ends the writing, for which nobody else would see to it.
            let ending = async {
                let status = tokio::select! {
                    status = self.child.wait() => status,
                    never = write_lines(stdin, to_write) => match never {},
                };
                exited.cancel();
                status
            };
            let reading = read_lines(stdout, read, &exited);
            let (status, (), ()) =
                tokio::join!(ending, reading, keep_end(stderr, &mut said, &exited));
            status
        };
        let ended = tokio::select! {
            ended = work => Some(ended),
            () = leave(&stop, group) => None,
        };
        for (_, path) in &self.papers {
            // A file that is gone already is as good.
            drop(std::fs::remove_file(path));
        }
        let message = self.secrets.last_words(&said);
        match ended {
            Some(Ok(status)) => {
                use std::os::unix::process::ExitStatusExt as _;
                let signal = status.signal().map_or(1, |signal| SIGNALLED + signal);
                let exit_code = status.code().unwrap_or(signal);
                RunEnd { is_orderly: status.success(), message, exit_code }
            }
            Some(Err(error)) => {
                let message = format!("{message}\n{error}");
                RunEnd { is_orderly: false, message, exit_code: 1 }
            }
            None => RunEnd { is_orderly: true, ..RunEnd::default() },
        }
    }
}

/// Waits to be told, then ends the process: politely first, then its whole group.
async fn leave(stop: &CancellationToken, group: Option<u32>) {
    use rustix::process::{Pid, Signal, kill_process, kill_process_group};
    stop.cancelled().await;
    let pid = group.and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    let Some(pid) = pid else { return };
    if kill_process(pid, Signal::TERM).is_err() {
        return;
    }
    // Usually the process ends and with it this wait, which loses the race then.
    tokio::time::sleep(LEAVE).await;
    if let Err(error) = kill_process_group(pid, Signal::KILL) {
        tracing::debug!(%error, "a session that had to end was gone already");
    }
}

/// Hands frames to the session until there are no more, then closes its input; never ends.
async fn write_lines(mut stdin: ChildStdin, mut frames: mpsc::Receiver<Value>) -> Infallible {
    while let Some(frame) = frames.recv().await {
        let line = format!("{frame}\n");
        if stdin.write_all(line.as_bytes()).await.is_err() {
            break;
        }
    }
    drop(stdin);
    std::future::pending().await
}

async fn read_lines(stdout: ChildStdout, frames: mpsc::Sender<Value>, exited: &CancellationToken) {
    let mut reader = BufReader::new(stdout);
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut limited = (&mut reader).take(LONGEST_LINE as u64);
        let count = tokio::select! {
            biased;
            count = limited.read_until(b'\n', &mut line) => count,
            () = quiet(exited) => return,
        };
        if matches!(count, Ok(0) | Err(_)) {
            return;
        }
        let Ok(frame) = serde_json::from_slice(&line) else {
            tracing::warn!("a session printed a line that is not a frame");
            continue;
        };
        if frames.send(frame).await.is_err() {
            return;
        }
    }
}

/// Keeps the end of what is said on standard error.
async fn keep_end(mut stderr: ChildStderr, kept: &mut Vec<u8>, exited: &CancellationToken) {
    let mut chunk = [0_u8; 2_048];
    loop {
        let count = tokio::select! {
            biased;
            count = stderr.read(&mut chunk) => count,
            () = quiet(exited) => return,
        };
        let Ok(count @ 1..) = count else { return };
        kept.extend_from_slice(&chunk[..count]);
        let surplus = kept.len().saturating_sub(KEPT_STDERR);
        kept.drain(..surplus);
    }
}

/// Waits until the process has ended and then some.
async fn quiet(exited: &CancellationToken) {
    exited.cancelled().await;
    tokio::time::sleep(LAST_WORDS).await;
}
