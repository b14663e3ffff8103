//! What an agent has of its own, because its definition asks for it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use tillerman_policy::{Policy, Rule};
use tillerman_ports::{AgentMemory, McpServers, WorkingCopy};
use tillerman_protocol::TaskId;
use tillerman_protocol::agent::AgentDefinition;

use crate::agents::given_tree::{GivenTree, former_tree};
use crate::agents::order::Order;
use crate::session_task::SessionTask;
use crate::setup::SessionSetup;

/// What keeping a memory takes.
const MEMORY_TOOLS: [&str; 3] = ["Read", "Write", "Edit"];

/// What an agent has of its own.
#[derive(Debug, Default)]
pub(crate) struct Belongings {
    pub(crate) memory: Option<AgentMemory>,
    pub(crate) copy: Option<Arc<dyn WorkingCopy>>,
    /// Where the copy is, if hooks have made it.
    pub(crate) given: Option<PathBuf>,
    pub(crate) servers: Option<Arc<dyn McpServers>>,
}

impl SessionTask {
    /// Gets what a definition asks for; without it the agent is not started.
    pub(crate) fn belongings(
        &self,
        order: &Order,
        definition: &AgentDefinition,
        id: &TaskId,
        given: Option<GivenTree>,
    ) -> Result<Belongings, String> {
        let Some(agents) = &self.agents else { return Err("there are no agents".to_owned()) };
        let grounds = &agents.tree().grounds;
        let memory = definition.memory.as_deref().map(|scope| {
            grounds.memory(&definition.name, scope).map_err(|why| {
                format!("The agent was not started: it is to have a memory ({scope}), and {why}.")
            })
        });
        let isolation = order.isolation.as_ref().or(definition.isolation.as_ref());
        let given = match given {
            None => former_tree(id, order.worktree.as_deref())?,
            given => given,
        };
        let given_path = given.as_ref().map(WorkingCopy::directory);
        let copy = isolation.map(|isolation| {
            let refusal = |why: String| {
                format!(
                    "Isolation ({isolation}) is not available, and the agent was not started \
                     without it: {why}. Leave it out to work in the same directory."
                )
            };
            match isolation.as_str() {
                "worktree" => match given {
                    Some(tree) => Ok(Arc::new(tree) as Arc<dyn WorkingCopy>),
                    None => grounds.working_copy(id.as_str()).map_err(refusal),
                },
                _ => Err(refusal("only worktree is known".to_owned())),
            }
        });
        let (memory, copy) = (memory.transpose()?, copy.transpose()?);
        let written = written_out(definition);
        let servers = (!written.is_empty()).then(|| {
            grounds.servers(written).map_err(|why| format!("The agent was not started: {why}."))
        });
        Ok(Belongings { memory, copy, given: given_path, servers: servers.transpose()? })
    }
}

impl Belongings {
    /// The directory the agent works in, where that is its own.
    pub(crate) fn directory(&self) -> Option<PathBuf> {
        self.copy.as_ref().map(|copy| copy.directory())
    }

    /// The definition, with the tools that keeping a memory takes.
    pub(crate) fn equip(&self, definition: &AgentDefinition) -> AgentDefinition {
        let mut equipped = definition.clone();
        if let (Some(tools), Some(_)) = (&mut equipped.tools, &self.memory) {
            let missing = MEMORY_TOOLS.iter().filter(|name| !tools.iter().any(|it| it == *name));
            let missing: Vec<String> = missing.map(ToString::to_string).collect();
            tools.extend(missing);
        }
        equipped
    }

    /// Hands the agent what it has of its own.
    pub(crate) fn hand_over(&self, setup: &mut SessionSetup) {
        if let Some(memory) = &self.memory {
            setup.policy.keeps.push(memory.directory.clone());
            setup.prompt.base.push_str(&about_memory(memory));
        }
        if let Some(directory) = self.directory() {
            move_into(&mut setup.policy, &directory);
            setup.engine.origin.cwd = directory.display().to_string();
            setup.prompt.environment.push_str(&about_copy(&directory));
        }
        setup.mcp.clone_from(&self.servers);
        setup.engine.system = setup.prompt.blocks();
    }
}

/// The servers that a definition writes out, by name.
pub(crate) fn written_out(definition: &AgentDefinition) -> Vec<(String, Value)> {
    let objects = definition.mcp_servers.iter().flatten().filter_map(Value::as_object);
    objects.flatten().map(|(name, config)| (name.clone(), config.clone())).collect()
}

/// Has the agent's own directory take the place of the session's. Rules that forbid something in
/// the session's directory go on to do so there, and hold in the new one too.
fn move_into(policy: &mut Policy, directory: &Path) {
    let Some(before) = policy.directories.first().cloned() else {
        return policy.directories.push(directory.to_path_buf());
    };
    for rules in [&mut policy.deny, &mut policy.ask] {
        let there: Vec<Rule> = rules.iter().filter_map(|rule| rule_about(rule, &before)).collect();
        rules.extend(there);
    }
    policy.directories[0] = directory.to_path_buf();
}

/// A rule about paths of the working directory, as one that names the directory.
fn rule_about(rule: &Rule, directory: &Path) -> Option<Rule> {
    let content = rule.content()?;
    let is_relative = !content.starts_with("//") && !content.starts_with('~');
    let is_about_files = matches!(rule.tool(), "Read" | "Edit" | "Write");
    let path = content.strip_prefix("./").unwrap_or(content).trim_start_matches('/');
    let named = || Rule::parse(&format!("{}(/{}/{path})", rule.tool(), directory.display())).ok();
    if is_relative && is_about_files { named() } else { None }
}

/// What an agent is told about its memory.
pub(crate) fn about_memory(memory: &AgentMemory) -> String {
    let directory = memory.directory.display();
    let notes = match memory.notes.trim() {
        "" => "It is empty so far.".to_owned(),
        notes => format!("Its MEMORY.md begins:\n\n{notes}"),
    };
    format!(
        "\n\n# Your memory\n\nThe directory {directory} is your memory: what you write there is \
         there the next time you are called, whoever calls you. Keep in its MEMORY.md, in few lines, \
         what will help you then, and longer notes in files beside it that MEMORY.md names. Correct \
         what has turned out wrong. {notes}"
    )
}

fn about_copy(directory: &Path) -> String {
    format!(
        "\n\nYou work in a git working tree of your own, {}. Nobody else sees what you change there \
         until it is merged, so change nothing outside of it. When you are done, say what you changed; \
         the tree stays if anything in it has changed.",
        directory.display()
    )
}
