//! `tillerman mcp serve`: the built-in tools for other programs, judged as always.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use tillerman_mcp::{Admission, Admitted};
use tillerman_policy::{Before, Facts, Policy, Verdict};
use tillerman_protocol::permission::PermissionMode;
use tillerman_protocol::tool::{Access, ToolSpec};
use tillerman_runtime::{RealDisk, bounds};
use tillerman_tools::WebConfig;

use crate::arguments::Arguments;
use crate::environment::Environment;
use crate::failure::StartFailure;
use crate::{assemble, confine, mcp, settings, toolbox};

/// Tools that are about a session, of which there is none here.
const OF_SESSIONS: [&str; 6] =
    ["AskUserQuestion", "EnterPlanMode", "ExitPlanMode", "TodoWrite", "TaskOutput", "TaskStop"];

/// Serves the built-in tools until the client closes standard input.
pub(crate) async fn serve(
    arguments: &Arguments,
    environment: &Environment,
    cwd: &Path,
) -> Result<u8, StartFailure> {
    let layers = settings::of_session(arguments, environment, cwd)?;
    let directories = assemble::working_directories(arguments, &layers, cwd)?;
    let policy = assemble::policy(arguments, environment, &layers, directories)?;
    let mode = assemble::permission_mode(arguments, environment, &layers)?;
    let scratch = std::env::temp_dir().join(format!("tillerman-mcp-{}", std::process::id()));
    let variables = toolbox::variables(arguments, environment, &layers);
    let confiner = confine::confiner(&policy, &variables, environment).await?;
    let web = WebConfig::default();
    let outfit = toolbox::Outfit { variables, web, scratch: scratch.clone(), confiner };
    let config = toolbox::tool_config(arguments, environment, cwd, &policy, outfit);
    let mut tools = toolbox::tools(arguments, &policy, config);
    tools.retain(|tool| !OF_SESSIONS.contains(&tool.spec().name.as_str()));
    let gate = Arc::new(Gate { policy, mode });
    let streams = (tokio::io::stdin(), tokio::io::stdout());
    let served = tillerman_mcp::serve(tools, gate, mcp::identity(), streams).await;
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
                Ok(Admitted { environment: ruling.run_with, bounds: bounds(ruling.runs) })
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
