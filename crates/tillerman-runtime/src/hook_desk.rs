//! Hooks that live in the host: who listens to what, and which answers are still out.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use regex::Regex;
use serde_json::Value;
use tillerman_engine::{HookDecision, HookOutcome, HookRunId, IdSource};
use tillerman_protocol::RequestId;
use tillerman_protocol::control::ControlBody;
use tillerman_protocol::hook::{HookDetail, HookEvent, HookInput, HookOutput, HookRegistration};

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// Who listens, and what is still out.
#[derive(Debug, Default)]
pub(crate) struct HookDesk {
    listeners: Vec<Listener>,
    runs: HashMap<HookRunId, Run>,
}

/// A callback to be called.
#[derive(Debug)]
pub(crate) struct Callback {
    pub(crate) request: RequestId,
    pub(crate) body: ControlBody,
    pub(crate) timeout: Duration,
}

#[derive(Debug)]
struct Listener {
    event: HookEvent,
    matcher: Matcher,
    callback_id: String,
    timeout: Duration,
    blocks_on_failure: bool,
}

#[derive(Debug)]
enum Matcher {
    Everything,
    Names(Vec<String>),
    Pattern(Box<Regex>),
    /// A pattern that does not compile matches nothing.
    Nothing,
}

#[derive(Debug)]
struct Run {
    event: HookEvent,
    /// The callbacks that are still out, and whether their failure blocks.
    out: HashMap<RequestId, bool>,
    outputs: Vec<HookOutput>,
    refusal: Option<String>,
}

impl HookDesk {
    /// Replaces all listeners; returns the events listened to and the names nobody knows.
    pub(crate) fn register(
        &mut self,
        hooks: &BTreeMap<String, Vec<HookRegistration>>,
    ) -> (Vec<HookEvent>, Vec<String>) {
        self.listeners.clear();
        let mut unknown = Vec::new();
        for (name, registrations) in hooks {
            match serde_json::from_value(Value::String(name.clone())) {
                Ok(event) => {
                    self.listeners.extend(registrations.iter().flat_map(|r| listeners(event, r)));
                }
                Err(_) => unknown.push(name.clone()),
            }
        }
        (self.listeners.iter().map(|listener| listener.event).collect(), unknown)
    }

    /// Begins a run; with no callback to call there is nothing to wait for.
    pub(crate) fn start(
        &mut self,
        run: HookRunId,
        input: &HookInput,
        ids: &mut IdSource,
    ) -> Vec<Callback> {
        let Some((event, subject, tool_use_id)) = describe(&input.detail) else {
            return Vec::new();
        };
        let heard = |listener: &&Listener| {
            listener.event == event && listener.matcher.matches(subject.as_deref())
        };
        let mut out = HashMap::new();
        let callbacks: Vec<Callback> = self
            .listeners
            .iter()
            .filter(heard)
            .map(|listener| {
                let request = RequestId::new(ids.entry_id().as_str());
                out.insert(request.clone(), listener.blocks_on_failure);
                let body = ControlBody::HookCallback {
                    callback_id: listener.callback_id.clone(),
                    input: Box::new(input.clone()),
                    tool_use_id: Some(
                        tool_use_id.clone().unwrap_or_else(|| ids.entry_id().to_string()),
                    ),
                };
                Callback { request, body, timeout: listener.timeout }
            })
            .collect();
        if !callbacks.is_empty() {
            self.runs.insert(run, Run { event, out, outputs: Vec::new(), refusal: None });
        }
        callbacks
    }

    /// Takes one answer in; the last one of a run completes it.
    pub(crate) fn answer(
        &mut self,
        request: &RequestId,
        answer: Result<HookOutput, Failure>,
    ) -> Option<(HookRunId, HookOutcome)> {
        let (id, run) = self.runs.iter_mut().find(|(_, run)| run.out.contains_key(request))?;
        let id = *id;
        let blocks = run.out.remove(request).unwrap_or(false);
        match answer {
            Ok(output) => run.outputs.push(output),
            Err(failure) => run.fail(failure, blocks),
        }
        if run.out.is_empty() { self.complete(id) } else { None }
    }

    /// Fails everything that is still out.
    pub(crate) fn fail_all(&mut self, why: &str) -> Vec<(HookRunId, HookOutcome)> {
        let ids: Vec<HookRunId> = self.runs.keys().copied().collect();
        for run in self.runs.values_mut() {
            for (_, blocks) in std::mem::take(&mut run.out) {
                run.fail(Failure::Error(why.to_owned()), blocks);
            }
        }
        ids.into_iter().filter_map(|id| self.complete(id)).collect()
    }

