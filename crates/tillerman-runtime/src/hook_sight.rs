//! What agents of hooks may look around with.

use std::sync::Arc;

use serde_json::Value;
use tillerman_policy::{Before, Facts, Verdict};
use tillerman_ports::{Bounds, Permits, Redact, Sight, Tool};
use tillerman_protocol::hook::HookAction;
use tillerman_protocol::permission::PermissionMode;
use tillerman_protocol::tool::Access;

use crate::facts::{RealDisk, bounds, hidden};
use crate::session_task::SessionTask;

/// The tools of an agent that checks something.
const TOOLS: [&str; 3] = ["Read", "Grep", "Glob"];

impl SessionTask {
    /// The tools for a handler that is an agent, under the rules as they are now. Nobody is asked
    /// on its behalf, and the session's mode loosens nothing for it.
    pub(crate) fn sight_for(&self, action: &HookAction) -> Sight {
        if !matches!(action, HookAction::Agent(_)) {
            return Sight::default();
        }
        let (policy, hidden) = (self.policy.clone(), hidden(&self.policy));
        let permits = move |tool: &dyn Tool, input: &Value| -> Result<Bounds, String> {
            let spec = tool.spec();
            let only_looks = spec.access == Access::ReadOnly;
            let facts = Facts { tool: &spec.name, input, only_looks, disk: &RealDisk };
            let ruling = policy.judge(&facts, PermissionMode::Default, Before::Nothing);
            match ruling.verdict {
                Verdict::Allow => Ok(bounds(ruling.runs)),
                Verdict::Deny { message, .. } => Err(message),
                Verdict::Ask { reason, .. } => Err(format!("This is not permitted: {reason}")),
            }
        };
        let permits: Arc<Permits> = Arc::new(permits);
        let secrets = self.facing.secrets.clone();
        let redact: Arc<Redact> = Arc::new(move |text: &mut String| secrets.redact_text(text));
        let tools = TOOLS.iter().filter_map(|name| self.tools.get(*name).cloned());
        Sight { tools: tools.collect(), permits: Some(permits), redact: Some(redact), hidden }
    }
}
