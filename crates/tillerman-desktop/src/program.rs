//! Running a program to its end: found on the path, without a shell, within limits.

use std::ffi::OsString;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};
use tokio_util::sync::CancellationToken;

use crate::config::DesktopConfig;

/// How much of what a program complains about is kept.
const COMPLAINTS: usize = 8 * 1024;
const CHUNK: usize = 64 * 1024;

/// A program to run.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) directory: PathBuf,
    pub(crate) environment: Vec<(OsString, OsString)>,
    /// What it reads.
    pub(crate) input: Vec<u8>,
    /// What becomes of what it says and starts.
    pub(crate) manner: Manner,
    /// How long it may take.
    pub(crate) time: Duration,
    /// How many bytes it may say.
    pub(crate) bytes: usize,
}

/// What becomes of what a program says and starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// It is listened to, and nothing of it outlives the call.
    Listen,
    /// Nobody listens, and what it leaves behind goes on: a clipboard is served by a process, and
    /// an application that was opened is meant to stay.
    LetGo,
}

/// A program that has ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) status: ExitStatus,
    pub(crate) output: Vec<u8>,
    pub(crate) complaints: String,
}

/// Why a program did not come to its own end. The texts are for the model.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunError {
    #[error("{name} could not be started: {source}.")]
    Start { name: String, source: io::Error },
    #[error("{name} took longer than {} s and was ended.", .time.as_secs())]
    TooSlow { name: String, time: Duration },
    #[error("{name} said more than {bytes} bytes and was ended. Ask for less.")]
    TooMuch { name: String, bytes: usize },
    #[error("the call was interrupted, and {name} was ended.")]
    Cancelled { name: String },
    #[error("{name} could not be followed: {source}.")]
    Lost { name: String, source: io::Error },
}

/// Finds a program on the path. Programs below the root are passed over: whoever may write there
/// must not decide what runs.
pub(crate) fn find(config: &DesktopConfig, name: &str) -> Option<PathBuf> {
    let is_program = |path: &Path| {
        path.metadata().is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
    };
    let path = config.variable("PATH")?;
    let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
    folders.map(|folder| folder.join(name)).find(|program| {
        let real = program.canonicalize();
        is_program(program) && real.is_ok_and(|real| !real.starts_with(config.root()))
    })
}

impl Job {
    /// Runs it.
    ///
    /// # Cancel safety
    /// Dropping the future kills the program and its group.
    pub(crate) async fn run(self, cancel: &CancellationToken) -> Result<Ran, RunError> {
        let name = self.program.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut child =
            self.start().map_err(|source| RunError::Start { name: name.clone(), source })?;
        let mut group = Group::of(&child);
        let (time, bytes) = (self.time, self.bytes);
        let following = follow(&mut child, self.input, self.bytes);
        let ended = tokio::select! {
            ended = tokio::time::timeout(time, following) => ended,
            () = cancel.cancelled() => return Err(RunError::Cancelled { name }),
        };
        let ran = match ended {
            Err(_) => return Err(RunError::TooSlow { name, time }),
            Ok(Err(source)) => return Err(RunError::Lost { name, source }),
            Ok(Ok(None)) => return Err(RunError::TooMuch { name, bytes }),
            Ok(Ok(Some(ran))) => ran,
        };
        if self.manner == Manner::LetGo {
            group.leave();
        }
        Ok(ran)
    }

    fn start(&self) -> io::Result<Child> {
        let heard = || match self.manner {
            Manner::Listen => Stdio::piped(),
            Manner::LetGo => Stdio::null(),
        };
        let input = if self.input.is_empty() { Stdio::null() } else { Stdio::piped() };
        Command::new(&self.program)
            .args(&self.arguments)
            .current_dir(&self.directory)
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(input)
            .stdout(heard())
            .stderr(heard())
            .process_group(0)
            .kill_on_drop(self.manner == Manner::Listen)
            .spawn()
    }
}

/// Nothing when it said too much.
async fn follow(child: &mut Child, input: Vec<u8>, most: usize) -> io::Result<Option<Ran>> {
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let telling = async {
        if let Some(mut stdin) = stdin {
            // A program that does not want to hear all of it is free not to.
            stdin.write_all(&input).await.ok();
        }
    };
    let (heard, complaints, ()) =
        tokio::join!(listen(stdout, most), listen(stderr, COMPLAINTS), telling);
    let (output, mut complaints) = (heard?, complaints?);
    if output.len() > most {
        return Ok(None);
    }
    complaints.truncate(COMPLAINTS);
    let complaints = String::from_utf8_lossy(&complaints).trim().to_owned();
    let status = child.wait().await?;
    Ok(Some(Ran { status, output, complaints }))
}

/// Reads to the end, or until there is more than wanted.
async fn listen(from: Option<impl AsyncRead + Unpin>, most: usize) -> io::Result<Vec<u8>> {
    let mut heard = Vec::new();
    let Some(mut from) = from else { return Ok(heard) };
    let mut chunk = vec![0; CHUNK];
    while heard.len() <= most {
        match from.read(&mut chunk).await? {
            0 => break,
            count => heard.extend_from_slice(&chunk[..count]),
        }
    }
    Ok(heard)
}

/// The group of a program; what is left of it is killed when this goes away.
struct Group(Option<Pid>);

impl Group {
    fn of(child: &Child) -> Self {
        Self(child.id().and_then(|id| Pid::from_raw(id.cast_signed())))
    }

    /// Lets everything go on.
    const fn leave(&mut self) {
        self.0 = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(leader) = self.0 {
            // Nothing may be left of it, which is fine.
            kill_process_group(leader, Signal::KILL).ok();
        }
    }
}
