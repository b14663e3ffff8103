//! The built-in tools without a session, for programs that judge calls themselves.

use std::path::PathBuf;
use std::sync::Arc;

use tillerman_policy::Policy;
use tillerman_ports::Tool;
use tillerman_protocol::permission::PermissionMode;
use tillerman_runtime::Secrets;
use tillerman_tools::WebConfig;

use crate::failure::StartFailure;
use crate::order::SessionOrder;
use crate::permission::{permission_mode, policy, working_directories};
use crate::{confine, lending, settings, toolbox};

/// Tools that are about a session, of which there is none here.
const OF_SESSIONS: [&str; 7] = [
    "AskUserQuestion",
    "EnterPlanMode",
    "ExitPlanMode",
    "TodoWrite",
    "TaskOutput",
    "TaskStop",
    "Monitor",
];

/// The built-in tools, and what decides about their calls.
#[derive(Debug)]
pub struct BareTools {
    /// The tools, those left out that are about sessions.
    pub tools: Vec<Arc<dyn Tool>>,
    /// The rules.
    pub policy: Policy,
    /// The mode.
    pub mode: PermissionMode,
}

/// Makes the tools that a session of this order would have, with large outputs in this directory.
///
/// # Errors
/// When the order cannot be carried out.
///
/// # Cancel safety
/// Dropping the future leaves nothing behind.
pub async fn bare_tools(order: &SessionOrder, scratch: PathBuf) -> Result<BareTools, StartFailure> {
    let cwd = &order.cwd;
    let layers = settings::of_session(order, &order.environment, cwd)?;
    let environment = &order.environment.clone().withholding(lending::withheld(&layers)?);
    let directories = working_directories(order, &layers, cwd);
    let policy = policy(order, environment, &layers, directories)?;
    let mode = permission_mode(order, environment, &layers)?;
    let variables = toolbox::variables(order, environment, &layers);
    let stage_program = order.parts.stage_program.as_deref();
    if let Some(text) = lending::obstacle_under(&policy, &layers)? {
        tracing::warn!("{text}");
    }
    let secrets = Secrets::default();
    let confiner =
        confine::confiner(&policy, &variables, environment, stage_program, &secrets).await?;
    let outfit = toolbox::Outfit { variables, web: WebConfig::default(), scratch, confiner };
    let config = toolbox::tool_config(order, environment, cwd, &policy, outfit);
    let mut tools = toolbox::tools(order, &policy, config);
    tools.retain(|tool| !OF_SESSIONS.contains(&tool.spec().name.as_str()));
    Ok(BareTools { tools, policy, mode })
}
