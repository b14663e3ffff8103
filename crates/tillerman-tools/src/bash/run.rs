//! Running one command to its end, whatever that end is.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::Pid;
use tillerman_ports::{Bounds, Confiner, Exchange, Hold, PlainCommand};
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe::Receiver;
use tokio::process::{Child, Command};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use super::directory::read_final_directory;
use super::tree::{CallMark, MARK, Tree};
use crate::config::ToolConfig;
use crate::files::{RemovedOnDrop, make_private_directory};

const CHUNK: usize = 64 * 1024;
/// How long output may still arrive once the shell has ended; whoever holds the pipe longer is
/// left behind.
const PIPE_GRACE: Duration = Duration::from_millis(100);
/// How long processes that have closed the pipe may take to end before they count as left behind.
const SETTLING: Duration = Duration::from_millis(30);
const TIMEOUT_GRACE: Duration = Duration::from_secs(2);
const CANCEL_GRACE: Duration = Duration::from_millis(300);
/// How long a killed shell may take to be gone, as when it hangs in the kernel.
const REAP_WAIT: Duration = Duration::from_secs(2);
const FALLBACK_SHELL: &str = "/bin/sh";
/// Tells programs that an agent runs them; many print less then, or ask nothing.
const BY_AGENT: &str = "CLAUDECODE";

/// Writes the last directory to a file of its own, so that neither output nor exit code change.
/// The positional parameters are gone before the command sees them, and so is the file in which
/// hooks leave variables. All of it is one line, so that the shell counts the lines of the command
/// from 1 when it complains.
const WRAPPER: &str = concat!(
    "__tillerman_cwd=$1; __tillerman_command=$2; shift 2; ",
    r#"if [ -r "${CLAUDE_ENV_FILE-}" ]; then . "$CLAUDE_ENV_FILE" >/dev/null 2>&1; fi; "#,
    "unset CLAUDE_ENV_FILE; ",
    r#"trap '{ pwd -P >"$__tillerman_cwd"; } 2>/dev/null' EXIT; "#,
    r#"eval "$__tillerman_command""#,
);

/// Where a command's output goes.
pub(crate) trait Sink: Send + Sync {
    /// Takes in the next piece.
    fn push(&mut self, piece: &[u8]) -> impl Future<Output = ()> + Send;

    /// Waits until the output is to go elsewhere, which for most is never.
    fn is_called_away(&self) -> impl Future<Output = ()> + Send {
        std::future::pending()
    }

    /// Goes elsewhere, if it was called.
    fn leave(&mut self) -> impl Future<Output = ()> + Send {
        std::future::ready(())
    }

    /// Whether the command has said more than any command may.
    fn is_over_limit(&self) -> bool;
}

/// One command to run.
#[derive(Debug)]
pub(crate) struct Job<'a> {
    /// Names the call among all others.
    pub(crate) mark: CallMark,
    /// The session's settings.
    pub(crate) config: &'a ToolConfig,
    /// The text for the shell.
    pub(crate) command: &'a str,
    /// Where it starts.
    pub(crate) directory: &'a Path,
    /// How long it may take.
    pub(crate) timeout: Duration,
    /// Fires when it has taken too long already.
    pub(crate) overdue: &'a CancellationToken,
    /// Fires when it is to end.
    pub(crate) cancel: &'a CancellationToken,
    /// Variables it must have beside those of the session.
    pub(crate) environment: &'a [(String, String)],
    /// Where it runs, in a session that confines its commands.
    pub(crate) bounds: Bounds,
}

impl Job<'_> {
    /// What confines the command, if anything does.
    fn confiner(&self) -> Option<&dyn Confiner> {
        let confiner = self.config.confiner.as_deref();
        confiner.filter(|_| self.bounds == Bounds::Confined)
    }
}

/// How a command came to its end.
#[derive(Debug)]
pub(crate) enum Ending {
    /// By itself.
    Exited(ExitStatus),
    /// It took too long.
    TimedOut,
    /// Somebody asked for it.
    Cancelled,
    /// It said too much.
    TooMuchOutput,
    /// Nobody knows, because the system would not tell.
    Lost(io::Error),
}

impl Ending {
    /// How long what is to be stopped may take to end in its own way.
    fn grace(&self) -> Duration {
        match self {
            Self::TimedOut | Self::TooMuchOutput => TIMEOUT_GRACE,
            Self::Exited(_) | Self::Cancelled | Self::Lost(_) => CANCEL_GRACE,
        }
    }
}

