//! Hooks and their answers: who listens to what, and which answers are still out.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use serde_json::Value;
use tillerman_engine::{HookDecision, HookOutcome, HookRunId, IdSource};
use tillerman_policy::Rule;
use tillerman_protocol::RequestId;
use tillerman_protocol::control::ControlBody;
use tillerman_protocol::hook::{HookEvent, HookInput, HookOutput, HookRegistration, HookSource};

use crate::hook_book::{Chosen, HookBook};
use crate::hook_matcher::Matcher;
use crate::hook_setup::HookSetup;

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// Who listens, and what is still out.
#[derive(Debug, Default)]
pub(crate) struct HookDesk {
    /// Hooks that live in the host.
    listeners: Vec<Listener>,
    /// Hooks that are written down.
    book: HookBook,
    runs: HashMap<RunKey, Run>,
    asides: u64,
    /// The host can no longer answer.
    unreachable: bool,
}

/// Names a run of hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum RunKey {
    /// One the engine waits for.
    Engine(HookRunId),
    /// One nobody waits for.
    Aside(u64),
    /// One that changed settings wait for.
    Settings(u64),
    /// One that work beside the session waits for.
    Caller(u64),
    /// One that a text waits for before it is shown.
    Display(u64),
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
    /// Answers are out.
    Waiting(Vec<Callback>, Vec<HandlerStart>),
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

/// A handler to be run.
#[derive(Debug)]
pub(crate) struct HandlerStart {
    pub(crate) id: RequestId,
    pub(crate) chosen: Chosen,
    pub(crate) timeout: Duration,
}

/// What nobody waits for any more.
#[derive(Debug, Default)]
pub(crate) struct Abandoned {
    pub(crate) callbacks: Vec<RequestId>,
    pub(crate) handlers: Vec<RequestId>,
}

#[derive(Clone, Debug)]
struct Listener {
    event: HookEvent,
    matcher: Matcher,
    callback_id: String,
    timeout: Duration,
    blocks_on_failure: bool,
}

#[derive(Debug)]
struct Run {
    event: HookEvent,
    out: HashMap<RequestId, Waiting>,
    /// Answers with the place of whoever gave them, so that haste decides nothing.
    outputs: Vec<(usize, HookOutput)>,
    refusal: Option<String>,
}

/// Whose answer is out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Waiting {
    place: usize,
    who: Who,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
    Callback { blocks: bool },
    Handler,
}

impl HookDesk {
    /// A desk with the hooks that are written down; what is wrong with them joins the remarks.
    pub(crate) fn with_handlers(setup: &mut HookSetup) -> Self {
        let mut desk = Self { book: HookBook::new(setup.end_budget), ..Self::default() };
        for source in std::mem::take(&mut setup.sources) {
            setup.remarks.extend(desk.book.add(&source));
        }
        desk
    }

