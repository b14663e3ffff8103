//! The board on which supervisors show the state of their servers and everybody else reads it.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{Implementation, ProgressToken, Prompt, ServerCapabilities, Tool as ListedTool};
use rmcp::service::{Peer, RoleClient};
use tillerman_ports::{CallProgress, McpHost};
use tillerman_protocol::ToolUseId;
use tokio::sync::{Semaphore, mpsc, oneshot, watch};
use tokio::time::Instant;
use tokio_util::sync::DropGuard;

use crate::config::{HubConfig, NamedServer};

/// How many servers of a kind are being connected at a time.
const STDIO_AT_A_TIME: usize = 3;
const REMOTE_AT_A_TIME: usize = 20;
/// Hosts need to hear of progress, not of every step of it.
const PROGRESS_EVERY: std::time::Duration = std::time::Duration::from_millis(500);

/// What a supervisor is told to do; the answer comes when it is done.
#[derive(Debug)]
pub(crate) enum Order {
    Reconnect(oneshot::Sender<Result<(), String>>),
    Enable(oneshot::Sender<Result<(), String>>),
    Disable(oneshot::Sender<Result<(), String>>),
    /// The server says that its lists changed.
    Refresh,
}

/// How a server stands.
#[derive(Clone, Debug)]
pub(crate) enum Phase {
    /// Being connected for the first time, or again on request.
    Connecting,
    /// The connection was lost and is being made again; what the server offered still stands.
    Reconnecting {
        last: Arc<Connected>,
        why: String,
    },
    Connected(Arc<Connected>),
    Failed(String),
    NeedsAuth(String),
    Disabled,
}

impl Phase {
    pub(crate) const fn status(&self) -> &'static str {
        match self {
            Self::Connecting | Self::Reconnecting { .. } => "pending",
            Self::Connected(_) => "connected",
            Self::Failed(_) => "failed",
            Self::NeedsAuth(_) => "needs-auth",
            Self::Disabled => "disabled",
        }
    }

    /// Whether nothing more happens by itself.
    pub(crate) const fn is_settled(&self) -> bool {
        !matches!(self, Self::Connecting | Self::Reconnecting { .. })
    }

    /// What the server offers, also while its connection is being made again.
    pub(crate) const fn offer(&self) -> Option<&Arc<Connected>> {
        match self {
            Self::Connected(connected) | Self::Reconnecting { last: connected, .. } => {
                Some(connected)
            }
            _ => None,
        }
    }

    pub(crate) fn error(&self) -> Option<&str> {
        match self {
            Self::Failed(why) | Self::NeedsAuth(why) | Self::Reconnecting { why, .. } => Some(why),
            _ => None,
        }
    }
}

/// A connection and what the server offers over it.
#[derive(Debug)]
pub(crate) struct Connected {
    pub(crate) peer: Peer<RoleClient>,
    pub(crate) implementation: Option<Implementation>,
    pub(crate) capabilities: ServerCapabilities,
    /// What the server says about the use of its tools.
    pub(crate) instructions: Option<String>,
    pub(crate) tools: Vec<ListedTool>,
    pub(crate) prompts: Vec<Prompt>,
    /// Why a connection ended, once it has.
    pub(crate) last_words: LastWords,
}

/// Why a connection ended, in its transport's own words.
#[derive(Clone, Debug, Default)]
pub(crate) struct LastWords(Arc<Mutex<Option<String>>>);

impl LastWords {
    /// The first words count: what follows is their consequence.
    pub(crate) fn say(&self, why: impl Into<String>) {
        locked(&self.0).get_or_insert(why.into());
    }

    pub(crate) fn get(&self) -> Option<String> {
        locked(&self.0).clone()
    }
}

/// A server on the board.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) server: NamedServer,
    pub(crate) phase: Phase,
    pub(crate) orders: mpsc::Sender<Order>,
    /// Tells the entry from others of the same name, whose supervisors may still be ending.
    pub(crate) serial: u64,
    /// Stops the supervisor when the entry is taken off the board.
    pub(crate) _lease: DropGuard,
    /// Whether the host added it while the session ran.
    pub(crate) is_hosts: bool,
}

