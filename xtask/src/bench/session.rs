//! Drives one process over its standard streams, with a deadline for everything.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, bail};
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;

/// Longer than any healthy process needs, so that a broken one cannot stop the benchmark.
const LIFETIME: Duration = Duration::from_secs(60);
const FAREWELL: Duration = Duration::from_secs(5);
const PENDING_LINES: usize = 256;

/// A running process with its own process group, which ends with this value.
#[derive(Debug)]
pub(crate) struct Session {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    log: PathBuf,
    started: Instant,
}

impl Session {
    /// Starts a command; its standard error goes to the file `log`.
    pub(crate) fn start(command: &mut Command, log: &Path) -> Result<Self> {
        let errors = std::fs::File::create(log)?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(errors).process_group(0);
        let started = Instant::now();
        let mut child = command.spawn().with_context(|| format!("cannot start {command:?}"))?;
        let stdout = child.stdout.take().context("the process has no standard output")?;
        let (sender, lines) = sync_channel(PENDING_LINES);
        std::thread::spawn(move || {
            let lines = BufReader::new(stdout).lines().map_while(std::io::Result::ok);
            for line in lines {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let stdin = child.stdin.take();
        Ok(Self { child, stdin, lines, log: log.to_path_buf(), started })
    }

    /// The process.
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    /// The time since the process was started.
    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Writes one frame.
    pub(crate) fn send(&mut self, frame: &Value) -> Result<()> {
        let stdin = self.stdin.as_mut().context("the input is closed already")?;
        let written = writeln!(stdin, "{frame}").and_then(|()| stdin.flush());
        written.map_err(|error| anyhow!("cannot write to the process: {error}{}", self.said()))
    }

    /// Waits for the next line.
    pub(crate) fn line(&self) -> Result<String> {
        let left = LIFETIME.saturating_sub(self.elapsed());
        self.lines.recv_timeout(left).map_err(|error| match error {
            RecvTimeoutError::Timeout => {
                let limit = LIFETIME.as_secs();
                anyhow!("the process was too slow and was ended after {limit} s{}", self.said())
            }
            RecvTimeoutError::Disconnected => {
                anyhow!("the process ended before it answered{}", self.said())
            }
        })
    }

    /// Waits for the next frame of a type; other frames and lines are passed over.
    pub(crate) fn frame(&self, kind: &str) -> Result<Value> {
        loop {
            let frame: Value = serde_json::from_str(&self.line()?).unwrap_or_default();
            if frame["type"] == kind {
                return Ok(frame);
            }
        }
    }

    /// Waits for a result and makes sure that it is a good one: a failure may be fast.
    pub(crate) fn result(&self) -> Result<()> {
        let result = self.frame("result")?;
        if result["is_error"] == true || result["subtype"] != "success" {
            bail!("the turn failed: {result}{}", self.said());
        }
        Ok(())
    }

    /// Closes the input and gives the process a moment to leave by itself.
    pub(crate) fn finish(mut self) {
        drop(self.stdin.take());
        let deadline = Instant::now() + FAREWELL;
        // The output closes when the process ends, which needs no polling.
        while let Some(left) = deadline.checked_duration_since(Instant::now()) {
            if self.lines.recv_timeout(left).is_err() {
                break;
            }
        }
    }

    /// The end of what the process wrote to its standard error, for messages.
    fn said(&self) -> String {
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        let tail = &lines[lines.len().saturating_sub(10)..];
        if tail.is_empty() { String::new() } else { format!("; it said:\n{}", tail.join("\n")) }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // A leader that has not been waited for keeps its id, so the group is still the right one.
        if let Some(leader) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(leader, Signal::KILL);
        }
        drop(self.child.wait());
    }
}
