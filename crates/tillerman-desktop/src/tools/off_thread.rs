//! File work on a thread of its own, within the time of a call.

use std::sync::Arc;

use tillerman_ports::{BoxFuture, ToolCall};
use tillerman_protocol::tool::{ToolFailure, ToolOutcome};
use tokio_util::sync::CancellationToken;

use crate::config::DesktopConfig;
use crate::plan::failed;

/// Does file work. It is handed a token that fires when nobody waits for it any more.
pub(crate) fn off_thread(
    config: Arc<DesktopConfig>,
    call: ToolCall,
    work: fn(&DesktopConfig, &serde_json::Value, &CancellationToken) -> ToolOutcome,
) -> BoxFuture<ToolOutcome> {
    Box::pin(async move {
        let time = config.limits().time;
        let token = call.cancel.child_token();
        let given_up = token.clone().drop_guard();
        let task = tokio::task::spawn_blocking(move || work(&config, &call.input, &token));
        let outcome = tokio::select! {
            ended = tokio::time::timeout(time, task) => match ended {
                Ok(Ok(outcome)) => outcome,
                Ok(Err(error)) => failed(format!("The tool stopped because of a defect in it ({error}).")),
                Err(_) => failed(format!(
                    "It took longer than {} s and was given up. Ask for less.",
                    time.as_secs()
                )),
            },
            () = call.cancel.cancelled() => Err(ToolFailure::new("The call was interrupted.")),
        };
        drop(given_up);
        outcome
    })
}
