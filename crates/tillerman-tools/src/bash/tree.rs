//! Everything a command started, and its end.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group, test_kill_process_group};
use tokio::time::Instant;

/// The variable that marks the processes of a call, wherever they put themselves.
pub(crate) const MARK: &str = "TILLERMAN_CALL";
const POLL: Duration = Duration::from_millis(10);
/// How long killed processes may take to go before the call is given up on them.
const LAST_WAIT: Duration = Duration::from_secs(2);
const DROP_ROUNDS: u32 = 50;

static CALLS: AtomicU64 = AtomicU64::new(0);

/// Names one call so that its processes are told apart from all others on the machine.
#[derive(Clone, Debug)]
pub(crate) struct CallMark(String);

impl CallMark {
    pub(crate) fn new() -> Self {
        use std::hash::{BuildHasher as _, RandomState};
        let random = RandomState::new().hash_one(std::process::id());
        let number = CALLS.fetch_add(1, Ordering::Relaxed);
        Self(format!("{}-{number}-{random:016x}", std::process::id()))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// The value of the mark for a process that may itself run inside a marked call, whose owner
    /// must still recognise what is started here.
    pub(crate) fn value(&self, outer: Option<&str>) -> String {
        outer.map_or_else(|| self.0.clone(), |outer| format!("{outer}:{}", self.0))
    }

    fn marks(&self, environment: &[u8]) -> bool {
        let prefix = format!("{MARK}=");
        environment.split(|&byte| byte == 0).any(|variable| {
            variable.strip_prefix(prefix.as_bytes()).is_some_and(|value| {
                value.split(|&byte| byte == b':').any(|part| part == self.0.as_bytes())
            })
        })
    }
}

/// The processes of one call. Dropping it kills those that are left.
#[derive(Debug)]
pub(crate) struct Tree {
    leader: Pid,
    mark: CallMark,
    gone: bool,
}

impl Tree {
    /// The tree under a process that leads its own group.
    pub(crate) fn new(leader: Pid, mark: CallMark) -> Self {
        Self { leader, mark, gone: false }
    }

    /// Whether everything has ended, or does so by itself within the limit.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub(crate) async fn ends_within(&mut self, limit: Duration) -> bool {
        self.gone = self.wait_until_empty(limit, None).await;
        self.gone
    }

    /// Asks everything to end, waits up to `grace`, and kills what is left.
    ///
    /// # Cancel safety
    /// Dropping the future leaves the tree to be killed by its own drop.
    pub(crate) async fn stop(&mut self, grace: Duration) {
        let present = self.look().await;
        self.signal(&present, Signal::TERM);
        // A stopped process only sees the request once it goes on.
        self.signal(&present, Signal::CONT);
        if !self.wait_until_empty(grace, None).await {
            self.wait_until_empty(LAST_WAIT, Some(Signal::KILL)).await;
        }
        self.gone = true;
    }

    /// Waits until nothing is left, sending the signal each time something is.
    async fn wait_until_empty(&self, limit: Duration, signal: Option<Signal>) -> bool {
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
        for &member in members {
            kill_process(member, signal).ok();
        }
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        if self.gone {
            return;
        }
        for _ in 0..DROP_ROUNDS {
            let present = members(self.leader, &self.mark);
            self.signal(&present, Signal::KILL);
            if present.is_empty() {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Whether processes can be listed here; elsewhere only the group is known.
fn has_proc() -> bool {
    std::path::Path::new("/proc/self/stat").exists()
}

/// The living processes that belong to the call: in the leader's group or session, carrying the
/// mark, or started by such a process. Only those younger than the leader can.
fn members(leader: Pid, mark: &CallMark) -> Vec<Pid> {
    let Ok(directory) = std::fs::read_dir("/proc") else { return Vec::new() };
    let youngest = youngest_pid().unwrap_or(0);
    let oldest = if youngest < leader.as_raw_pid() { 1 } else { leader.as_raw_pid() };
    let own = rustix::process::getpid().as_raw_pid();
    let pids = directory
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok())
        .filter(|&pid| pid >= oldest && pid != own);
    let mut strangers = Vec::new();
    let mut found: HashSet<i32> = HashSet::from([leader.as_raw_pid()]);
    let mut list = Vec::new();
    for pid in pids {
        let Some(process) = Process::look_up(pid) else { continue };
        if process.belongs_to(leader.as_raw_pid()) || mark.marks(&environment(pid)) {
            found.insert(pid);
            list.push(pid);
        } else {
            strangers.push(process);
        }
    }
    loop {
        let (children, rest): (Vec<_>, Vec<_>) =
            strangers.into_iter().partition(|process: &Process| found.contains(&process.parent));
        if children.is_empty() {
            break;
        }
        found.extend(children.iter().map(|process| process.pid));
        list.extend(children.iter().map(|process| process.pid));
        strangers = rest;
    }
    list.into_iter().filter_map(Pid::from_raw).collect()
}

/// The process started last on this machine; when it is below the leader, numbers began anew.
fn youngest_pid() -> Option<i32> {
    std::fs::read_to_string("/proc/loadavg").ok()?.split_whitespace().next_back()?.parse().ok()
}

fn environment(pid: i32) -> Vec<u8> {
    std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default()
}

struct Process {
    pid: i32,
    parent: i32,
    group: i32,
    session: i32,
}

impl Process {
    /// A process that has not ended yet; one that waits to be reaped does not count.
    fn look_up(pid: i32) -> Option<Self> {
        let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
        let stat = String::from_utf8_lossy(&stat);
        // The name comes in parentheses and may itself contain some.
        let (_, rest) = stat.rsplit_once(')')?;
        let mut fields = rest.split_whitespace();
        if matches!(fields.next()?, "Z" | "X") {
            return None;
        }
        let mut number = || fields.next()?.parse::<i32>().ok();
        Some(Self { pid, parent: number()?, group: number()?, session: number()? })
    }

    fn belongs_to(&self, leader: i32) -> bool {
        self.pid == leader || self.group == leader || self.session == leader
    }
}
