//! Sessions in a process of their own, over its standard streams.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use rustix::process::{Pid, Signal};
use tillerman_ports::BoxFuture;
use tillerman_protocol::frame::Frame;
use tokio::io::{AsyncRead, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdin};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::error::{Error, ErrorKind, Result};
use crate::transport::launch::Launch;
use crate::transport::lines::{Line, next_line};
use crate::transport::link::{Ending, Incoming, Link, Outgoing, Transport};
use crate::transport::program::start;

const OUTGOING: usize = 64;
const INCOMING: usize = 256;
const BUFFER: usize = 1 << 16;
const LONGEST_STDERR_LINE: usize = 1 << 16;
/// How long output that is still in a pipe may take to arrive once the process has ended.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// How long a process that was told to end may take before it is killed.
const TERMINATION: Duration = Duration::from_secs(5);

/// A program that speaks stream-json: `tillerman`, or the official CLI.
///
/// Without a path it is found: `tillerman`, then `claude`, in `PATH` and in the usual places.
///
/// A program that does not say in its `--version` that it is Tillerman is never given what only
/// Tillerman understands: options such as [`guard`](crate::Options::guard) are then an error of the
/// kind [`Unsupported`](ErrorKind::Unsupported), and nothing is started.
#[derive(Clone, Debug, Default)]
pub struct Subprocess {
    program: Option<PathBuf>,
}

impl Subprocess {
    /// A program that is found.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// This program.
    pub fn at(program: impl Into<PathBuf>) -> Self {
        Self { program: Some(program.into()) }
    }
}

impl Transport for Subprocess {
    fn name(&self) -> &'static str {
        "subprocess"
    }

    fn runs_programs(&self) -> bool {
        true
    }

    fn has_stderr(&self) -> bool {
        true
    }

    fn open(&self, launch: Launch) -> BoxFuture<Result<Link>> {
        let named = launch.program.clone().or_else(|| self.program.clone());
        Box::pin(async move {
            let child = start(named, &launch).await?;
            link(child, &launch)
        })
    }
}

fn link(mut child: Child, launch: &Launch) -> Result<Link> {
    let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(stdin), Some(stdout), Some(stderr)) = streams else {
        return Err(Error::new(ErrorKind::Connection, "the process has no standard streams"));
    };
    let (outgoing, orders) = mpsc::channel(OUTGOING);
    let (sayings, incoming) = mpsc::channel(INCOMING);
    let mut readers = JoinSet::new();
    readers.spawn(read_frames(stdout, sayings.clone(), launch.max_line_bytes));
    readers.spawn(read_stderr(stderr, sayings.clone()));
    let keeper = Keeper { child, stdin: Some(stdin), readers, sayings, grace: launch.grace };
    let mut tasks = JoinSet::new();
    tasks.spawn(keeper.keep(orders));
    Ok(Link::new(outgoing, incoming, tasks))
}

/// Owns the process: writes to it, waits for it and, if need be, ends it.
struct Keeper {
    child: Child,
    stdin: Option<ChildStdin>,
    readers: JoinSet<()>,
    sayings: mpsc::Sender<Incoming>,
    grace: Duration,
}

impl Keeper {
    async fn keep(mut self, mut orders: mpsc::Receiver<Outgoing>) {
        let status = loop {
            let order = tokio::select! {
                status = self.child.wait() => break status,
                order = orders.recv() => order,
            };
            match order {
                Some(Outgoing::Frame(frame)) => self.write(&frame).await,
                Some(Outgoing::EndInput) => self.stdin = None,
                Some(Outgoing::Stop) | None => break self.end().await,
            }
        };
        let drained = async { while self.readers.join_next().await.is_some() {} };
        if timeout(LAST_WORDS, drained).await.is_err() {
            // Something that outlives the process holds its streams; nothing of it is for us.
            self.readers.abort_all();
        }
        let ending = match status {
            Ok(status) => Ending::exited(status.code().or_else(|| signal_code(status))),
            Err(error) => {
                let text = "the process cannot be waited for";
                Ending::failed(Error::new(ErrorKind::Process, text).because(error))
            }
        };
        drop(self.sayings.send(Incoming::Ended(ending)).await);
    }

