//! What whoever starts a host decides.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

/// A file of the web page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Its bytes.
    pub bytes: Bytes,
    /// What it is.
    pub content_type: String,
    /// Changes when its bytes do.
    pub etag: String,
    /// Whether its name changes with its bytes, so that browsers may keep it.
    pub immutable: bool,
}

/// Finds a file of the web page by its path without a leading slash; the page itself has none.
pub type Assets = fn(&str) -> Option<Page>;

/// What whoever starts a host decides.
#[derive(Clone, Debug)]
pub struct HostSettings {
    /// Where conversations work that name no other directory.
    pub cwd: PathBuf,
    /// The model of conversations that name no other; empty means the engine's own choice.
    pub model: String,
    /// Models to choose from, as id and name.
    pub models: Vec<(String, String)>,
    /// Whether the rehearsal model answers because there are no credentials.
    pub rehearsal: bool,
    /// Whether people may switch to `bypassPermissions`.
    pub may_bypass: bool,
    /// Names under which browsers reach the host beside its loopback address.
    pub allowed_hosts: Vec<String>,
    /// Dollars all conversations together may spend in a day.
    pub daily_budget_usd: Option<f64>,
    /// The largest message with its attachments, in bytes.
    pub max_upload_bytes: usize,
    /// A program that is told of every new card: its path and arguments.
    pub notify: Vec<String>,
    /// The web page.
    pub assets: Assets,
    /// The version of the program.
    pub version: String,
    /// The level of the protocol.
    pub protocol_level: String,
    /// How long things may take.
    pub timeouts: Timeouts,
    /// Numbers of others that `/metrics` shows as well.
    pub further_counters: Option<FurtherCounters>,
}

impl HostSettings {
    /// Settings for a host that works in this directory, with nothing special about it.
    #[must_use]
    pub fn new(cwd: PathBuf) -> Self {
        Self {
            cwd,
            model: String::new(),
            models: Vec::new(),
            rehearsal: false,
            may_bypass: false,
            allowed_hosts: Vec::new(),
            daily_budget_usd: None,
            max_upload_bytes: 30 * 1024 * 1024,
            notify: Vec::new(),
            assets: |_| None,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            protocol_level: String::new(),
            timeouts: Timeouts::default(),
            further_counters: None,
        }
    }
}

/// A number that only grows: its name, what it counts, and how much that is.
pub type Counter = (&'static str, &'static str, u64);

/// Numbers of others that `/metrics` shows as well.
#[derive(Clone)]
pub struct FurtherCounters(Arc<dyn Fn() -> Vec<Counter> + Send + Sync>);

impl FurtherCounters {
    /// Numbers that are asked for whenever somebody looks.
    pub fn new(read: impl Fn() -> Vec<Counter> + Send + Sync + 'static) -> Self {
        Self(Arc::new(read))
    }

    pub(crate) fn read(&self) -> Vec<Counter> {
        (self.0)()
    }
}

impl std::fmt::Debug for FurtherCounters {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FurtherCounters").finish_non_exhaustive()
    }
}

/// How long things may take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// From the start of a run to its first sign of life.
    pub startup: Duration,
    /// Without output while a round is under way; keep-alive signs do not count.
    pub inactivity: Duration,
    /// For one round, whatever it does.
    pub hard: Duration,
    /// How long a session that has nothing to do is kept warm.
    pub idle: Duration,
    /// From a crash to the first attempt to go on; later ones take three times as long each.
    pub restart: Duration,
    /// From an outage to the first look whether it is over; later ones take twice as long each.
    pub outage: Duration,
    /// The longest time between two such looks.
    pub outage_most: Duration,
    /// How long runs have to end when the host is told to.
    pub drain: Duration,
    /// Between two looks at the files of projects and agents.
    pub files: Duration,
    /// Between two pings on a socket; a client that answers none is gone.
    pub ping: Duration,
    /// For the head of a request; a connection that does not send one is closed.
    pub head: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            startup: Duration::from_secs(90),
            inactivity: Duration::from_secs(30 * 60),
            hard: Duration::from_secs(12 * 3_600),
            idle: Duration::from_secs(10 * 60),
            restart: Duration::from_secs(1),
            outage: Duration::from_secs(60),
            outage_most: Duration::from_secs(30 * 60),
            drain: Duration::from_secs(8),
            files: Duration::from_secs(1),
            ping: Duration::from_secs(30),
            head: Duration::from_secs(10),
        }
    }
}
