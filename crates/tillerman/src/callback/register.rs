//! Hooks as they are registered, and as they are found again when the engine calls them back.

use std::collections::{BTreeMap, HashMap};

use tillerman_protocol::hook::{HookEvent, HookInput, HookOutput, HookRegistration};

use crate::callback::ask::Ask;
use crate::callback::matcher::HookMatcher;

/// A callback that runs at an event.
#[derive(Clone)]
pub(crate) struct Hook {
    pub(crate) event: HookEvent,
    pub(crate) matcher: HookMatcher,
    pub(crate) callback: Ask<HookInput, HookOutput>,
}

impl std::fmt::Debug for Hook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Hook").field(&self.event).field(&self.matcher).finish()
    }
}

/// Callbacks by the ids that the engine calls them by.
#[derive(Clone, Debug, Default)]
pub(crate) struct HookTable {
    hooks: HashMap<String, Hook>,
}

/// What the engine is told about hooks.
pub(crate) type Registered = BTreeMap<String, Vec<HookRegistration>>;

impl HookTable {
    /// Gives every hook an id.
    pub(crate) fn new(hooks: &[Hook]) -> Self {
        let named = hooks.iter().enumerate();
        Self { hooks: named.map(|(at, hook)| (id(at), hook.clone())).collect() }
    }

    /// What the engine is told; nothing when there are no hooks.
    pub(crate) fn registration(hooks: &[Hook]) -> Option<Registered> {
        let mut registered = Registered::new();
        // Of their end sessions are told here, since an engine that is gone cannot ask.
        let asked = |(_, hook): &(usize, &Hook)| hook.event != HookEvent::SessionEnd;
        for (at, hook) in hooks.iter().enumerate().filter(asked) {
            let matcher = &hook.matcher;
            registered.entry(hook.event.name()).or_default().push(HookRegistration {
                matcher: matcher.pattern.clone(),
                hook_callback_ids: vec![id(at)],
                timeout: matcher.timeout.map(|timeout| timeout.as_secs_f64()),
                on_failure: matcher.blocks.then(|| "block".to_owned()),
            });
        }
        (!registered.is_empty()).then_some(registered)
    }

    pub(crate) fn find(&self, id: &str) -> Option<&Hook> {
        self.hooks.get(id)
    }
}

fn id(at: usize) -> String {
    format!("hook_{at}")
}
