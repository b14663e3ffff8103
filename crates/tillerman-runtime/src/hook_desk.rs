//! Hooks that live in the host: who listens to what, and which answers are still out.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use regex::Regex;
use serde_json::Value;
use tillerman_engine::{HookDecision, HookOutcome, HookRunId, IdSource};
use tillerman_protocol::RequestId;
use tillerman_protocol::control::ControlBody;
use tillerman_protocol::hook::{HookEvent, HookInput, HookOutput, HookRegistration};

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// Who listens, and what is still out.
#[derive(Debug, Default)]
pub(crate) struct HookDesk {
    listeners: Vec<Listener>,
    runs: HashMap<HookRunId, Run>,
    /// The host can no longer answer.
    unreachable: bool,
}

/// What registering hooks came to.
#[derive(Debug, Default)]
pub(crate) struct Registered {
    /// The events somebody listens to.
    pub(crate) events: Vec<HookEvent>,
    /// What the host should know about its hooks: a key and a text.
    pub(crate) complaints: Vec<(&'static str, String)>,
}

/// How a run began.
#[derive(Debug)]
pub(crate) enum Start {
    /// Callbacks are out.
    Waiting(Vec<Callback>),
    /// There is nobody to wait for.
    Done(Box<HookOutcome>),
}

/// A callback to be called.
#[derive(Debug)]
pub(crate) struct Callback {
    pub(crate) request: RequestId,
    pub(crate) body: ControlBody,
    pub(crate) timeout: Duration,
}

#[derive(Clone, Debug)]
struct Listener {
    event: HookEvent,
    matcher: Matcher,
    callback_id: String,
    timeout: Duration,
    blocks_on_failure: bool,
}

#[derive(Clone, Debug)]
enum Matcher {
    Everything,
    Names(Vec<String>),
    Pattern(Box<Regex>),
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
    /// Replaces all listeners.
    pub(crate) fn register(
        &mut self,
        hooks: &BTreeMap<String, Vec<HookRegistration>>,
    ) -> Registered {
        self.listeners.clear();
        let mut registered = Registered::default();
        for (name, registrations) in hooks {
            let Ok(event) = serde_json::from_value(Value::String(name.clone())) else {
                let text = format!("The hook event {name} is not known; its hooks will never run.");
                registered.complaints.push(("unknown_hook_event", text));
                continue;
            };
            for registration in registrations {
                let matcher = Matcher::parse(registration.matcher.as_deref());
                let matcher = matcher.unwrap_or_else(|error| {
                    let text = format!(
                        "The matcher of a {name} hook cannot be used: {error}. The hook runs \
                         for everything."
                    );
                    registered.complaints.push(("bad_hook_matcher", text));
                    Matcher::Everything
                });
                self.listeners.extend(listeners(event, &matcher, registration));
            }
        }
        registered.events = self.listeners.iter().map(|listener| listener.event).collect();
        registered
    }

    /// The same listeners for an agent, with nothing out yet.
    pub(crate) fn inherit(&self) -> Self {
        let listeners = self.listeners.clone();
        Self { listeners, runs: HashMap::new(), unreachable: self.unreachable }
    }

    /// Begins a run.
    pub(crate) fn start(&mut self, run: HookRunId, input: &HookInput, ids: &mut IdSource) -> Start {
        let Some(event) = input.detail.event() else { return Start::Done(Box::default()) };
        let subject = input.subject();
        let heard =
            |listener: &&Listener| listener.event == event && listener.matcher.matches(subject);
        let mut out = HashMap::new();
        let mut callbacks = Vec::new();
        for listener in self.listeners.iter().filter(heard) {
            let request = RequestId::new(ids.entry_id().as_str());
            out.insert(request.clone(), listener.blocks_on_failure);
            let call = input.detail.tool_use_id().map(ToString::to_string);
            let body = ControlBody::HookCallback {
                callback_id: listener.callback_id.clone(),
                input: Box::new(input.clone()),
                tool_use_id: Some(call.unwrap_or_else(|| ids.entry_id().to_string())),
            };
            callbacks.push(Callback { request, body, timeout: listener.timeout });
        }
        let mut begun = Run { event, out, outputs: Vec::new(), refusal: None };
        if self.unreachable {
            begun.fail_rest();
        }
        if begun.out.is_empty() {
            return Start::Done(Box::new(begun.outcome()));
        }
        self.runs.insert(run, begun);
        Start::Waiting(callbacks)
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
        if !run.out.is_empty() {
            return None;
        }
        self.runs.remove(&id).map(|run| (id, run.outcome()))
    }

