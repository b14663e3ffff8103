//! Bypassing permissions is for sessions that were started for it, whichever way it is asked for.

use tillerman_engine::{Input, PermissionAnswer};
use tillerman_protocol::permission::{PermissionMode, PermissionResult, PermissionUpdate};

use crate::session_task::SessionTask;

impl SessionTask {
    /// Takes a change to `bypassPermissions` out of an answer of the host; the rest of it holds.
    pub(crate) async fn without_bypass(&mut self, mut input: Input) -> Input {
        if self.facing.may_bypass {
            return input;
        }
        let updates = match &mut input {
            Input::PermissionAnswered {
                answer: PermissionAnswer::Allow { updates, .. }, ..
            } => Some(updates),
            Input::HooksAnswered { outcome, .. } => match &mut outcome.permission {
                Some(PermissionResult::Allow { updated_permissions, .. }) => {
                    updated_permissions.as_mut()
                }
                _ => None,
            },
            _ => None,
        };
        let Some(updates) = updates else { return input };
        let wanted = updates.len();
        updates.retain(|update| !asks_for_bypass(update));
        if updates.len() < wanted {
            let text = "The answer to a permission question asked for bypassPermissions. That part \
                        was left out: the session was not started for it.";
            tracing::warn!("{text}");
            self.notify("bypass_not_launched", text).await;
        }
        input
    }
}

const fn asks_for_bypass(update: &PermissionUpdate) -> bool {
    matches!(update, PermissionUpdate::SetMode { mode: PermissionMode::BypassPermissions, .. })
}
