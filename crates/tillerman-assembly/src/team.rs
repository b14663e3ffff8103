//! The team that a session may lead: where it is kept, and how long it may go on.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tillerman_policy::Policy;
use tillerman_ports::{TeamFiles, Tool};
use tillerman_runtime::{AgentSetup, TeamSetup};
use tillerman_store::{NoTeamFiles, TeamDirectory};
use tillerman_tools::board_tools;

use crate::environment::Environment;
use crate::opening::Opened;
use crate::order::SessionOrder;
use crate::toolbox::{exists, scratch_directory};

/// How long teammates may go on once the input is closed, unless the environment says otherwise.
const CEILING: Duration = Duration::from_secs(60 * 60);

fn is_on(environment: &Environment) -> bool {
    environment.is_on("CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS")
}

/// The team of a session, named like the session; nothing when teams are off.
pub(crate) fn setup(environment: &Environment, opened: &Opened) -> Option<TeamSetup> {
    if !is_on(environment) {
        return None;
    }
    let name = opened.id.to_string();
    let files: Arc<dyn TeamFiles> = if opened.transcript.path().is_empty() {
        Arc::new(NoTeamFiles)
    } else {
        Arc::new(TeamDirectory::new(&environment.config_dir(), &name))
    };
    let ceiling = environment.millis("TILLERMAN_TEAM_CEILING_MS").unwrap_or(CEILING);
    Some(TeamSetup { name, files, ceiling })
}

/// Where the tasks of the team are kept; sessions that keep nothing have them among their
/// temporary files.
pub(crate) fn board(environment: &Environment, opened: &Opened) -> Option<PathBuf> {
    let tasks = match opened.transcript.path().as_str() {
        "" => scratch_directory(environment, opened).join("tasks"),
        _ => environment.config_dir().join("tasks").join(opened.id.as_str()),
    };
    is_on(environment).then_some(tasks)
}

/// The tools with which the lead works on the list of tasks.
pub(crate) fn tools(
    order: &SessionOrder,
    environment: &Environment,
    policy: &Policy,
    opened: &Opened,
    agents: Option<&AgentSetup>,
) -> Vec<Arc<dyn Tool>> {
    let board = board(environment, opened).filter(|_| agents.is_some());
    let tools = board.map(|board| board_tools(board, None)).unwrap_or_default();
    tools.into_iter().filter(|tool| exists(order, policy, &tool.spec().name)).collect()
}
