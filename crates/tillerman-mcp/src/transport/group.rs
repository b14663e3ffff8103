//! A child process with everything it started, and its end.

use std::process::ExitStatus;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use tokio::process::Child;
use tokio::time::{Instant, timeout};

/// How long a server gets after its input was closed, and again after it was told to end.
const GRACE: Duration = Duration::from_millis(400);
const REAP: Duration = Duration::from_secs(1);
const POLL: Duration = Duration::from_millis(5);

/// A child that leads its own process group. Dropping it kills the group.
#[derive(Debug)]
pub(crate) struct Group {
    child: Child,
    leader: Option<Pid>,
}

impl Group {
    pub(crate) fn new(child: Child) -> Self {
        let leader = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        Self { child, leader }
    }

    /// How the child ended, if it does so within the limit.
    pub(crate) async fn ending(&mut self, limit: Duration) -> Option<ExitStatus> {
        timeout(limit, self.child.wait()).await.ok()?.ok()
    }

    /// Ends the group: its input is closed already, so it gets a moment, then TERM, then KILL.
    ///
    /// # Cancel safety
    /// Dropping the future leaves the group to be killed by its own drop.
    pub(crate) async fn end(&mut self) {
        if self.is_gone_within(GRACE).await {
            return;
        }
        self.signal(Signal::TERM);
        if self.is_gone_within(GRACE).await {
            return;
        }
        self.signal(Signal::KILL);
        if !self.is_gone_within(REAP).await {
            tracing::debug!("an MCP server was killed and is still there");
        }
    }

    async fn is_gone_within(&mut self, limit: Duration) -> bool {
        let deadline = Instant::now() + limit;
        // The child itself is reaped; others of its group may outlive it.
        let reaped = self.ending(limit).await.is_some();
        loop {
            let Some(leader) = self.leader else { return true };
            if reaped && test_kill_process_group(leader).is_err() {
                self.leader = None;
                return true;
            }
            if Instant::now() >= deadline {
                return false;
            }
            tokio::time::sleep(POLL).await;
        }
    }

    fn signal(&self, signal: Signal) {
        if let Some(leader) = self.leader {
            // Whoever has ended meanwhile needs no signal.
            kill_process_group(leader, signal).ok();
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}
