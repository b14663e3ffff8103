//! The options as a whole.

use std::fmt;
use std::sync::Arc;

use tillerman_protocol::hook::HookInput;

use crate::callback::{
    Ask, Elicitation, ElicitationAnswer, Hook, HookEvent, HookMatcher, HookOutput, HookPoint,
    Permission, Questions, QuestionsAnswer, ToolRequest, ask,
};
use crate::options::extension::ExtensionOptions;
use crate::options::model::ModelOptions;
use crate::options::permission::PermissionOptions;
use crate::options::session::SessionOptions;
use crate::options::surroundings::Surroundings;

/// How a session is to run.
///
/// ```
/// use tillerman::Options;
///
/// let options = Options::new()
///     .model("rehearsal")
///     .system_prompt("You review changes. Be brief.")
///     .tools(["Read", "Grep", "Glob"])
///     .max_turns(20)
///     .max_budget_usd(0.50);
/// # drop(options);
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Options {
    pub(crate) model: ModelOptions,
    pub(crate) session: SessionOptions,
    pub(crate) permission: PermissionOptions,
    pub(crate) extension: ExtensionOptions,
    pub(crate) surroundings: Surroundings,
    pub(crate) callbacks: Callbacks,
}

/// Hears lines.
pub(crate) type Listener = Arc<dyn Fn(&str) + Send + Sync>;

/// Whom the session can ask.
#[derive(Clone, Default)]
pub(crate) struct Callbacks {
    pub(crate) can_use_tool: Option<Ask<ToolRequest, Permission>>,
    pub(crate) question: Option<Ask<Questions, QuestionsAnswer>>,
    pub(crate) elicitation: Option<Ask<Elicitation, ElicitationAnswer>>,
    pub(crate) hooks: Vec<Hook>,
    pub(crate) stderr: Option<Listener>,
}

impl fmt::Debug for Callbacks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Callbacks")
            .field("can_use_tool", &self.can_use_tool.is_some())
            .field("question", &self.question.is_some())
            .field("elicitation", &self.elicitation.is_some())
            .field("hooks", &self.hooks)
            .field("stderr", &self.stderr.is_some())
            .finish()
    }
}

impl Callbacks {
    /// Whether permission questions are answered here.
    pub(crate) const fn approves(&self) -> bool {
        self.can_use_tool.is_some() || self.question.is_some()
    }
}

/// Callbacks: what the agent can ask you.
impl Options {
    /// The defaults: an in-process engine with all tools, no settings files and nobody to ask.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks this callback about every call that no rule, mode or hook decides (`canUseTool`).
    ///
    /// ```
    /// use tillerman::{Options, Permission};
    ///
    /// let options = Options::new().can_use_tool(async |call| {
    ///     if call.tool_name == "Read" { Permission::allow() } else { Permission::deny("read only") }
    /// });
    /// # drop(options);
    /// ```
    pub fn can_use_tool<F, Answering>(mut self, callback: F) -> Self
    where
        F: Fn(ToolRequest) -> Answering + Send + Sync + 'static,
        Answering: Future<Output = Permission> + Send + 'static,
    {
        self.callbacks.can_use_tool = Some(ask(callback));
        self
    }

    /// Has this callback answer the agent's questions to the person (AskUserQuestion). Without
    /// it they arrive at [`can_use_tool`](Self::can_use_tool) like any other call.
    pub fn on_question<F, Answering>(mut self, callback: F) -> Self
    where
        F: Fn(Questions) -> Answering + Send + Sync + 'static,
        Answering: Future<Output = QuestionsAnswer> + Send + 'static,
    {
        self.callbacks.question = Some(ask(callback));
        self
    }

    /// Has this callback answer questions of MCP servers to the person. Without it they are
    /// declined.
    pub fn on_elicitation<F, Answering>(mut self, callback: F) -> Self
    where
        F: Fn(Elicitation) -> Answering + Send + Sync + 'static,
        Answering: Future<Output = ElicitationAnswer> + Send + 'static,
    {
        self.callbacks.elicitation = Some(ask(callback));
        self
    }

    /// Runs a callback at an event (`hooks`). The type of its argument chooses the event; see
    /// [`HookPoint`].
    pub fn hook<P, F, Answering>(self, matcher: impl Into<HookMatcher>, callback: F) -> Self
    where
        P: HookPoint,
        F: Fn(P) -> Answering + Send + Sync + 'static,
        Answering: Future<Output = P::Answer> + Send + 'static,
    {
        let callback = Arc::new(callback);
        self.hook_raw(P::EVENT, matcher, move |input| {
            let callback = Arc::clone(&callback);
            async move {
                match P::read(input) {
                    Some(point) => P::write(callback(point).await),
                    None => HookOutput::default(),
                }
            }
        })
    }

    /// Runs a callback at any event there is, with everything the wire says about it.
    pub fn hook_raw<F, Answering>(
        mut self,
        event: HookEvent,
        matcher: impl Into<HookMatcher>,
        callback: F,
    ) -> Self
    where
        F: Fn(HookInput) -> Answering + Send + Sync + 'static,
        Answering: Future<Output = HookOutput> + Send + 'static,
    {
        let (matcher, callback) = (matcher.into(), ask(callback));
        self.callbacks.hooks.push(Hook { event, matcher, callback });
        self
    }

    /// Passes every line of standard error to this callback (`stderr`). Without it the last lines
    /// are kept for errors. An engine in this process has none and writes to `tracing` instead.
    pub fn stderr(mut self, callback: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.callbacks.stderr = Some(Arc::new(callback));
        self
    }
}