/// Everything that supervisors, tools and sessions share.
#[derive(Debug)]
pub(crate) struct Board {
    pub(crate) config: HubConfig,
    entries: Mutex<BTreeMap<String, Entry>>,
    number: watch::Sender<u64>,
    serials: AtomicU64,
    host: watch::Sender<Option<Arc<dyn McpHost>>>,
    calls: Mutex<HashMap<(String, ProgressToken), RunningCall>>,
    pub(crate) stdio_turns: Semaphore,
    pub(crate) remote_turns: Semaphore,
}

/// A call that may report progress.
#[derive(Clone, Debug)]
pub(crate) struct RunningCall {
    pub(crate) tool_use_id: ToolUseId,
    pub(crate) tool_name: String,
    pub(crate) started: Instant,
    pub(crate) reported: Option<Instant>,
}

impl Board {
    pub(crate) fn new(config: HubConfig) -> Self {
        Self {
            config,
            entries: Mutex::default(),
            number: watch::Sender::new(1),
            serials: AtomicU64::new(0),
            host: watch::Sender::new(None),
            calls: Mutex::default(),
            stdio_turns: Semaphore::new(STDIO_AT_A_TIME),
            remote_turns: Semaphore::new(REMOTE_AT_A_TIME),
        }
    }

    /// Reads the board.
    pub(crate) fn read<T>(&self, look: impl FnOnce(&BTreeMap<String, Entry>) -> T) -> T {
        look(&locked(&self.entries))
    }

    /// Changes the board and tells everybody.
    pub(crate) fn write<T>(&self, change: impl FnOnce(&mut BTreeMap<String, Entry>) -> T) -> T {
        let changed = change(&mut locked(&self.entries));
        self.number.send_modify(|number| *number += 1);
        changed
    }

    /// Shows a server's phase; one that is no longer on the board stays off it.
    pub(crate) fn show(&self, server: &str, serial: u64, phase: Phase) {
        self.write(|entries| {
            if let Some(entry) = entries.get_mut(server).filter(|entry| entry.serial == serial) {
                entry.phase = phase;
            }
        });
    }

    /// A number that no entry has had.
    pub(crate) fn next_serial(&self) -> u64 {
        self.serials.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn phase(&self, server: &str) -> Option<Phase> {
        self.read(|entries| entries.get(server).map(|entry| entry.phase.clone()))
    }

    pub(crate) fn watch(&self) -> watch::Receiver<u64> {
        self.number.subscribe()
    }

    pub(crate) fn attach(&self, host: Arc<dyn McpHost>) {
        self.host.send_replace(Some(host));
    }

    pub(crate) fn host(&self) -> Option<Arc<dyn McpHost>> {
        self.host.borrow().clone()
    }

    /// The host, as soon as there is one.
    pub(crate) async fn await_host(&self) -> Option<Arc<dyn McpHost>> {
        let mut host = self.host.subscribe();
        // The sender lives as long as the board, so that waiting cannot fail.
        host.wait_for(Option::is_some).await.ok().and_then(|host| host.clone())
    }

    pub(crate) fn begin_call(&self, server: &str, token: ProgressToken, call: RunningCall) {
        locked(&self.calls).insert((server.to_owned(), token), call);
    }

    pub(crate) fn end_call(&self, server: &str, token: &ProgressToken) {
        locked(&self.calls).remove(&(server.to_owned(), token.clone()));
    }

    /// Passes on progress of a call, not too often.
    pub(crate) fn progressed(
        &self,
        server: &str,
        progress: rmcp::model::ProgressNotificationParam,
    ) {
        let now = Instant::now();
        let call = {
            let mut calls = locked(&self.calls);
            let key = (server.to_owned(), progress.progress_token);
            let Some(call) = calls.get_mut(&key) else { return };
            if call.reported.is_some_and(|last| now < last + PROGRESS_EVERY) {
                return;
            }
            call.reported = Some(now);
            call.clone()
        };
        if let Some(host) = self.host() {
            host.progressed(CallProgress {
                tool_use_id: call.tool_use_id,
                tool_name: call.tool_name,
                elapsed_seconds: (now - call.started).as_secs_f64(),
                progress: progress.progress,
                total: progress.total,
                message: progress.message,
            });
        }
    }
}

/// A lock whose holder cannot have left anything half done, even when it panicked.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