    /// A process that no longer reads is about to end, and its end says more than a broken pipe.
    async fn write(&mut self, frame: &Frame) {
        let Some(stdin) = &mut self.stdin else { return };
        let Ok(mut line) = serde_json::to_vec(frame) else { return };
        line.push(b'\n');
        let written = tokio::select! {
            written = stdin.write_all(&line) => written,
            // Checked again by the loop; here it only frees a write that nobody reads.
            _ = self.child.wait() => return self.stdin = None,
        };
        if written.is_err() || stdin.flush().await.is_err() {
            self.stdin = None;
        }
    }

    /// First asks, then insists.
    async fn end(&mut self) -> io::Result<std::process::ExitStatus> {
        self.stdin = None;
        if let Ok(status) = timeout(self.grace, self.child.wait()).await {
            return status;
        }
        let id = self.child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        if let Some(id) = id {
            let _is_gone = rustix::process::kill_process(id, Signal::TERM).is_err();
        }
        if let Ok(status) = timeout(TERMINATION, self.child.wait()).await {
            return status;
        }
        self.child.kill().await?;
        self.child.wait().await
    }
}

fn signal_code(status: std::process::ExitStatus) -> Option<i32> {
    use std::os::unix::process::ExitStatusExt as _;
    status.signal().map(|signal| 128 + signal)
}

async fn read_frames(
    stdout: impl AsyncRead + Unpin,
    sayings: mpsc::Sender<Incoming>,
    longest: usize,
) {
    let mut reader = BufReader::with_capacity(BUFFER, stdout);
    let mut line = Vec::new();
    loop {
        line.clear();
        let saying = match next_line(&mut reader, &mut line, longest).await {
            Ok(Line::End) | Err(_) => return,
            Ok(Line::TooLong(length)) => Incoming::Unreadable(too_long(length, longest)),
            // Programs may print other things; only objects are frames.
            Ok(Line::Whole) if line.trim_ascii_start().first() != Some(&b'{') => continue,
            Ok(Line::Whole) => read_frame(&line),
        };
        if sayings.send(saying).await.is_err() {
            return;
        }
    }
}

/// Reads one line as a frame.
pub(crate) fn read_frame(line: &[u8]) -> Incoming {
    match serde_json::from_slice::<Frame>(line) {
        Ok(frame) => Incoming::Frame(Box::new(frame)),
        Err(error) => {
            let text = format!(
                "a line of {} bytes is no frame and was skipped; the session goes on",
                line.len()
            );
            Incoming::Unreadable(Error::new(ErrorKind::Decode, text).because(error))
        }
    }
}

/// A line nobody should have written.
pub(crate) fn too_long(length: usize, longest: usize) -> Error {
    let text = format!(
        "a line of {length} bytes was skipped, since {longest} are allowed; the session goes on; \
         raise `max_line_bytes` to read such lines"
    );
    Error::new(ErrorKind::Decode, text)
}

async fn read_stderr(stderr: impl AsyncRead + Unpin, sayings: mpsc::Sender<Incoming>) {
    let mut reader = BufReader::new(stderr);
    let mut line = Vec::new();
    loop {
        line.clear();
        match next_line(&mut reader, &mut line, LONGEST_STDERR_LINE).await {
            Ok(Line::End) | Err(_) => return,
            Ok(Line::TooLong(_)) => continue,
            Ok(Line::Whole) => {}
        }
        let text = String::from_utf8_lossy(&line).trim_end().to_owned();
        if !text.is_empty() && sayings.send(Incoming::Stderr(text)).await.is_err() {
            return;
        }
    }
}
