//! The bus and what travels on it.

use std::collections::BTreeMap;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tillerman_protocol::stream::Usage;

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A prompt is on its way to the model.
    PromptRendered(PromptRendered),
    /// A tool was used. There is one such event per call, whether it worked or not.
    ToolInvoked(ToolInvoked),
    /// A round is over.
    PromptExecuted(PromptExecuted),
}

/// A prompt is on its way to the model.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PromptRendered {
    /// The text of the prompt.
    pub text: String,
    /// The tools the agent has, as far as they are known by then.
    pub tools: Vec<String>,
}

/// A tool was used.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolInvoked {
    /// The call.
    pub call_id: String,
    /// The tool.
    pub name: String,
    /// Its input.
    pub params: Value,
    /// What it returned: its structured outcome where there is one, else its text.
    pub result: Value,
    /// Whether it failed or was not allowed to run.
    pub is_error: bool,
    /// The call whose subagent used it; nothing for the main agent.
    pub parent_call_id: Option<String>,
}

/// A round is over.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PromptExecuted {
    /// What the agent said last.
    pub output: String,
    /// The structured answer, where one was asked for.
    pub structured_output: Option<Value>,
    /// Whether the round failed.
    pub is_error: bool,
    /// Tokens of the round.
    pub usage: Usage,
    /// Dollars of the session so far.
    pub total_cost_usd: f64,
    /// How long it took.
    pub duration: Duration,
}

type Listener = Arc<dyn Fn(&Event) + Send + Sync>;

/// Passes events on to whoever subscribed. Clones are the same bus.
#[derive(Clone, Default)]
pub struct EventBus {
    listeners: Arc<Mutex<Listeners>>,
}

#[derive(Default)]
struct Listeners {
    next: u64,
    by_number: BTreeMap<u64, Listener>,
}

impl EventBus {
    /// A bus without subscribers.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Calls this with every event until the subscription is dropped. Events of a session arrive
    /// in order, from the task that reads it: take long only elsewhere.
    pub fn subscribe(&self, listener: impl Fn(&Event) + Send + Sync + 'static) -> Subscription {
        let mut listeners = self.locked();
        let number = listeners.next;
        listeners.next += 1;
        listeners.by_number.insert(number, Arc::new(listener));
        drop(listeners);
        Subscription { bus: self.clone(), number }
    }

    /// Tells all subscribers.
    pub fn publish(&self, event: &Event) {
        let listeners: Vec<Listener> = self.locked().by_number.values().cloned().collect();
        for listener in listeners {
            let told = std::panic::catch_unwind(AssertUnwindSafe(|| listener(event)));
            if told.is_err() {
                tracing::error!("a subscriber of the event bus panicked; the run goes on");
            }
        }
    }

    fn locked(&self) -> MutexGuard<'_, Listeners> {
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for EventBus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EventBus({} subscribers)", self.locked().by_number.len())
    }
}

/// Keeps a subscriber subscribed.
#[derive(Debug)]
#[must_use = "dropping it ends the subscription"]
pub struct Subscription {
    bus: EventBus,
    number: u64,
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let listener = self.bus.locked().by_number.remove(&self.number);
        // Outside the lock: what it holds may itself use the bus when it goes.
        drop(listener);
    }
}
