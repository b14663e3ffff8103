//! What the tools of a session are told when they are made.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tillerman_ports::{Confiner, Model};

/// Everything the tools of one session need to know about the outside.
#[derive(Clone)]
pub struct ToolConfig {
    /// The directory of the session: relative paths and the first command start here.
    pub cwd: PathBuf,
    /// Further directories a command may leave the shell in.
    pub working_directories: Vec<PathBuf>,
    /// Where large outputs go; made when first needed, for the owner alone.
    pub scratch_directory: PathBuf,
    /// The complete environment of commands, apart from `TILLERMAN_CALL`, which marks them.
    pub environment: Vec<(OsString, OsString)>,
    /// The shell that runs commands; `/bin/sh` steps in where it does not exist.
    pub shell: PathBuf,
    /// How long commands may run and how much they may say.
    pub limits: ToolLimits,
    /// Whether somebody can answer questions.
    pub audience: Audience,
    /// How the tools reach the web.
    pub web: WebConfig,
    /// What confines commands and file tools; nothing does without it.
    pub confiner: Option<Arc<dyn Confiner>>,
}

/// Whether somebody can answer questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Somebody can.
    Present,
    /// Nobody can, so that no question is offered.
    Absent,
}

/// How the tools reach the web.
#[derive(Clone, Debug, Default)]
pub struct WebConfig {
    /// Which addresses pages may be fetched from.
    pub reach: Reach,
    /// Answers questions about fetched pages; without it the pages themselves are returned.
    pub reader: Option<SideModel>,
    /// Where searches go; without it none is offered.
    pub search: Option<SearchSource>,
}

/// Which addresses pages may be fetched from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// Public addresses only.
    #[default]
    Public,
    /// This machine's own as well, and without encryption: for tests.
    PublicAndLoopback,
}

/// A model for side requests that are no part of the conversation.
#[derive(Clone, Debug)]
pub struct SideModel {
    /// The model's provider.
    pub model: Arc<dyn Model>,
    /// The model's id.
    pub name: String,
    /// The session, for providers that route by it.
    pub session: String,
}

/// Where searches go.
#[derive(Clone)]
pub enum SearchSource {
    /// A URL in which `{query}` stands for the query, answered with JSON results.
    Endpoint(String),
    /// The search that the model's provider offers.
    Provider(SideModel),
}

/// How long commands may run and how much they may say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolLimits {
    /// How long a command may run when the model names no timeout.
    pub default_timeout: Duration,
    /// The longest timeout the model can ask for.
    pub max_timeout: Duration,
    /// How long a command may run in the background when the model names no timeout.
    pub background_timeout: Duration,
    /// The longest timeout the model can ask for in the background.
    pub max_background_timeout: Duration,
    /// How many characters of a successful command's output are passed on directly.
    pub inline_chars: usize,
    /// How many characters of a failed command's output are passed on directly.
    pub failure_chars: usize,
    /// How many bytes a command may write before it is stopped.
    pub output_bytes: u64,
    /// How long commands are watched and how much they may say meanwhile.
    pub monitor: MonitorLimits,
}

/// How long commands are watched and how much they may say meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MonitorLimits {
    /// How long a command is watched when the model names no deadline.
    pub deadline: Duration,
    /// The longest deadline the model can ask for.
    pub max_deadline: Duration,
    /// How long lines are collected before they are told together.
    pub batch: Duration,
    /// How long it takes from one telling to the next, at least.
    pub pause: Duration,
    /// How many lines may come at once; one more may come each second.
    pub burst: u32,
    /// How long a command may say more than that before it is stopped.
    pub patience: Duration,
}

impl Default for MonitorLimits {
    fn default() -> Self {
        Self {
            deadline: Duration::from_secs(5 * 60),
            max_deadline: Duration::from_secs(30 * 60),
            batch: Duration::from_millis(200),
            pause: Duration::from_secs(1),
            burst: 200,
            patience: Duration::from_secs(30),
        }
    }
}

impl Default for ToolLimits {
    fn default() -> Self {
        Self {
            default_timeout: Duration::from_secs(120),
            max_timeout: Duration::from_secs(600),
            background_timeout: Duration::from_secs(30 * 60),
            max_background_timeout: Duration::from_secs(120 * 60),
            inline_chars: 30_000,
            failure_chars: 10_000,
            output_bytes: 5 << 30,
            monitor: MonitorLimits::default(),
        }
    }
}

/// Leaves out the values of the environment, which may be secret.
impl fmt::Debug for ToolConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&OsString> = self.environment.iter().map(|(name, _)| name).collect();
        f.debug_struct("ToolConfig")
            .field("cwd", &self.cwd)
            .field("working_directories", &self.working_directories)
            .field("scratch_directory", &self.scratch_directory)
            .field("environment", &names)
            .field("shell", &self.shell)
            .field("limits", &self.limits)
            .field("audience", &self.audience)
            .field("web", &self.web)
            .field("confiner", &self.confiner)
            .finish()
    }
}

/// Leaves out the address, which may hold a key.
impl fmt::Debug for SearchSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Endpoint(_) => f.write_str("Endpoint"),
            Self::Provider(model) => f.debug_tuple("Provider").field(&model.name).finish(),
        }
    }
}
