//! `tillerman mcp serve`: the built-in tools for other programs, judged as always.

use std::sync::Arc;

use serde_json::Value;
use tillerman_assembly::{BareTools, SessionOrder, StartFailure, bare_tools, servers};
use tillerman_mcp::{Admission, Admitted};
use tillerman_policy::{Before, Facts, Policy, Verdict};
use tillerman_protocol::permission::PermissionMode;
use tillerman_protocol::tool::{Access, ToolSpec};
use tillerman_runtime::{RealDisk, bounds, hidden};

/// Serves the built-in tools until the client closes standard input.
pub(crate) async fn serve(order: &SessionOrder) -> Result<u8, StartFailure> {
    let scratch = format!("tillerman-mcp-{}", std::process::id());
    let scratch = order.environment.temp_dir().join(scratch);
    let BareTools { tools, policy, mode } = bare_tools(order, scratch.clone()).await?;
    let gate = Arc::new(Gate { policy, mode });
    let streams = (tokio::io::stdin(), tokio::io::stdout());
    let served = tillerman_mcp::serve(tools, gate, servers::identity(), streams).await;
    // Files that results have named stay; a directory that holds none is of no use to anybody.
    drop(std::fs::remove_dir(&scratch));
    served.map_err(|error| StartFailure::usage(format!("Serving ended: {error}.")))?;
    Ok(0)
}

/// The permission pipeline with nobody to ask.
#[derive(Debug)]
struct Gate {
    policy: Policy,
    mode: PermissionMode,
}

impl Admission for Gate {
    fn admit(&self, tool: &ToolSpec, input: &Value) -> Result<Admitted, String> {
        let only_looks = tool.access == Access::ReadOnly;
        let facts = Facts { tool: &tool.name, input, only_looks, disk: &RealDisk };
        let ruling = self.policy.judge(&facts, self.mode, Before::Nothing);
        match ruling.verdict {
            Verdict::Allow => {
                let (environment, bounds) = (ruling.run_with, bounds(ruling.runs));
                Ok(Admitted { environment, bounds, hidden: hidden(&self.policy) })
            }
            Verdict::Deny { message, .. } => Err(message),
            Verdict::Ask { reason, .. } => Err(format!(
                "{} was not run: it would have to be asked about ({reason}) and nobody is there to \
                 ask. Allow it with --allowedTools or a permission rule.",
                tool.name
            )),
        }
    }
}
