//! Many hooks, one outcome.

use serde_json::{Map, Value};
use tillerman_protocol::hook::{HookOutput, HookSpecificOutput};
use tillerman_protocol::permission::PermissionResult;

/// What is said about a block whose hook says nothing.
const NO_REASON: &str = "blocked by a hook";

/// What a `PreToolUse` hook wants, weakest first: the strongest of several holds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HookDecision {
    /// Let it run, if no rule objects.
    Allow,
    /// Have somebody asked, for this reason.
    Ask(String),
    /// Stop here and let the host decide later.
    Defer,
    /// Do not run it, for this reason.
    Deny(String),
}

/// What all hooks of a run want together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HookOutcome {
    /// The run is to stop, for this reason.
    pub halt: Option<String>,
    /// What is to happen with a call.
    pub decision: Option<HookDecision>,
    /// What is about to happen is blocked, for this reason.
    pub block: Option<String>,
    /// The input to use instead.
    pub updated_input: Option<Value>,
    /// The output to show the model instead.
    pub updated_output: Option<Value>,
    /// The output to show instead, if the tool is one of an MCP server.
    pub updated_mcp_output: Option<Value>,
    /// The answer to a permission question.
    pub permission: Option<PermissionResult>,
    /// Texts for the model.
    pub context: Vec<String>,
    /// Texts for the person.
    pub messages: Vec<String>,
    /// A title for the session.
    pub title: Option<String>,
    /// A prompt to begin with.
    pub first_prompt: Option<String>,
    /// A call that was denied may be tried again.
    pub retry: bool,
    /// The answer to a question of an MCP server: `action` and `content`.
    pub answer: Option<Value>,
    /// The files to watch from now on, instead of those a hook named before.
    pub watch: Option<Vec<String>>,
    /// The text to show people instead.
    pub display: Option<String>,
    /// The directory that was made for an agent to work in alone.
    pub worktree: Option<String>,
    /// A prompt that is blocked is not repeated to the host.
    pub suppresses_prompt: bool,
}

impl HookOutcome {
    /// Joins the answers of several hooks: deny outranks defer outranks ask outranks allow.
    pub fn merge(outputs: impl IntoIterator<Item = HookOutput>) -> Self {
        let mut merged = Self::default();
        for output in outputs {
            merged.take(output);
        }
        merged
    }

    fn take(&mut self, output: HookOutput) {
        let reason = output.reason.unwrap_or_default();
        if output.go_on == Some(false) {
            let why = output.stop_reason.unwrap_or_else(|| reason.clone());
            self.halt.get_or_insert(why);
        }
        match output.decision.as_deref() {
            Some("block") => {
                let reason = given(reason);
                self.block.get_or_insert_with(|| reason.clone());
                self.decide(HookDecision::Deny(reason));
            }
            Some("approve") => self.decide(HookDecision::Allow),
            _ => {}
        }
        self.messages.extend(output.system_message);
        if let Some(specific) = output.hook_specific_output {
            self.take_specific(specific);
        }
    }

    fn take_specific(&mut self, specific: HookSpecificOutput) {
        let reason = specific.permission_decision_reason.unwrap_or_default();
        match specific.permission_decision.as_deref() {
            Some("deny") => self.decide(HookDecision::Deny(given(reason))),
            Some("defer") => self.decide(HookDecision::Defer),
            Some("ask") => self.decide(HookDecision::Ask(reason)),
            Some("allow") => self.decide(HookDecision::Allow),
            _ => {}
        }
        self.context.extend(specific.additional_context);
        self.updated_input = specific.updated_input.or_else(|| self.updated_input.take());
        self.updated_output = specific.updated_tool_output.or_else(|| self.updated_output.take());
        let mcp_output = specific.updated_mcp_tool_output;
        self.updated_mcp_output = mcp_output.or_else(|| self.updated_mcp_output.take());
        self.title = specific.session_title.or_else(|| self.title.take());
        self.first_prompt = specific.initial_user_message.or_else(|| self.first_prompt.take());
        self.retry |= specific.retry == Some(true);
        self.take_answer(&specific.extra);
        if let Some(paths) = specific.watch_paths {
            self.watch.get_or_insert_default().extend(paths);
        }
        let text = |name: &str| specific.extra.get(name).and_then(Value::as_str).map(str::to_owned);
        self.display = text("displayContent").or_else(|| self.display.take());
        self.worktree = text("worktreePath").or_else(|| self.worktree.take());
        let suppresses = specific.extra.get("suppressOriginalPrompt").and_then(Value::as_bool);
        self.suppresses_prompt |= suppresses == Some(true);
        let answer = specific.decision.and_then(|value| serde_json::from_value(value).ok());
        match (&self.permission, answer) {
            (Some(PermissionResult::Deny { .. }), _) | (_, None) => {}
            (_, Some(answer)) => self.permission = Some(answer),
        }
    }

    /// Takes an answer to a question; one that agrees to nothing outranks one that does.
    fn take_answer(&mut self, extra: &Map<String, Value>) {
        let Some(action) = extra.get("action").and_then(Value::as_str) else { return };
        let agrees = action == "accept";
        let is_known = agrees || matches!(action, "decline" | "cancel");
        if is_known && (self.answer.is_none() || !agrees) {
            let fields = ["action", "content"].into_iter();
            let fields =
                fields.filter_map(|name| Some((name.to_owned(), extra.get(name)?.clone())));
            self.answer = Some(Value::Object(fields.collect()));
        }
    }

    fn decide(&mut self, decision: HookDecision) {
        if self.decision.as_ref().is_none_or(|held| decision > *held) {
            self.decision = Some(decision);
        }
    }
}

/// A reason, or that there is none.
fn given(reason: String) -> String {
    if reason.trim().is_empty() { NO_REASON.to_owned() } else { reason }
}