    /// Replaces all hooks of the host.
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
                let matcher = Matcher::of_event(event, registration.matcher.as_deref());
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
        registered.events = self.events();
        registered
    }

    /// The same listeners for an agent, with nothing out yet.
    pub(crate) fn inherit(&self) -> Self {
        Self {
            listeners: self.listeners.clone(),
            book: self.book.below(),
            unreachable: self.unreachable,
            ..Self::default()
        }
    }

    /// Adds hooks that something brings along that is used now; returns what people should know
    /// about them. What is used again brings nothing new.
    pub(crate) fn bring(&mut self, source: &HookSource) -> Vec<String> {
        if self.book.holds(source) { Vec::new() } else { self.book.add(source) }
    }

    /// Swaps the hooks of the settings; returns what people should know about the new ones.
    pub(crate) fn swap_settings(&mut self, sources: &[HookSource]) -> Vec<String> {
        self.book.forget_settings();
        sources.iter().flat_map(|source| self.book.add(source)).collect()
    }

    /// The events somebody listens to.
    pub(crate) fn events(&self) -> Vec<HookEvent> {
        let own = self.listeners.iter().map(|listener| listener.event);
        let mut events: Vec<HookEvent> = own.chain(self.book.events()).collect();
        events.sort_unstable();
        events.dedup();
        events
    }

    /// A name for a run that nobody waits for.
    pub(crate) fn aside(&mut self) -> RunKey {
        self.asides += 1;
        RunKey::Aside(self.asides)
    }

    /// A name for a run that changed settings wait for.
    pub(crate) fn for_settings(&mut self) -> RunKey {
        self.asides += 1;
        RunKey::Settings(self.asides)
    }

    /// A name for a run that work beside the session waits for.
    pub(crate) fn for_caller(&mut self) -> RunKey {
        self.asides += 1;
        RunKey::Caller(self.asides)
    }

    /// A name for a run that a text waits for.
    pub(crate) fn for_display(&mut self) -> RunKey {
        self.asides += 1;
        RunKey::Display(self.asides)
    }

    /// The files that hooks name which hear of changes.
    pub(crate) fn file_names(&self) -> Vec<String> {
        let is_about_files = |listener: &&Listener| listener.event == HookEvent::FileChanged;
        let own = self.listeners.iter().filter(is_about_files);
        let matchers = own.map(|listener| &listener.matcher);
        let matchers = matchers.chain(self.book.matchers(HookEvent::FileChanged));
        matchers.flat_map(Matcher::names).cloned().collect()
    }

    /// Begins a run.
    pub(crate) fn start(
        &mut self,
        key: RunKey,
        input: &HookInput,
        ids: &mut IdSource,
        concerns: &dyn Fn(&Rule) -> bool,
    ) -> Start {
        let Some(event) = input.detail.event() else { return Start::Done(Box::default()) };
        let mut run = Run { event, out: HashMap::new(), outputs: Vec::new(), refusal: None };
        let mut handlers = Vec::new();
        for (chosen, timeout) in self.book.choose(event, input, concerns) {
            let id = RequestId::new(ids.entry_id().as_str());
            run.expect(id.clone(), Who::Handler);
            handlers.push(HandlerStart { id, chosen, timeout });
        }
        let subject = input.subject();
        let heard =
            |listener: &&Listener| listener.event == event && listener.matcher.matches(subject);
        let mut callbacks = Vec::new();
        // Official hosts are not asked about these: they are not there yet, or not any more.
        let is_edge = matches!(event, HookEvent::Setup | HookEvent::SessionEnd);
        for listener in self.listeners.iter().filter(|_| !is_edge).filter(heard) {
            let request = RequestId::new(ids.entry_id().as_str());
            run.expect(request.clone(), Who::Callback { blocks: listener.blocks_on_failure });
            let call = input.detail.tool_use_id().map(ToString::to_string);
            let body = ControlBody::HookCallback {
                callback_id: listener.callback_id.clone(),
                input: Box::new(input.clone()),
                tool_use_id: Some(call.unwrap_or_else(|| ids.entry_id().to_string())),
            };
            callbacks.push(Callback { request, body, timeout: listener.timeout });
        }
        if self.unreachable {
            run.fail_callbacks();
            callbacks.clear();
        }
        if run.out.is_empty() {
            return Start::Done(Box::new(run.outcome()));
        }
        self.runs.insert(key, run);
        Start::Waiting(callbacks, handlers)
    }

    /// Takes one answer in; the last one of a run completes it.
    pub(crate) fn answer(
        &mut self,
        request: &RequestId,
        answer: Result<HookOutput, Failure>,
    ) -> Option<(RunKey, HookOutcome)> {
        let (key, run) = self.runs.iter_mut().find(|(_, run)| run.out.contains_key(request))?;
        let key = *key;
        let waiting = run.out.remove(request)?;
        match answer {
            Ok(output) if output.is_for_another(&run.event.name()) => {
                run.fail(Failure::FOR_ANOTHER_EVENT, waiting.who);
            }
            Ok(output) => run.outputs.push((waiting.place, output)),
            Err(failure) => run.fail(failure, waiting.who),
        }
        self.completed(key)
    }

    /// Fails every callback that is out and whatever is still to come: nobody can answer any
    /// more. Handlers go on. Returns the requests that were out and the runs this completes.
    pub(crate) fn give_up(&mut self) -> (Vec<RequestId>, Vec<(RunKey, HookOutcome)>) {
        self.unreachable = true;
        let mut requests = Vec::new();
        for run in self.runs.values_mut() {
            requests.extend(run.fail_callbacks());
        }
        let mut keys: Vec<RunKey> = self.runs.keys().copied().collect();
        keys.retain(|key| self.runs.get(key).is_some_and(|run| run.out.is_empty()));
        let done = keys.into_iter().filter_map(|key| self.completed(key)).collect();
        (requests, done)
    }

    /// Abandons a run.
    pub(crate) fn cancel(&mut self, key: RunKey) -> Abandoned {
        let mut abandoned = Abandoned::default();
        for (request, waiting) in self.runs.remove(&key).into_iter().flat_map(|run| run.out) {
            match waiting.who {
                Who::Callback { .. } => abandoned.callbacks.push(request),
                Who::Handler => abandoned.handlers.push(request),
            }
        }
        abandoned
    }

    fn completed(&mut self, key: RunKey) -> Option<(RunKey, HookOutcome)> {
        if self.runs.get(&key)?.out.is_empty() {
            return self.runs.remove(&key).map(|run| (key, run.outcome()));
        }
        None
    }
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
    const FOR_ANOTHER_EVENT: Self = Self::Silence("its answer is for another event");
    const UNREACHABLE: Self = Self::Silence("the input was closed before it answered");
}

impl Run {
    fn expect(&mut self, request: RequestId, who: Who) {
        let place = self.out.len();
        self.out.insert(request, Waiting { place, who });
    }

    /// A gate in the host that does not answer stays shut; everything else goes on without an
    /// opinion.
    fn fail(&mut self, failure: Failure, who: Who) {
        let (is_silent, text) = match failure {
            Failure::Silence(why) => (true, why.to_owned()),
            Failure::Error(text) => (false, text),
        };
        let Who::Callback { blocks } = who else { return };
        if blocks || (is_silent && self.event == HookEvent::PreToolUse) {
            self.refusal.get_or_insert(format!("a {} hook failed: {text}", self.event.name()));
        }
    }

    fn fail_callbacks(&mut self) -> Vec<RequestId> {
        let out = std::mem::take(&mut self.out).into_iter();
        let (callbacks, handlers): (Vec<_>, Vec<_>) =
            out.partition(|(_, waiting)| waiting.who != Who::Handler);
        self.out = handlers.into_iter().collect();
        for (_, waiting) in &callbacks {
            self.fail(Failure::UNREACHABLE, waiting.who);
        }
        callbacks.into_iter().map(|(request, _)| request).collect()
    }

    fn outcome(mut self) -> HookOutcome {
        self.outputs.sort_by_key(|(place, _)| *place);
        let mut outcome = HookOutcome::merge(self.outputs.into_iter().map(|(_, output)| output));
        if let Some(reason) = self.refusal {
            outcome.decision = Some(HookDecision::Deny(reason.clone()));
            outcome.block.get_or_insert(reason);
        }
        outcome
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
