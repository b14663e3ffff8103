//! The handlers of a session: hooks that are written down, and which of them an event runs.

use std::sync::Arc;
use std::time::Duration;

use tillerman_policy::Rule;
use tillerman_protocol::hook::{
    HookAction, HookEvent, HookGroup, HookHandler, HookInput, HookScope, HookSource,
};

use crate::hook_matcher::Matcher;

const USUAL: Duration = Duration::from_secs(600);
const QUICK: Duration = Duration::from_secs(30);
const AGENT: Duration = Duration::from_secs(60);
const DISPLAY: Duration = Duration::from_secs(10);
const END: Duration = Duration::from_millis(1_500);
const LONGEST_END: Duration = Duration::from_secs(60);
const LONGEST: f64 = 86_400.0;

/// The handlers of a session.
#[derive(Clone, Debug, Default)]
pub(crate) struct HookBook {
    entries: Vec<Entry>,
    end_budget: Option<Duration>,
}

#[derive(Clone, Debug)]
struct Entry {
    event: HookEvent,
    matcher: Matcher,
    condition: Option<Rule>,
    chosen: Chosen,
    is_spent: bool,
}

/// A handler that an event runs.
#[derive(Clone, Debug)]
pub(crate) struct Chosen {
    pub(crate) handler: Arc<HookHandler>,
    pub(crate) origin: Arc<str>,
    pub(crate) variables: Arc<[(String, String)]>,
    scope: HookScope,
}

impl Chosen {
    /// Whether running the other one would do the same again.
    fn is_same(&self, other: &Self) -> bool {
        self.handler.action == other.handler.action && self.variables == other.variables
    }
}

impl HookBook {
    pub(crate) fn new(end_budget: Option<Duration>) -> Self {
        Self { entries: Vec::new(), end_budget }
    }

    /// Forgets the handlers of the settings, which others are about to replace.
    pub(crate) fn forget_settings(&mut self) {
        self.entries.retain(|entry| entry.chosen.scope != HookScope::Settings);
    }

    /// The handlers that hold for an agent as well: all but those of the agent above it.
    pub(crate) fn below(&self) -> Self {
        let mut below = self.clone();
        below.entries.retain(|entry| entry.chosen.scope != HookScope::Agent);
        below
    }

    /// Whether the section of this skill or agent was added before.
    pub(crate) fn holds(&self, source: &HookSource) -> bool {
        let is_its = |it: &Chosen| it.scope == source.scope && *it.origin == *source.origin;
        self.entries.iter().any(|entry| is_its(&entry.chosen))
    }

    /// Adds a section; returns what people should know about it.
    pub(crate) fn add(&mut self, source: &HookSource) -> Vec<String> {
        let origin: Arc<str> = source.origin.as_str().into();
        let variables: Arc<[(String, String)]> = source.variables.as_slice().into();
        let problems = source.section.problems.iter();
        let mut remarks: Vec<String> =
            problems.map(|problem| format!("In the hooks of {origin}, {problem}.")).collect();
        for group in &source.section.groups {
            let matcher = Matcher::of_event(group.event, group.matcher.as_deref());
            let matcher = matcher.unwrap_or_else(|error| {
                remarks.push(format!(
                    "The matcher of a {} hook of {origin} cannot be used: {error}. The hook runs \
                     for everything.",
                    group.event.name()
                ));
                Matcher::Everything
            });
            for handler in &group.handlers {
                let Some(condition) = condition(group, handler, &origin, &mut remarks) else {
                    continue;
                };
                let (origin, variables) = (Arc::clone(&origin), Arc::clone(&variables));
                let handler = Arc::new(handler.clone());
                let chosen = Chosen { handler, origin, variables, scope: source.scope };
                let (event, matcher) = (group.event, matcher.clone());
                self.entries.push(Entry { event, matcher, condition, chosen, is_spent: false });
            }
        }
        remarks
    }

    /// The events that handlers listen to.
    pub(crate) fn events(&self) -> impl Iterator<Item = HookEvent> {
        self.entries.iter().map(|entry| entry.event)
    }

    /// What the handlers of an event are for.
    pub(crate) fn matchers(&self, event: HookEvent) -> impl Iterator<Item = &Matcher> {
        self.entries.iter().filter(move |entry| entry.event == event).map(|entry| &entry.matcher)
    }

    /// The handlers that an event runs: each once, however often it was written down.
    pub(crate) fn choose(
        &mut self,
        event: HookEvent,
        input: &HookInput,
        concerns: &dyn Fn(&Rule) -> bool,
    ) -> Vec<(Chosen, Duration)> {
        let subject = input.subject();
        let end_budget = self.end_budget;
        let mut chosen: Vec<(Chosen, Duration)> = Vec::new();
        for entry in &mut self.entries {
            let fits = entry.event == event
                && !entry.is_spent
                && entry.matcher.matches(subject)
                && entry.condition.as_ref().is_none_or(concerns);
            if !fits {
                continue;
            }
            entry.is_spent = entry.chosen.handler.once && entry.chosen.scope == HookScope::Skill;
            if !chosen.iter().any(|(held, _)| held.is_same(&entry.chosen)) {
                let time = time_limit(&entry.chosen.handler, event, end_budget);
                chosen.push((entry.chosen.clone(), time));
            }
        }
        chosen
    }
}

/// The condition of a handler; nothing when the handler can never run.
fn condition(
    group: &HookGroup,
    handler: &HookHandler,
    origin: &str,
    remarks: &mut Vec<String>,
) -> Option<Option<Rule>> {
    let Some(text) = &handler.condition else { return Some(None) };
    let name = group.event.name();
    if !is_about_calls(group.event) {
        remarks.push(format!(
            "A {name} hook of {origin} has the condition {text}, but {name} is not about calls. It \
             will never run; remove the condition."
        ));
        return None;
    }
    match Rule::parse(text) {
        Ok(rule) => Some(Some(rule)),
        Err(error) => {
            remarks.push(format!(
                "The condition of a {name} hook of {origin} cannot be read: {error}. The hook runs \
                 whatever the call."
            ));
            Some(None)
        }
    }
}

const fn is_about_calls(event: HookEvent) -> bool {
    matches!(
        event,
        HookEvent::PreToolUse
            | HookEvent::PostToolUse
            | HookEvent::PostToolUseFailure
            | HookEvent::PermissionRequest
            | HookEvent::PermissionDenied
    )
}

fn time_limit(handler: &HookHandler, event: HookEvent, end_budget: Option<Duration>) -> Duration {
    let seconds = handler.timeout.filter(|seconds| seconds.is_finite() && *seconds > 0.0);
    let own = seconds.map(|seconds| Duration::from_secs_f64(seconds.min(LONGEST)));
    if event == HookEvent::SessionEnd {
        return own.or(end_budget).unwrap_or(END).min(LONGEST_END);
    }
    own.unwrap_or(match (event, &handler.action) {
        (HookEvent::MessageDisplay, _) => DISPLAY,
        (HookEvent::UserPromptSubmit, _) | (_, HookAction::Prompt(_)) => QUICK,
        (_, HookAction::Agent(_)) => AGENT,
        _ => USUAL,
    })
}
