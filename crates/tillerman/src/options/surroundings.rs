//! Where a session runs and how the SDK reaches it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::events::EventBus;
use crate::options::builder::Options;
use crate::transport::{Runtime, Transport};

/// Readers of other SDKs give up at 1 MiB; pictures and documents are larger.
const LONGEST_LINE: usize = 64 << 20;
const START: Duration = Duration::from_secs(60);
const REQUEST: Duration = Duration::from_secs(60);
const GRACE: Duration = Duration::from_secs(5);
/// How long agents in the background may keep a query of one prompt open.
const BACKGROUND: Duration = Duration::from_secs(600);

/// Where a session runs and how the SDK reaches it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Surroundings {
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) bare_env: bool,
    pub(crate) program: Program,
    pub(crate) transport: Option<Arc<dyn Transport>>,
    pub(crate) cancel: Option<CancellationToken>,
    pub(crate) events: Option<EventBus>,
    pub(crate) shown: Shown,
    pub(crate) extra_args: BTreeMap<String, Option<String>>,
    pub(crate) patience: Patience,
}

/// Which program runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    pub(crate) path: Option<PathBuf>,
    pub(crate) runtime: Option<Runtime>,
}

/// What of a session is shown.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Shown {
    pub(crate) partial_messages: bool,
    pub(crate) hook_events: bool,
    pub(crate) subagent_text: Audience,
    pub(crate) replays: Audience,
}

/// Whether somebody wants to see something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Audience {
    #[default]
    Nobody,
    Caller,
}

/// How long things may take and how large they may be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    pub(crate) start: Duration,
    pub(crate) request: Duration,
    pub(crate) grace: Duration,
    pub(crate) background: Duration,
    pub(crate) longest_line: usize,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            start: START,
            request: REQUEST,
            grace: GRACE,
            background: BACKGROUND,
            longest_line: LONGEST_LINE,
        }
    }
}

/// Surroundings: where the session runs, how it is reached, and what of it is shown.
impl Options {
    /// Works in this directory (`cwd`). Without it in the present one.
    pub fn cwd(mut self, directory: impl Into<PathBuf>) -> Self {
        self.surroundings.cwd = Some(directory.into());
        self
    }

    /// Sets a variable of the engine's environment (`env`). The rest of this process's
    /// environment stays.
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.surroundings.env.insert(name.into(), value.into());
        self
    }

    /// Leaves this process's environment out: only variables set with [`env`](Self::env) are there.
    pub fn bare_environment(mut self) -> Self {
        self.surroundings.bare_env = true;
        self
    }

    /// Runs this program (`pathToClaudeCodeExecutable`): `tillerman`, or the official CLI. Chooses
    /// the [`Subprocess`](crate::transport::Subprocess) transport unless another one is given.
    pub fn path_to_executable(mut self, path: impl Into<PathBuf>) -> Self {
        self.surroundings.program.path = Some(path.into());
        self
    }

    /// Runs the program, which is a script, in this JavaScript runtime (`executable`).
    pub fn executable(mut self, runtime: Runtime) -> Self {
        self.surroundings.program.runtime = Some(runtime);
        self
    }

    /// Reaches the engine this way. Without it the engine runs in this process.
    pub fn transport(mut self, transport: impl Transport + 'static) -> Self {
        self.surroundings.transport = Some(Arc::new(transport));
        self
    }

    /// Ends everything once this token is cancelled (`abortController`).
    pub fn cancel_with(mut self, token: CancellationToken) -> Self {
        self.surroundings.cancel = Some(token);
        self
    }

    /// Publishes what happens on this bus.
    pub fn events(mut self, bus: &EventBus) -> Self {
        self.surroundings.events = Some(bus.clone());
        self
    }

    /// Shows the raw events of responses as they arrive (`includePartialMessages`).
    pub fn include_partial_messages(mut self) -> Self {
        self.surroundings.shown.partial_messages = true;
        self
    }

    /// Shows what hooks of settings do.
    pub fn include_hook_events(mut self) -> Self {
        self.surroundings.shown.hook_events = true;
        self
    }

    /// Shows what subagents say, not only what they do.
    pub fn forward_subagent_text(mut self) -> Self {
        self.surroundings.shown.subagent_text = Audience::Caller;
        self
    }

    /// Shows prompts as they are taken up.
    pub fn replay_user_messages(mut self) -> Self {
        self.surroundings.shown.replays = Audience::Caller;
        self
    }

    /// Passes a flag that these options have no name for, without its dashes.
    pub fn extra_arg(mut self, name: impl Into<String>, value: Option<String>) -> Self {
        self.surroundings.extra_args.insert(name.into(), value);
        self
    }

    /// Gives the engine this long to start; a minute without it.
    pub fn start_timeout(mut self, timeout: Duration) -> Self {
        self.surroundings.patience.start = timeout;
        self
    }

    /// Gives the engine this long to answer a control request; a minute without it.
    pub fn request_timeout(mut self, timeout: Duration) -> Self {
        self.surroundings.patience.request = timeout;
        self
    }

    /// Gives the engine this long to leave before it is made to; five seconds without it.
    pub fn close_timeout(mut self, timeout: Duration) -> Self {
        self.surroundings.patience.grace = timeout;
        self
    }

    /// Keeps a query open this long for agents that work in the background; ten minutes without
    /// it. Longer sessions are what [`Client`](crate::Client) is for.
    pub fn background_timeout(mut self, timeout: Duration) -> Self {
        self.surroundings.patience.background = timeout;
        self
    }

    /// Reads lines of up to this many bytes; 64 MiB without it.
    pub fn max_line_bytes(mut self, bytes: usize) -> Self {
        self.surroundings.patience.longest_line = bytes;
        self
    }
}
