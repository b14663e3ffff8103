//! Which model answers, how, and how much it may use.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde_json::Value;

use crate::budget::{Budget, Deadline};
use crate::options::builder::Options;

/// Which model answers and how.
#[derive(Clone, Debug, Default)]
pub(crate) struct ModelOptions {
    pub(crate) model: Option<String>,
    pub(crate) fallbacks: Vec<String>,
    pub(crate) betas: Vec<String>,
    pub(crate) system_prompt: Option<SystemPrompt>,
    pub(crate) thinking: Option<Thinking>,
    pub(crate) effort: Option<Effort>,
    pub(crate) output_schema: Option<Value>,
    pub(crate) limits: Limits,
}

/// How much it may use.
#[derive(Clone, Debug, Default)]
pub(crate) struct Limits {
    pub(crate) max_turns: Option<u32>,
    pub(crate) max_budget_usd: Option<f64>,
    pub(crate) task_budget: Option<u64>,
    pub(crate) budget: Option<Budget>,
    pub(crate) deadline: Option<Deadline>,
}

/// What the model is told before the conversation begins.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SystemPrompt {
    /// This text and nothing else.
    Text(String),
    /// The text of this file and nothing else.
    File(PathBuf),
    /// The engine's own prompt for coding, the preset `claude_code`.
    Preset {
        /// What is added to it.
        append: Option<String>,
        /// Whether its parts that change from machine to machine are left out, so that sessions
        /// share a cache.
        exclude_dynamic_sections: bool,
    },
}

impl SystemPrompt {
    /// The engine's own prompt for coding.
    #[must_use]
    pub const fn preset() -> Self {
        Self::Preset { append: None, exclude_dynamic_sections: false }
    }

    /// The engine's own prompt for coding with this after it.
    pub fn preset_with(append: impl Into<String>) -> Self {
        Self::Preset { append: Some(append.into()), exclude_dynamic_sections: false }
    }
}

impl From<&str> for SystemPrompt {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for SystemPrompt {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

/// How the model thinks before it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Thinking {
    /// As much as it finds fit.
    Adaptive,
    /// Up to this many tokens.
    Budget(u32),
    /// Not at all.
    Disabled,
}

/// How hard the model tries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Effort {
    /// Little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
    /// Very much.
    ExtraHigh,
    /// All it can.
    Max,
}

impl Effort {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::ExtraHigh => "xhigh",
            Self::Max => "max",
        }
    }
}

/// The model: which one, what it is told, and how much it may use.
impl Options {
    /// Chooses the model: an id, an alias (`sonnet`, `opus`, `haiku`), `ollama:NAME`,
    /// `openai:NAME`, or `rehearsal` for the offline stand-in. Without it the engine chooses.
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model.model = Some(model.into());
        self
    }

    /// Names a model to try when the first one fails; several are tried in order
    /// (`fallbackModel`).
    pub fn fallback_model(mut self, model: impl Into<String>) -> Self {
        self.model.fallbacks.push(model.into());
        self
    }

    /// Switches on a beta feature of the provider, such as `context-1m-2025-08-07` (`betas`).
    pub fn beta(mut self, beta: impl Into<String>) -> Self {
        self.model.betas.push(beta.into());
        self
    }

    /// Sets what the model is told before the conversation begins (`systemPrompt`). Without it
    /// the model is told nothing; [`SystemPrompt::preset`] is the engine's own prompt for coding.
    pub fn system_prompt(mut self, prompt: impl Into<SystemPrompt>) -> Self {
        self.model.system_prompt = Some(prompt.into());
        self
    }

    /// Sets how the model thinks before it answers.
    pub fn thinking(mut self, thinking: Thinking) -> Self {
        self.model.thinking = Some(thinking);
        self
    }

    /// Lets the model think up to this many tokens; zero switches it off (`maxThinkingTokens`).
    pub fn max_thinking_tokens(self, tokens: u32) -> Self {
        self.thinking(if tokens == 0 { Thinking::Disabled } else { Thinking::Budget(tokens) })
    }

    /// Sets how hard the model tries.
    pub fn effort(mut self, effort: Effort) -> Self {
        self.model.effort = Some(effort);
        self
    }

    /// Demands an answer that matches a JSON schema (`outputFormat`). It arrives as
    /// [`structured_output`](crate::message::Answer::structured_output).
    pub fn output_format(mut self, schema: Value) -> Self {
        self.model.output_schema = Some(schema);
        self
    }

    /// Demands an answer that can be read into a type; see
    /// [`Query::parse`](crate::Query::parse).
    pub fn output_type<T: JsonSchema>(self) -> Self {
        self.output_format(crate::tools::schema_of::<T>())
    }

    /// Ends a round with `error_max_turns` after this many requests to the model (`maxTurns`).
    pub fn max_turns(mut self, turns: u32) -> Self {
        self.model.limits.max_turns = Some(turns);
        self
    }

    /// Ends a round with `error_max_budget_usd` once this many dollars are spent
    /// (`maxBudgetUsd`).
    pub fn max_budget_usd(mut self, dollars: f64) -> Self {
        self.model.limits.max_budget_usd = Some(dollars);
        self
    }

    /// Tells the model to manage with this many tokens; nothing is refused beyond them.
    pub fn task_budget(mut self, tokens: u64) -> Self {
        self.model.limits.task_budget = Some(tokens);
        self
    }

    /// Counts against a budget of tokens and dollars that other sessions may share. Tools are
    /// denied once it is used up.
    pub fn budget(mut self, budget: &Budget) -> Self {
        self.model.limits.budget = Some(budget.clone());
        self
    }

    /// Denies tools once the deadline has passed, and does not start at all after it.
    pub fn deadline(mut self, deadline: Deadline) -> Self {
        self.model.limits.deadline = Some(deadline);
        self
    }
}
