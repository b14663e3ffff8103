//! File work away from the threads that drive sessions.

use std::time::Duration;

use tillerman_protocol::tool::{ToolFailure, ToolOutcome};
use tokio_util::sync::CancellationToken;

/// How long work that cannot be interrupted, such as a rename under way, may still finish.
const GRACE: Duration = Duration::from_millis(300);

/// Runs file work on a thread of its own and hands it a token that fires when the call is
/// cancelled or its future dropped.
///
/// A file system that does not answer costs one thread, never the session.
pub(crate) async fn off_thread(
    cancel: CancellationToken,
    work: impl FnOnce(&CancellationToken) -> ToolOutcome + Send + 'static,
) -> ToolOutcome {
    let token = cancel.child_token();
    let _dropped = token.clone().drop_guard();
    let mut task = tokio::task::spawn_blocking(move || work(&token));
    let ended = tokio::select! {
        ended = &mut task => ended,
        () = cancel.cancelled() => match tokio::time::timeout(GRACE, &mut task).await {
            Ok(ended) => ended,
            Err(_) => return Err(ToolFailure::new(
                "The call was interrupted while the file system had not answered yet. \
                 Whether it took effect is not known; read the file before relying on it.",
            )),
        },
    };
    ended.unwrap_or_else(|error| {
        Err(ToolFailure::new(format!(
            "The tool stopped because of a defect in it ({error}). \
             Read the file again before relying on it."
        )))
    })
}

/// The failure of a call that was interrupted before it changed anything.
pub(crate) fn interrupted() -> ToolFailure {
    ToolFailure::new("The call was interrupted before it took effect.")
}