    /// Abandons a run; returns the requests that nobody waits for any more.
    pub(crate) fn cancel(&mut self, run: HookRunId) -> Vec<RequestId> {
        self.runs.remove(&run).map_or_else(Vec::new, |run| run.out.into_keys().collect())
    }

    fn complete(&mut self, id: HookRunId) -> Option<(HookRunId, HookOutcome)> {
        let run = self.runs.remove(&id)?;
        let mut outcome = HookOutcome::merge(run.outputs);
        if let Some(reason) = run.refusal {
            outcome.decision = Some(HookDecision::Deny(reason.clone()));
            outcome.block.get_or_insert(reason);
        }
        Some((id, outcome))
    }
}

/// Why a callback has no answer.
#[derive(Debug)]
pub(crate) enum Failure {
    TimedOut,
    Error(String),
}

impl Run {
    /// A gate that does not answer stays shut; everything else goes on without an opinion.
    fn fail(&mut self, failure: Failure, blocks: bool) {
        let (is_timeout, text) = match failure {
            Failure::TimedOut => (true, "it did not respond before its timeout".to_owned()),
            Failure::Error(text) => (false, text),
        };
        if blocks || (is_timeout && self.event == HookEvent::PreToolUse) {
            self.refusal.get_or_insert(format!("a {} hook failed: {text}", self.event.name()));
        }
    }
}

impl Matcher {
    fn parse(text: Option<&str>) -> Self {
        let text = text.unwrap_or("");
        let is_name = |c: char| c.is_ascii_alphanumeric() || "_- ,|".contains(c);
        if text.is_empty() || text == "*" {
            Self::Everything
        } else if text.chars().all(is_name) {
            let names = text.split([',', '|']).map(|name| name.trim().to_owned());
            Self::Names(names.collect())
        } else {
            Regex::new(text).map_or(Self::Nothing, |pattern| Self::Pattern(Box::new(pattern)))
        }
    }

    fn matches(&self, subject: Option<&str>) -> bool {
        match (self, subject) {
            (Self::Everything, _) => true,
            (_, None) => true,
            (Self::Names(names), Some(subject)) => names.iter().any(|name| name == subject),
            (Self::Pattern(pattern), Some(subject)) => pattern.is_match(subject),
            (Self::Nothing, _) => false,
        }
    }
}

fn listeners(event: HookEvent, registration: &HookRegistration) -> Vec<Listener> {
    let seconds = registration.timeout.filter(|seconds| seconds.is_finite() && *seconds > 0.0);
    let timeout = seconds.map_or(DEFAULT_TIMEOUT, |s| Duration::from_secs_f64(s.min(86_400.0)));
    let listener = |callback_id: &String| Listener {
        event,
        matcher: Matcher::parse(registration.matcher.as_deref()),
        callback_id: callback_id.clone(),
        timeout,
        blocks_on_failure: registration.on_failure.as_deref() == Some("block"),
    };
    registration.hook_callback_ids.iter().map(listener).collect()
}

/// The event, what matchers look at, and the call it belongs to.
fn describe(detail: &HookDetail) -> Option<(HookEvent, Option<String>, Option<String>)> {
    let (event, subject, call) = match detail {
        HookDetail::PreToolUse { tool_name, tool_use_id, .. } => {
            (HookEvent::PreToolUse, Some(tool_name), Some(tool_use_id))
        }
        HookDetail::PostToolUse { tool_name, tool_use_id, .. } => {
            (HookEvent::PostToolUse, Some(tool_name), Some(tool_use_id))
        }
        HookDetail::PostToolUseFailure { tool_name, tool_use_id, .. } => {
            (HookEvent::PostToolUseFailure, Some(tool_name), Some(tool_use_id))
        }
        HookDetail::PermissionRequest { tool_name, .. } => {
            (HookEvent::PermissionRequest, Some(tool_name), None)
        }
        HookDetail::PostToolBatch { .. } => (HookEvent::PostToolBatch, None, None),
        HookDetail::UserPromptSubmit { .. } => (HookEvent::UserPromptSubmit, None, None),
        HookDetail::SessionStart { source, .. } => (HookEvent::SessionStart, Some(source), None),
        HookDetail::SessionEnd { reason } => (HookEvent::SessionEnd, Some(reason), None),
        HookDetail::Stop { .. } => (HookEvent::Stop, None, None),
        HookDetail::StopFailure { .. } => (HookEvent::StopFailure, None, None),
        HookDetail::Notification { notification_type, .. } => {
            (HookEvent::Notification, Some(notification_type), None)
        }
        HookDetail::Other(_) => return None,
    };
    Some((event, subject.cloned(), call.map(ToString::to_string)))
}