    /// Fails everything that is out and whatever is still to come: nobody can answer any more.
    pub(crate) fn give_up(&mut self) -> Vec<GivenUp> {
        self.unreachable = true;
        let runs = std::mem::take(&mut self.runs);
        let given_up = runs.into_iter().map(|(id, mut run)| {
            let requests = run.out.keys().cloned().collect();
            run.fail_rest();
            GivenUp { run: id, requests, outcome: run.outcome() }
        });
        given_up.collect()
    }

    /// Abandons a run; returns the requests that nobody waits for any more.
    pub(crate) fn cancel(&mut self, run: HookRunId) -> Vec<RequestId> {
        self.runs.remove(&run).map_or_else(Vec::new, |run| run.out.into_keys().collect())
    }
}

/// A run whose answers will never come.
#[derive(Debug)]
pub(crate) struct GivenUp {
    pub(crate) run: HookRunId,
    pub(crate) requests: Vec<RequestId>,
    pub(crate) outcome: HookOutcome,
}

/// Why a callback has no answer.
#[derive(Debug)]
pub(crate) enum Failure {
    /// It never came, for this reason.
    Silence(&'static str),
    /// The callback failed.
    Error(String),
}

impl Failure {
    pub(crate) const TIMED_OUT: Self = Self::Silence("it did not respond before its timeout");
    const UNREACHABLE: Self = Self::Silence("the input was closed before it answered");
}

impl Run {
    /// A gate that does not answer stays shut; everything else goes on without an opinion.
    fn fail(&mut self, failure: Failure, blocks: bool) {
        let (is_silent, text) = match failure {
            Failure::Silence(why) => (true, why.to_owned()),
            Failure::Error(text) => (false, text),
        };
        if blocks || (is_silent && self.event == HookEvent::PreToolUse) {
            self.refusal.get_or_insert(format!("a {} hook failed: {text}", self.event.name()));
        }
    }

    fn fail_rest(&mut self) {
        for (_, blocks) in std::mem::take(&mut self.out) {
            self.fail(Failure::UNREACHABLE, blocks);
        }
    }

    fn outcome(self) -> HookOutcome {
        let mut outcome = HookOutcome::merge(self.outputs);
        if let Some(reason) = self.refusal {
            outcome.decision = Some(HookDecision::Deny(reason.clone()));
            outcome.block.get_or_insert(reason);
        }
        outcome
    }
}

impl Matcher {
    fn parse(text: Option<&str>) -> Result<Self, regex::Error> {
        let text = text.unwrap_or("");
        let is_name = |c: char| c.is_ascii_alphanumeric() || "_- ,|".contains(c);
        if text.is_empty() || text == "*" {
            Ok(Self::Everything)
        } else if text.chars().all(is_name) {
            let names = text.split([',', '|']).map(|name| name.trim().to_owned());
            Ok(Self::Names(names.collect()))
        } else {
            Regex::new(text).map(|pattern| Self::Pattern(Box::new(pattern)))
        }
    }

    fn matches(&self, subject: Option<&str>) -> bool {
        match (self, subject) {
            (Self::Everything, _) | (_, None) => true,
            (Self::Names(names), Some(subject)) => names.iter().any(|name| name == subject),
            (Self::Pattern(pattern), Some(subject)) => pattern.is_match(subject),
        }
    }
}

fn listeners(
    event: HookEvent,
    matcher: &Matcher,
    registration: &HookRegistration,
) -> Vec<Listener> {
    let seconds = registration.timeout.filter(|seconds| seconds.is_finite() && *seconds > 0.0);
    let timeout = seconds.map_or(DEFAULT_TIMEOUT, |s| Duration::from_secs_f64(s.min(86_400.0)));
    let listener = |callback_id: &String| Listener {
        event,
        matcher: matcher.clone(),
        callback_id: callback_id.clone(),
        timeout,
        blocks_on_failure: registration.on_failure.as_deref() == Some("block"),
    };
    registration.hook_callback_ids.iter().map(listener).collect()
}
