//! What a run is started with.

use std::fmt;
use std::sync::Arc;

use tillerman_protocol::permission::PermissionMode;

use crate::error::{Error, ErrorKind, Result};
use crate::message::Prompt;
use crate::options::{Options, SystemPrompt};
use crate::run::handle::RunEvent;
use crate::run::outage::Outages;

/// Two hours: tools of long sessions must not lose their connection.
const STREAM_CLOSE_TIMEOUT: &str = "7200000";
/// Tools that ask a person, of whom there is none in modes that ask nobody.
const PLAN_TOOLS: [&str; 2] = ["EnterPlanMode", "ExitPlanMode"];

/// What an agent is told beside the engine's own prompt, in this order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PromptParts {
    /// The agent's own prompt.
    pub system_prompt: Option<String>,
    /// What is added to it.
    pub append_prompt: Option<String>,
    /// Who it is to be.
    pub persona: Option<String>,
    /// What it has learned to do.
    pub skills: Option<String>,
}

impl PromptParts {
    /// The parts that there are, a blank line between them.
    #[must_use]
    pub fn compose(&self) -> Option<String> {
        let skills = self.skills.as_ref().filter(|text| !text.is_empty());
        let skills = skills.map(|text| format!("## Skill Instructions\n{text}"));
        let parts = [&self.system_prompt, &self.append_prompt, &self.persona, &skills];
        let parts: Vec<&str> =
            parts.into_iter().flatten().map(String::as_str).filter(|it| !it.is_empty()).collect();
        (!parts.is_empty()).then(|| parts.join("\n\n"))
    }
}

/// What a run is started with.
#[derive(Clone)]
#[must_use]
pub struct RunPlan {
    pub(crate) options: Options,
    pub(crate) prompt: Prompt,
    pub(crate) outages: Outages,
    pub(crate) stays_open: bool,
    pub(crate) on_event: Option<Arc<dyn Fn(RunEvent) + Send + Sync>>,
    pub(crate) on_exit: Option<Arc<dyn Fn(i32) + Send + Sync>>,
    pub(crate) on_api_outage: Option<Arc<dyn Fn() + Send + Sync>>,
}

impl RunPlan {
    /// A run of this prompt. Tools see only the variables that agents need; the official CLI, which
    /// shows its tools everything, is itself started with no others.
    pub fn new(prompt: impl Into<Prompt>, options: Options) -> Self {
        let options = options
            .strict_environment_where_possible()
            .env("CLAUDE_CODE_STREAM_CLOSE_TIMEOUT", STREAM_CLOSE_TIMEOUT);
        Self {
            options,
            prompt: prompt.into(),
            outages: Outages::new(),
            stays_open: false,
            on_event: None,
            on_exit: None,
            on_api_outage: None,
        }
    }

    /// Sets the mode by the name that hosts use: `full-auto`, `auto-edit`, or one of the engine's.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidOptions`] for a name that nobody knows.
    pub fn mode(mut self, name: &str) -> Result<Self> {
        let Some(mode) = PermissionMode::parse(name) else {
            let text = format!(
                "there is no permission mode {name}; nothing was started; say full-auto, \
                 auto-edit, default, plan, acceptEdits, bypassPermissions or dontAsk"
            );
            return Err(Error::new(ErrorKind::InvalidOptions, text));
        };
        self.options = self.options.permission_mode(mode);
        if mode == PermissionMode::BypassPermissions {
            self.options =
                self.options.allow_dangerously_skip_permissions().disallowed_tools(PLAN_TOOLS);
        }
        Ok(self)
    }

    /// Sets what the agent is told beside the engine's own prompt.
    pub fn prompt_parts(mut self, parts: &PromptParts) -> Self {
        let prompt = parts.compose().map_or_else(SystemPrompt::preset, SystemPrompt::preset_with);
        self.options = self.options.system_prompt(prompt);
        self
    }

    /// Guards files: nothing may write them, in any mode.
    pub fn guard<S: Into<String>>(mut self, paths: impl IntoIterator<Item = S>) -> Self {
        for path in paths {
            self.options = self.options.guard(path);
        }
        self
    }

    /// Counts failures of the provider together with earlier runs of the session.
    pub fn outages(mut self, outages: &Outages) -> Self {
        self.outages = outages.clone();
        self
    }

    /// Waits for further messages when it has done what it was asked, instead of ending.
    pub fn stay_open(mut self) -> Self {
        self.stays_open = true;
        self
    }

    /// Calls this with everything that happens.
    pub fn on_event(mut self, callback: impl Fn(RunEvent) + Send + Sync + 'static) -> Self {
        self.on_event = Some(Arc::new(callback));
        self
    }

    /// Calls this once when the run has ended: with 0 when it was done or killed, with 1 when it
    /// failed.
    pub fn on_exit(mut self, callback: impl Fn(i32) + Send + Sync + 'static) -> Self {
        self.on_exit = Some(Arc::new(callback));
        self
    }

    /// Calls this in place of `on_exit` when the provider failed three times in a row.
    pub fn on_api_outage(mut self, callback: impl Fn() + Send + Sync + 'static) -> Self {
        self.on_api_outage = Some(Arc::new(callback));
        self
    }
}

impl fmt::Debug for RunPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunPlan")
            .field("options", &self.options)
            .field("prompt", &self.prompt)
            .field("outages", &self.outages)
            .finish_non_exhaustive()
    }
}