/// A command that has ended.
#[derive(Debug)]
pub(crate) struct Finished<S> {
    /// How it ended.
    pub(crate) ending: Ending,
    /// What it said.
    pub(crate) sink: S,
    /// Where the shell was at its end, if it could say.
    pub(crate) directory: Option<PathBuf>,
    /// Whether it ended by itself but left processes running, which are stopped now.
    pub(crate) left_processes: bool,
    /// What its confinement refused, each as a sentence.
    pub(crate) violations: Vec<String>,
}

/// Why a command could not be started.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartCommandError {
    /// There is no place for its output.
    #[error("the directory {} for large outputs could not be made", path.display())]
    Scratch { path: PathBuf, source: io::Error },
    /// The pipe for its output could not be made.
    #[error("no pipe could be made")]
    Pipe(#[source] io::Error),
    /// The shell did not start.
    #[error("the shell {} could not be started", shell.display())]
    Shell { shell: PathBuf, source: io::Error },
    /// It cannot be confined.
    #[error("{0}")]
    Confinement(String),
}

/// Runs a command and everything it starts to the end.
///
/// # Cancel safety
/// Dropping the future kills every process of the command.
pub(crate) async fn run<S: Sink>(
    job: Job<'_>,
    mut sink: S,
) -> Result<Finished<S>, StartCommandError> {
    let scratch = &job.config.scratch_directory;
    make_private_directory(scratch)
        .map_err(|source| StartCommandError::Scratch { path: scratch.clone(), source })?;
    let name = format!("cwd-{}", job.mark.as_str());
    let exchange = job.confiner().map_or_else(
        || Exchange { outside: scratch.clone(), inside: scratch.clone() },
        Confiner::exchange,
    );
    let cwd_file = RemovedOnDrop::new(exchange.outside.join(&name));
    let Started { reader, mut child, hold } = start(&job, &exchange.inside.join(&name))?;
    let mut tree = child
        .id()
        .and_then(|id| Pid::from_raw(id.cast_signed()))
        .map(|leader| Tree::new(leader, job.mark.clone()));
    let mut pipe = Pipe::new(reader).map_err(StartCommandError::Pipe)?;
    let ending = follow(&job, &mut child, &mut pipe, &mut sink).await;
    let mut left_processes = false;
    let mut directory = None;
    match ending {
        Ending::Exited(_) => {
            pipe.drain(&mut sink).await;
            directory = read_final_directory(cwd_file.path());
            if let Some(tree) = &mut tree
                && !tree.ends_within(SETTLING).await
            {
                left_processes = true;
                stop(tree, CANCEL_GRACE, &mut pipe, &mut sink).await;
            }
        }
        Ending::TimedOut | Ending::TooMuchOutput | Ending::Cancelled | Ending::Lost(_) => {
            if let Some(tree) = &mut tree {
                stop(tree, ending.grace(), &mut pipe, &mut sink).await;
            }
            pipe.drain(&mut sink).await;
            tokio::time::timeout(REAP_WAIT, child.wait()).await.ok();
        }
    }
    let violations = hold.map(Hold::finish).unwrap_or_default();
    Ok(Finished { ending, sink, directory, left_processes, violations })
}

/// A command that runs.
struct Started {
    reader: io::PipeReader,
    child: Child,
    hold: Option<Box<dyn Hold>>,
}

fn start(job: &Job<'_>, cwd_file: &Path) -> Result<Started, StartCommandError> {
    let shell = &job.config.shell;
    let shell = if shell.exists() { shell } else { Path::new(FALLBACK_SHELL) };
    let (reader, writer) = io::pipe().map_err(StartCommandError::Pipe)?;
    let second_writer = writer.try_clone().map_err(StartCommandError::Pipe)?;
    let (mut command, hold) = match job.confiner() {
        Some(confiner) => confined_shell(job, confiner, cwd_file, shell)?,
        None => (plain_shell(job, cwd_file, shell), None),
    };
    command
        .current_dir(job.directory)
        .stdin(Stdio::null())
        .stdout(writer)
        .stderr(second_writer)
        .process_group(0)
        .kill_on_drop(true);
    let child = command
        .spawn()
        .map_err(|source| StartCommandError::Shell { shell: shell.to_path_buf(), source })?;
    // The command still holds the writing ends; they close here, so that the pipe can end.
    drop(command);
    Ok(Started { reader, child, hold })
}

fn plain_shell(job: &Job<'_>, cwd_file: &Path, shell: &Path) -> Command {
    let mut command = Command::new(shell);
    command
        .args(shell_arguments(job, cwd_file, shell))
        .env_clear()
        .envs(job.config.environment.iter().map(|(name, value)| (name, value)))
        .envs(variables(job));
    command
}

