//! Servers that are child processes, spoken to over their standard streams.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::Stdio as Pipe;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tillerman_protocol::mcp::StdioMcpServer;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use super::group::Group;
use super::lines::Lines;
use super::message::{Ear, Heard, LONGEST_MESSAGE, line_of};
use crate::board::{LastWords, locked};
use crate::connect::broken;

/// Messages on their way to a server that does not read.
const OUTGOING: usize = 64;
/// How much of what a server says on standard error is kept for when it fails.
const KEPT: usize = 2_000;
/// How long a server whose output has ended may take to end itself, so that its code is known.
const LAST_MOMENT: Duration = Duration::from_millis(500);

/// Why a child could not be started.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartChildError {
    #[error("{command} could not be started: {source}")]
    Spawn { command: String, source: io::Error },
    #[error("{command} was started without its standard streams")]
    Streams { command: String },
}

/// A child process and the streams to it.
#[derive(Debug)]
pub(crate) struct Stdio {
    group: Group,
    lines: Lines<ChildStdout>,
    ear: Ear,
    outgoing: Option<mpsc::Sender<Outgoing>>,
    /// Writes to the child and reads what it complains about.
    tasks: JoinSet<()>,
    complaints: Arc<Mutex<Vec<u8>>>,
    words: LastWords,
}

struct Outgoing {
    line: Vec<u8>,
    written: oneshot::Sender<io::Result<()>>,
}

impl Stdio {
    /// Starts a server in its own process group with the given environment and its own variables.
    pub(crate) fn start(
        server: &StdioMcpServer,
        environment: &[(OsString, OsString)],
        cwd: &Path,
        words: LastWords,
    ) -> Result<Self, StartChildError> {
        let command = || server.command.clone();
        let mut child = Command::new(&server.command)
            .args(&server.args)
            .env_clear()
            .envs(environment.iter().map(|(name, value)| (name, value)))
            .envs(&server.env)
            .current_dir(cwd)
            .process_group(0)
            .kill_on_drop(true)
            .stdin(Pipe::piped())
            .stdout(Pipe::piped())
            .stderr(Pipe::piped())
            .spawn()
            .map_err(|source| StartChildError::Spawn { command: command(), source })?;
        let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(input), Some(output), Some(errors)) = streams else {
            return Err(StartChildError::Streams { command: command() });
        };
        let complaints = Arc::default();
        let (outgoing, lines) = mpsc::channel(OUTGOING);
        let mut tasks = JoinSet::new();
        tasks.spawn(write(input, lines));
        tasks.spawn(listen(errors, Arc::clone(&complaints)));
        Ok(Self {
            group: Group::new(child),
            lines: Lines::new(output, LONGEST_MESSAGE),
            ear: Ear::default(),
            outgoing: Some(outgoing),
            tasks,
            complaints,
            words,
        })
    }

    /// Says how the server ended, with its own last complaint.
    async fn note_ending(&mut self) {
        let ending = self.group.ending(LAST_MOMENT).await;
        let mut text = ending.map_or_else(
            || "it closed its output".to_owned(),
            |status| format!("it ended ({status})"),
        );
        let complaints = locked(&self.complaints).clone();
        let complaints = String::from_utf8_lossy(&complaints);
        if let Some(last) = complaints.lines().rev().find(|line| !line.trim().is_empty()) {
            text.push_str(&format!("; it said: {}", last.trim()));
        }
        self.words.say(text);
    }
}

impl Transport<RoleClient> for Stdio {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let outgoing = self.outgoing.clone();
        async move {
            let line = line_of(&item).map_err(io::Error::other)?;
            let outgoing = outgoing.ok_or_else(|| broken("the connection is closed"))?;
            let (written, done) = oneshot::channel();
            let gone = || broken("the server does not read any more");
            outgoing.send(Outgoing { line, written }).await.map_err(|_| gone())?;
            done.await.map_err(|_| gone())?
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            match self.lines.next().await {
                Ok(Some(line)) => match self.ear.hear(line) {
                    Heard::Message(message) => return Some(*message),
                    Heard::Noise => {}
                    Heard::TooMuchNoise => {
                        self.words.say("what it prints on standard output is not MCP");
                        return None;
                    }
                },
                Ok(None) => {
                    self.note_ending().await;
                    return None;
                }
                Err(error) => {
                    self.words.say(format!("its output is not MCP: {error}"));
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.outgoing = None;
        // The writer holds the child's input, which closes with it.
        self.tasks.abort_all();
        while self.tasks.join_next().await.is_some() {}
        self.group.end().await;
        Ok(())
    }
}

async fn write(mut input: ChildStdin, mut lines: mpsc::Receiver<Outgoing>) {
    while let Some(Outgoing { line, written }) = lines.recv().await {
        let outcome = input.write_all(&line).await;
        // A sender that gave up does not need to know.
        drop(written.send(outcome));
    }
}

/// Keeps the end of what a server says on standard error.
async fn listen(mut errors: ChildStderr, complaints: Arc<Mutex<Vec<u8>>>) {
    let mut chunk = vec![0; 4096];
    while let Ok(count) = errors.read(&mut chunk).await {
        if count == 0 {
            return;
        }
        let mut kept = locked(&complaints);
        kept.extend_from_slice(&chunk[..count]);
        let excess = kept.len().saturating_sub(KEPT);
        kept.drain(..excess);
    }
}
