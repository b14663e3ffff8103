//! Deadlines and budgets as a hook before each tool.

use tillerman_protocol::hook::{HookEvent, HookOutput};

use crate::budget::{Budget, Deadline};
use crate::callback::{Hook, HookMatcher, HookPoint as _, PreToolUse, ToolAnswer, ask};
use crate::options::Options;

/// The hook that denies tools when time or budget is used up, if there is either.
pub(crate) fn hook(options: &Options) -> Option<Hook> {
    let limits = &options.model.limits;
    let (budget, deadline) = (limits.budget.clone(), limits.deadline);
    if budget.is_none() && deadline.is_none() {
        return None;
    }
    let callback = ask(move |_| {
        let answer = match reason(budget.as_ref(), deadline) {
            Some(reason) => PreToolUse::write(ToolAnswer::deny(reason)),
            None => HookOutput::default(),
        };
        std::future::ready(answer)
    });
    // Without an answer nobody knows whether there is any budget left.
    let matcher = HookMatcher::all().block_on_failure();
    Some(Hook { event: HookEvent::PreToolUse, matcher, callback })
}

fn reason(budget: Option<&Budget>, deadline: Option<Deadline>) -> Option<&'static str> {
    if deadline.is_some_and(|deadline| deadline.has_passed()) {
        return Some("Deadline exceeded");
    }
    budget.and_then(Budget::exhausted)
}
