//! The hooks that hear of a session's end, which no engine asks for: it is gone by then.

use std::time::Duration;

use tillerman_protocol::hook::{HookBase, HookDetail, HookInput};
use tokio::task::{JoinError, JoinSet};

use crate::connection::host::Host;
use crate::message::{CallbackFailure, Message};

/// How long a session that is over waits for each of them.
const PATIENCE: Duration = Duration::from_secs(5);

/// Runs them, and returns what is to be told of those that failed.
pub(crate) async fn say_goodbye(host: &Host, base: HookBase) -> Vec<Message> {
    let detail = HookDetail::SessionEnd { reason: "other".to_owned() };
    let input = HookInput { base, detail };
    let mut failures = Vec::new();
    for goodbye in host.goodbyes(&input) {
        let mut running = JoinSet::new();
        running.spawn(goodbye);
        if let Ok(Some(Err(error))) = tokio::time::timeout(PATIENCE, running.join_next()).await {
            failures.push(callback_failed("hook SessionEnd".to_owned(), String::new(), error));
        }
    }
    failures
}

/// What is told of a callback that panicked.
pub(crate) fn callback_failed(callback: String, subject: String, error: JoinError) -> Message {
    let message = panic_text(error);
    Message::CallbackFailed(CallbackFailure { callback, subject, message })
}

fn panic_text(error: JoinError) -> String {
    let Ok(panic) = error.try_into_panic() else { return "it ended early".to_owned() };
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}
