//! Everything a command started, and its end.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group, test_kill_process_group};
use tokio::time::Instant;

/// The variable that marks the processes of a run, wherever they put themselves.
pub(crate) const MARK: &str = "TILLERMAN_HOOK";
const POLL: Duration = Duration::from_millis(10);
/// How long processes may take to end in their own way.
const GRACE: Duration = Duration::from_millis(500);
/// How long killed processes may take to be gone.
const LAST_WAIT: Duration = Duration::from_secs(2);
const DROP_ROUNDS: u32 = 50;

static RUNS: AtomicU64 = AtomicU64::new(0);

/// A name for one run that no other run on the machine has.
pub(crate) fn new_mark() -> String {
    use std::hash::{BuildHasher as _, RandomState};
    let random = RandomState::new().hash_one(std::process::id());
    format!("{}-{}-{random:016x}", std::process::id(), RUNS.fetch_add(1, Ordering::Relaxed))
}

/// The processes of one run. Dropping it kills them, unless they were released.
#[derive(Debug)]
pub(crate) struct Tree {
    leader: Pid,
    mark: String,
    released: bool,
}

impl Tree {
    /// The tree under a process that leads its own group.
    pub(crate) const fn new(leader: Pid, mark: String) -> Self {
        Self { leader, mark, released: false }
    }

    /// Leaves alone whatever still runs.
    pub(crate) const fn release(&mut self) {
        self.released = true;
    }

    /// Asks everything to end, waits a moment, and kills what is left.
    ///
    /// # Cancel safety
    /// Dropping the future leaves the tree to be killed by its own drop.
    pub(crate) async fn stop(&mut self) {
        let present = self.look().await;
        self.signal(&present, Signal::TERM);
        // A stopped process only sees the request once it goes on.
        self.signal(&present, Signal::CONT);
        if !self.is_gone_within(GRACE, None).await {
            self.is_gone_within(LAST_WAIT, Some(Signal::KILL)).await;
        }
        self.released = true;
    }

    async fn is_gone_within(&self, limit: Duration, signal: Option<Signal>) -> bool {
        let deadline = Instant::now() + limit;
        loop {
            let present = self.look().await;
            // Where processes cannot be listed, the group is all there is to ask about.
            if present.is_empty() && (has_proc() || test_kill_process_group(self.leader).is_err()) {
                return true;
            }
            if let Some(signal) = signal {
                self.signal(&present, signal);
            }
            if Instant::now() >= deadline {
                return false;
            }
            tokio::time::sleep(POLL).await;
        }
    }

    async fn look(&self) -> Vec<Pid> {
        let (leader, mark) = (self.leader, self.mark.clone());
        tokio::task::spawn_blocking(move || members(leader, &mark)).await.unwrap_or_default()
    }

    fn signal(&self, members: &[Pid], signal: Signal) {
        // Whoever has ended meanwhile needs no signal, and nobody else can be told.
        kill_process_group(self.leader, signal).ok();
        for member in members {
            kill_process(*member, signal).ok();
        }
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        if self.released {
            return;
        }
        for _ in 0..DROP_ROUNDS {
            let present = members(self.leader, &self.mark);
            self.signal(&present, Signal::KILL);
            if present.is_empty() {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

fn has_proc() -> bool {
    std::path::Path::new("/proc/self/stat").exists()
}

/// The living processes of a run: those in the leader's group, those that carry the mark, and
/// their children. Where processes cannot be listed there are none, and the group has to do.
fn members(leader: Pid, mark: &str) -> Vec<Pid> {
    let Ok(listing) = std::fs::read_dir("/proc") else { return Vec::new() };
    let own = rustix::process::getpid().as_raw_pid();
    let numbers = listing.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let processes: Vec<Process> =
        numbers.filter(|pid| *pid != own).filter_map(Process::look_up).collect();
    let leader = leader.as_raw_pid();
    let is_member = |it: &&Process| it.pid == leader || it.group == leader || carries(it.pid, mark);
    let mut found: HashSet<i32> = processes.iter().filter(is_member).map(|it| it.pid).collect();
    loop {
        let before = found.len();
        let children = processes.iter().filter(|it| found.contains(&it.parent));
        let children: Vec<i32> = children.map(|it| it.pid).collect();
        found.extend(children);
        if found.len() == before {
            return found.into_iter().filter_map(Pid::from_raw).collect();
        }
    }
}

fn carries(pid: i32, mark: &str) -> bool {
    let Ok(environment) = std::fs::read(format!("/proc/{pid}/environ")) else { return false };
    let value = environment.split(|byte| *byte == 0).find_map(|variable| {
        variable.strip_prefix(MARK.as_bytes()).and_then(|rest| rest.strip_prefix(b"="))
    });
    value.is_some_and(|value| value.split(|byte| *byte == b':').any(|it| it == mark.as_bytes()))
}

struct Process {
    pid: i32,
    parent: i32,
    group: i32,
}

impl Process {
    /// A process that has not ended yet; one that waits to be reaped does not count.
    fn look_up(pid: i32) -> Option<Self> {
        let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
        let stat = String::from_utf8_lossy(&stat);
        // The name comes in parentheses and may itself contain some.
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
        if matches!(fields.next()?, "Z" | "X") {
            return None;
        }
        let parent = fields.next()?.parse().ok()?;
        let group = fields.next()?.parse().ok()?;
        Some(Self { pid, parent, group })
    }
}