fn confined_shell(
    job: &Job<'_>,
    confiner: &dyn Confiner,
    cwd_file: &Path,
    shell: &Path,
) -> Result<(Command, Option<Box<dyn Hold>>), StartCommandError> {
    let confined = confiner
        .confine(PlainCommand {
            program: shell,
            arguments: &shell_arguments(job, cwd_file, shell),
            directory: job.directory,
            environment: &variables(job),
            text: job.command,
        })
        .map_err(StartCommandError::Confinement)?;
    let mut command = Command::new(confined.program);
    command.args(confined.arguments).env_clear().envs(confined.environment);
    Ok((command, Some(confined.hold)))
}

fn shell_arguments(job: &Job<'_>, cwd_file: &Path, shell: &Path) -> Vec<OsString> {
    let is_bash = shell.file_name().is_some_and(|name| name == "bash");
    let quiet = ["--noprofile", "--norc"].into_iter().filter(|_| is_bash).map(OsString::from);
    let name = shell.file_name().unwrap_or(shell.as_os_str());
    quiet
        .chain([
            "-c".into(),
            WRAPPER.into(),
            name.to_owned(),
            cwd_file.as_os_str().to_owned(),
            job.command.into(),
        ])
        .collect()
}

/// What the command has in its environment beside what every command of the session has.
fn variables(job: &Job<'_>) -> Vec<(OsString, OsString)> {
    let inherited = job.config.environment.iter().find(|(name, _)| name == MARK);
    let outer = inherited.and_then(|(_, mark)| mark.to_str());
    let given = job.environment.iter().map(|(name, value)| (name.into(), value.into()));
    let own = [(MARK.into(), job.mark.value(outer).into()), (BY_AGENT.into(), "1".into())];
    given.chain(own).collect()
}

/// Takes in output until the shell ends or has to.
async fn follow(job: &Job<'_>, child: &mut Child, pipe: &mut Pipe, sink: &mut impl Sink) -> Ending {
    let mut deadline = pin!(tokio::time::sleep(job.timeout));
    loop {
        tokio::select! {
            biased;
            () = job.cancel.cancelled() => return Ending::Cancelled,
            () = &mut deadline => return Ending::TimedOut,
            () = job.overdue.cancelled() => return Ending::TimedOut,
            () = sink.is_called_away() => sink.leave().await,
            status = child.wait() => return status.map_or_else(Ending::Lost, Ending::Exited),
            () = pipe.readable_piece(), if pipe.open => {
                pipe.pass_on(sink).await;
                if sink.is_over_limit() {
                    return Ending::TooMuchOutput;
                }
            }
        }
    }
}

/// Stops the tree while still taking in output, since a process that cannot write cannot end.
async fn stop(tree: &mut Tree, grace: Duration, pipe: &mut Pipe, sink: &mut impl Sink) {
    let mut stopping = pin!(tree.stop(grace));
    loop {
        tokio::select! {
            biased;
            () = &mut stopping => return,
            () = pipe.readable_piece(), if pipe.open => {
                if !sink.is_over_limit() {
                    pipe.pass_on(sink).await;
                }
            }
        }
    }
}

/// The reading end of the command's output.
struct Pipe {
    receiver: Receiver,
    buffer: Vec<u8>,
    filled: usize,
    open: bool,
}

impl Pipe {
    fn new(reader: io::PipeReader) -> io::Result<Self> {
        let receiver = Receiver::from_owned_fd(reader.into())?;
        Ok(Self { receiver, buffer: vec![0; CHUNK], filled: 0, open: true })
    }

    /// Waits for a piece or the end.
    ///
    /// # Cancel safety
    /// Nothing is lost when the future is dropped.
    async fn readable_piece(&mut self) {
        self.filled = self.receiver.read(&mut self.buffer).await.unwrap_or(0);
        self.open = self.filled > 0;
    }

    async fn pass_on(&mut self, sink: &mut impl Sink) {
        let filled = std::mem::take(&mut self.filled);
        sink.push(&self.buffer[..filled]).await;
    }

    /// Takes in what is left, as long as it comes at once.
    async fn drain(&mut self, sink: &mut impl Sink) {
        let deadline = Instant::now() + PIPE_GRACE;
        while self.open && !sink.is_over_limit() {
            if timeout_at(deadline, self.readable_piece()).await.is_err() {
                break;
            }
            self.pass_on(sink).await;
        }
    }
}
