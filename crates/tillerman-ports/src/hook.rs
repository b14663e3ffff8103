//! The port through which hooks that are written down are run.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tillerman_protocol::frame::HookPrinted;
use tillerman_protocol::hook::{HookHandler, HookInput, HookOutput};
use tillerman_protocol::stream::Usage;
use tokio_util::sync::CancellationToken;

use crate::confine::Bounds;
use crate::hidden::Hidden;
use crate::model::BoxFuture;
use crate::task::TaskDesk;
use crate::tool::Tool;

/// Runs hook handlers, whatever their kind.
pub trait HookRunner: Send + Sync + std::fmt::Debug {
    /// Runs a handler to its end, or until it is to go on in the background.
    ///
    /// Nothing a handler does is an error of the program: a crash, silence or nonsense is a
    /// [`HookEnd::Failed`], which has no opinion about the event.
    ///
    /// # Cancel safety
    /// When the job's token fires everything that was started is ended and the future returns soon.
    /// A future that is dropped instead leaves no process behind.
    fn run(&self, job: HookJob) -> BoxFuture<HookReport>;
}

/// One run of a handler.
pub struct HookJob {
    /// The handler.
    pub handler: Arc<HookHandler>,
    /// What it is told.
    pub input: Arc<HookInput>,
    /// Variables for its children beside those every child has.
    pub variables: Arc<[(String, String)]>,
    /// The file into which it may write variables for later commands, where it may.
    pub env_file: Option<PathBuf>,
    /// How long it may take.
    pub timeout: Duration,
    /// Fires when it is to end.
    pub cancel: CancellationToken,
    /// The tool that it names, if it names one and there is one.
    pub tool: Option<Arc<dyn Tool>>,
    /// What an agent may look around with.
    pub sight: Sight,
    /// Takes over what the tool leaves behind.
    pub tasks: Arc<dyn TaskDesk>,
    /// Hears from time to time what was printed so far; nothing when nobody wants to know.
    pub progress: Option<Box<dyn Fn(HookPrinted) + Send + Sync>>,
}

/// Whether an agent of a hook may make a call: how it runs, or why it does not.
pub type Permits = dyn Fn(&dyn Tool, &Value) -> Result<Bounds, String> + Send + Sync;

/// Takes credentials out of a text.
pub type Redact = dyn Fn(&mut String) + Send + Sync;

/// What an agent of a hook may look around with.
#[derive(Clone, Default)]
pub struct Sight {
    /// The tools.
    pub tools: Vec<Arc<dyn Tool>>,
    /// Judges each call; without it nothing is permitted.
    pub permits: Option<Arc<Permits>>,
    /// Takes credentials out of what the tools bring in.
    pub redact: Option<Arc<Redact>>,
    /// What searches must pass over.
    pub hidden: Hidden,
}

impl std::fmt::Debug for Sight {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sight").field("tools", &self.tools).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for HookJob {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HookJob").field("handler", &self.handler).finish_non_exhaustive()
    }
}

/// What became of a run.
#[derive(Debug)]
pub struct HookReport {
    /// How it ended.
    pub end: HookEnd,
    /// What it printed, cut where it is long.
    pub printed: HookPrinted,
    /// What its command returned.
    pub exit_code: Option<i32>,
    /// Something people should know although it did not fail.
    pub remark: Option<String>,
    /// What models were asked for it, however it ended.
    pub bills: Vec<HookBill>,
}

/// What one response cost that a model gave a handler.
#[derive(Clone, Debug, PartialEq)]
pub struct HookBill {
    /// The model.
    pub model: String,
    /// Tokens.
    pub usage: Usage,
    /// Milliseconds it was waited for.
    pub api_ms: u64,
}

impl HookReport {
    /// A run that printed nothing.
    #[must_use]
    pub fn new(end: HookEnd) -> Self {
        Self {
            end,
            printed: HookPrinted::default(),
            exit_code: None,
            remark: None,
            bills: Vec::new(),
        }
    }
}

/// How a run ended.
pub enum HookEnd {
    /// With an answer, which may have no opinion.
    Answered(Box<HookOutput>),
    /// Without one, for this reason.
    Failed(String),
    /// It took too long and was ended.
    TimedOut,
    /// Somebody ended it.
    Cancelled,
    /// It goes on while nobody waits for it; this is the rest.
    Detached(BoxFuture<HookReport>),
}

impl std::fmt::Debug for HookEnd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Answered(output) => f.debug_tuple("Answered").field(output).finish(),
            Self::Failed(why) => f.debug_tuple("Failed").field(why).finish(),
            Self::TimedOut => f.write_str("TimedOut"),
            Self::Cancelled => f.write_str("Cancelled"),
            Self::Detached(_) => f.write_str("Detached"),
        }
    }
}
