//! The agents of a session: who they are, how many there may be, and where they leave their transcripts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tillerman_policy::Policy;
use tillerman_ports::{AgentFiles, Tool, Toolbox};
use tillerman_protocol::agent::AgentDefinition;
use tillerman_runtime::{AgentLimits, AgentSetup, MainAgent};
use tillerman_store::{AgentDirectory, NoAgentFiles};
use tillerman_tools::{ToolConfig, board_tools, session_tools};

use crate::arguments::Arguments;
use crate::environment::Environment;
use crate::failure::StartFailure;
use crate::opening::Opened;
use crate::team;
use crate::toolbox::exists;

/// Makes the tools of each agent.
#[derive(Debug)]
struct FreshTools {
    config: ToolConfig,
    /// Where the tasks of the team are kept.
    board: Option<PathBuf>,
}

impl Toolbox for FreshTools {
    fn tools(&self, teammate: Option<&str>) -> Vec<Arc<dyn Tool>> {
        let mut tools = session_tools(self.config.clone());
        tools.extend(self.board.iter().flat_map(|board| board_tools(board.clone(), teammate)));
        tools
    }
}

/// What agents are started with; nothing when the tool for it does not exist.
pub(crate) fn setup(
    arguments: &Arguments,
    environment: &Environment,
    policy: &Policy,
    config: &ToolConfig,
    opened: &Opened,
    of_files: Vec<AgentDefinition>,
) -> Result<Option<AgentSetup>, StartFailure> {
    // What the host says replaces what a file says.
    let mut all = of_files;
    all.extend(definitions(arguments)?);
    let listed = arguments.permission.tools.is_some();
    let is_there = |name: &str| exists(arguments, policy, name);
    // Either name lets the tool exist, and either one forbids it.
    let offered = if listed {
        is_there("Agent") || is_there("Task")
    } else {
        is_there("Agent") && is_there("Task")
    };
    if !offered {
        return Ok(None);
    }
    let transcript = opened.transcript.path();
    let files: Arc<dyn AgentFiles> = if transcript.is_empty() {
        Arc::new(NoAgentFiles)
    } else {
        Arc::new(AgentDirectory::beside(Path::new(&transcript)))
    };
    let usual = AgentLimits::default();
    let number = |name: &str| environment.number(name);
    Ok(Some(AgentSetup {
        definitions: all,
        built_in: !environment.is_on("CLAUDE_AGENT_SDK_DISABLE_BUILTIN_AGENTS"),
        main: arguments
            .extension
            .agent
            .clone()
            .map(|name| MainAgent { name, keeps_model: arguments.model.model.is_some() }),
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
        }),
        files,
    }))
}

fn definitions(arguments: &Arguments) -> Result<Vec<AgentDefinition>, StartFailure> {
    let Some(text) = &arguments.extension.agents else { return Ok(Vec::new()) };
    let by_name: BTreeMap<String, AgentDefinition> =
        serde_json::from_str(text).map_err(|error| {
            StartFailure::usage(format!(
                "--agents cannot be read: {error}. It must be a JSON object with a definition \
             (description, prompt, …) by name."
            ))
        })?;
    let named = |(name, definition)| AgentDefinition { name, ..definition };
    Ok(by_name.into_iter().map(named).collect())
}
