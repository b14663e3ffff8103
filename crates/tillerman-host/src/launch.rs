//! Sessions as the host knows them: an order in, frames in both directions.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::pin::Pin;

use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// A future that nobody needs to name.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Starts sessions.
pub trait Launcher: Send + Sync + std::fmt::Debug {
    /// Starts one. The session does nothing before it is told to; it may find out later that it
    /// cannot run, and ends then.
    fn launch(&self, order: RunOrder) -> BoxFuture<'_, Result<RunningSession, LaunchError>>;

    /// Starts one for a program that says what it wants in the terms of the command line.
    fn open(&self, order: OpenOrder) -> BoxFuture<'_, Result<RunningSession, LaunchError>>;

    /// Whether the provider of a model can be reached.
    fn probe(&self, model: &str) -> BoxFuture<'_, Health>;
}

/// Whether the provider of a model can be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    /// It answers.
    Up,
    /// It does not.
    Down,
}

/// Why a session could not be started.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct LaunchError {
    /// What went wrong and what to do, for people.
    pub message: String,
    /// Whether the session that was to be resumed does not exist any more.
    pub session_is_gone: bool,
}

impl LaunchError {
    /// A failure that has nothing to do with a session that is gone.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), session_is_gone: false }
    }
}

/// What a session is to be like.
#[derive(Clone, Debug, PartialEq)]
pub struct RunOrder {
    /// Which session.
    pub session: SessionStart,
    /// Where it works.
    pub cwd: PathBuf,
    /// The model; nothing means the engine's own choice.
    pub model: Option<String>,
    /// How calls are judged when no rule decides.
    pub permission_mode: String,
    /// Whether the mode may be `bypassPermissions` later.
    pub may_bypass: bool,
    /// Calls that need no question.
    pub allowed_tools: Vec<String>,
    /// Tools that do not exist and calls that are refused.
    pub disallowed_tools: Vec<String>,
    /// What nothing may write, in any mode.
    pub guarded_paths: Vec<String>,
    /// Variables that tools see.
    pub environment: BTreeMap<String, String>,
    /// MCP servers by name.
    pub mcp_servers: BTreeMap<String, Value>,
    /// Dollars the session may spend.
    pub max_budget_usd: Option<f64>,
    /// Whose agents' memory it has; nothing means the first owner's.
    pub owner: Option<String>,
}

/// A session in the terms of the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenOrder {
    /// Where it works.
    pub cwd: PathBuf,
    /// The arguments, without the program.
    pub arguments: Vec<String>,
    /// Variables on top of the host's.
    pub environment: BTreeMap<String, String>,
    /// Whose agents' memory it has, whatever the variables say; nothing means the first owner's.
    pub owner: Option<String>,
}

/// The variable that tells a process whose session it is.
pub const OWNER_VARIABLE: &str = "TILLERMAN_OWNER";

/// Which session a run is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionStart {
    /// A new one with this id.
    Begin(String),
    /// One that has a transcript.
    Resume(String),
    /// One that has a transcript and forgets a prompt and everything after it.
    ResumeBefore {
        /// The session.
        session: String,
        /// The prompt.
        message: String,
    },
}

impl SessionStart {
    /// The id of the session.
    #[must_use]
    pub fn id(&self) -> &str {
        match self {
            Self::Begin(id) | Self::Resume(id) => id,
            Self::ResumeBefore { session, .. } => session,
        }
    }
}

/// A session that runs.
pub struct RunningSession {
    /// Frames for the session; dropping it closes the session's input.
    pub inbound: mpsc::Sender<Value>,
    /// Frames of the session, in order; it closes when there are no more.
    pub outbound: mpsc::Receiver<Value>,
    /// Ends the session at once.
    pub stop: CancellationToken,
    /// Does the session's work and ends with it. Whoever launched a session has to run it. When it
    /// is over, every frame has been handed to `outbound`.
    pub ended: BoxFuture<'static, RunEnd>,
}

impl std::fmt::Debug for RunningSession {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunningSession").finish_non_exhaustive()
    }
}

/// How a session ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunEnd {
    /// Whether it ended the way sessions should.
    pub is_orderly: bool,
    /// What it said when it ended, for people; empty when there is nothing to say.
    pub message: String,
    /// What a process would have returned: 0 when its last round succeeded, 128 and the number of
    /// the signal that ended it.
    pub exit_code: i32,
}
