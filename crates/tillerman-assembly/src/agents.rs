//! The agents of a session: who they are, how many there may be, and where they leave their transcripts.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tillerman_policy::Policy;
use tillerman_ports::{AgentFiles, Grounds, Tool, Toolbox};
use tillerman_protocol::agent::AgentDefinition;
use tillerman_runtime::{AgentLimits, AgentSetup};
use tillerman_store::{AgentDirectory, NoAgentFiles};
use tillerman_tools::{ToolConfig, board_tools, session_tools};

use crate::environment::Environment;
use crate::main_agent::main_agent;
use crate::opening::Opened;
use crate::order::SessionOrder;
use crate::team;
use crate::toolbox::exists;

/// Makes the tools of each agent.
#[derive(Debug)]
struct FreshTools {
    config: ToolConfig,
    /// Where the tasks of the team are kept.
    board: Option<PathBuf>,
    /// Tools that a part of the order stands in for, so that agents have the parent's.
    replaced: Vec<String>,
}

impl Toolbox for FreshTools {
    fn tools(&self, teammate: Option<&str>) -> Vec<Arc<dyn Tool>> {
        self.made_with(self.config.clone(), teammate)
    }

    fn tools_in(&self, directory: &Path, teammate: Option<&str>) -> Vec<Arc<dyn Tool>> {
        let mut config = self.config.clone();
        let further = config.working_directories.iter().skip(1).cloned();
        config.working_directories =
            std::iter::once(directory.to_path_buf()).chain(further).collect();
        config.cwd = directory.to_path_buf();
        self.made_with(config, teammate)
    }
}

impl FreshTools {
    fn made_with(&self, config: ToolConfig, teammate: Option<&str>) -> Vec<Arc<dyn Tool>> {
        let mut tools = session_tools(config);
        tools.retain(|tool| !self.replaced.contains(&tool.spec().name));
        tools.extend(self.board.iter().flat_map(|board| board_tools(board.clone(), teammate)));
        tools
    }
}

/// What agents are started with; nothing when the tool for it does not exist.
pub(crate) fn setup(
    order: &SessionOrder,
    environment: &Environment,
    policy: &Policy,
    config: &ToolConfig,
    opened: &Opened,
    of_files: Vec<AgentDefinition>,
    grounds: Arc<dyn Grounds>,
) -> Option<AgentSetup> {
    // What the host says replaces what a file says.
    let mut all = of_files;
    all.extend(order.extension.agents.iter().cloned());
    let listed = order.permission.tools.is_some();
    let is_there = |name: &str| exists(order, policy, name);
    // Either name lets the tool exist, and either one forbids it.
    let offered = if listed {
        is_there("Agent") || is_there("Task")
    } else {
        is_there("Agent") && is_there("Task")
    };
    if !offered {
        return None;
    }
    let transcript = opened.transcript.path();
    let files: Arc<dyn AgentFiles> = if transcript.is_empty() {
        Arc::new(NoAgentFiles)
    } else {
        Arc::new(AgentDirectory::beside(Path::new(&transcript)))
    };
    let usual = AgentLimits::default();
    let number = |name: &str| environment.number(name);
    Some(AgentSetup {
        definitions: all,
        built_in: !environment.is_on("CLAUDE_AGENT_SDK_DISABLE_BUILTIN_AGENTS"),
        main: main_agent(order, environment),
        limits: AgentLimits {
            depth: number("CLAUDE_CODE_MAX_SUBAGENT_SPAWN_DEPTH").unwrap_or(usual.depth),
            at_once: environment
                .number("CLAUDE_CODE_MAX_CONCURRENT_SUBAGENTS")
                .unwrap_or(usual.at_once),
        },
        team: team::setup(environment, opened),
        toolbox: Arc::new(FreshTools {
            config: config.clone(),
            board: team::board(environment, opened),
            replaced: order.parts.tools.iter().map(|tool| tool.spec().name).collect(),
        }),
        files,
        grounds,
    })
}
