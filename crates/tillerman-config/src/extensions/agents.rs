//! Agent files: Markdown whose head says what a subagent is for and whose body is its prompt.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use tillerman_protocol::agent::AgentDefinition;
use tillerman_protocol::permission::PermissionMode;

use crate::extensions::frontmatter::{self, flag, list, text};
use crate::extensions::origin::{Home, Origin};
use crate::extensions::problem::Problem;
use crate::extensions::tree;

/// A subagent that a file defines.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentFile {
    /// What it defines.
    pub definition: AgentDefinition,
    /// Where it comes from. Hooks and MCP servers of untrusted ones must not run.
    pub origin: Origin,
    /// The file.
    pub path: PathBuf,
}

/// Reads the agents of all places, strongest first; of two with one name the first counts.
pub(crate) fn load(homes: &[Home], problems: &mut Vec<Problem>) -> Vec<AgentFile> {
    let mut agents: Vec<AgentFile> = Vec::new();
    for home in homes {
        for path in tree::markdown_files(&home.root, &home.directory, problems) {
            match read(home, &path) {
                Ok(Some(agent)) => add(&mut agents, agent, home, problems),
                Ok(None) => {}
                Err(problem) => problems.push(problem),
            }
        }
    }
    agents
}

fn add(agents: &mut Vec<AgentFile>, agent: AgentFile, home: &Home, problems: &mut Vec<Problem>) {
    let taken = agents.iter().find(|held| held.definition.name == agent.definition.name);
    match taken {
        None => agents.push(agent),
        Some(held) if held.path.starts_with(&home.directory) => problems.push(Problem::new(
            &agent.path,
            format!(
                "the agent {} is also defined in {}, which counts",
                agent.definition.name,
                held.path.display()
            ),
        )),
        Some(_) => {}
    }
}

fn read(home: &Home, path: &Path) -> Result<Option<AgentFile>, Problem> {
    let Some(text) = tree::read(&home.root, path)? else { return Ok(None) };
    let document = frontmatter::parse(path, &text)?;
    if document.fields.is_empty() {
        // A README among agents is no broken agent.
        return Ok(None);
    }
    let mut definition = definition(path, &document.fields)?;
    definition.prompt = document.body;
    if let Origin::Plugin { name, .. } = &home.origin {
        definition.name = format!("{name}:{}", definition.name);
        // A plugin's agents work with what the session has; they bring no programs of their own.
        definition.hooks = None;
        definition.mcp_servers = None;
        definition.permission_mode = None;
    }
    Ok(Some(AgentFile { definition, origin: home.origin.clone(), path: path.to_path_buf() }))
}

fn definition(path: &Path, fields: &Map<String, Value>) -> Result<AgentDefinition, Problem> {
    let required = |name: &str| {
        text(fields, name).ok_or_else(|| {
            Problem::at(path, Some(1), format!("the head has no {name}, which agents need"))
        })
    };
    let permission_mode = match text(fields, "permissionMode") {
        None => None,
        Some(name) => Some(PermissionMode::parse(&name).ok_or_else(|| {
            Problem::at(path, Some(1), format!("{name} is not a permission mode"))
        })?),
    };
    let max_turns = fields.get("maxTurns").and_then(Value::as_u64);
    Ok(AgentDefinition {
        name: required("name")?,
        description: required("description")?,
        prompt: String::new(),
        tools: tools(fields),
        disallowed_tools: list(fields, "disallowedTools"),
        model: text(fields, "model"),
        permission_mode,
        max_turns: max_turns.and_then(|most| u32::try_from(most).ok()),
        skills: list(fields, "skills"),
        mcp_servers: servers(fields.get("mcpServers")),
        hooks: fields.get("hooks").and_then(Value::as_object).map(|hooks| {
            hooks.iter().map(|(event, value)| (event.clone(), value.clone())).collect()
        }),
        memory: text(fields, "memory"),
        background: flag(fields, "background"),
        effort: fields.get("effort").filter(|effort| !effort.is_null()).cloned(),
        isolation: text(fields, "isolation"),
        initial_prompt: text(fields, "initialPrompt"),
        color: text(fields, "color"),
    })
}

/// The tools; a line `tools:` with nothing behind it means none, not all.
fn tools(fields: &Map<String, Value>) -> Option<Vec<String>> {
    let named = list(fields, "tools");
    if named.as_deref().is_some_and(|tools| tools == ["*"]) {
        return None;
    }
    named.or_else(|| fields.contains_key("tools").then(Vec::new))
}

fn servers(value: Option<&Value>) -> Option<Vec<Value>> {
    match value? {
        Value::Array(servers) => Some(servers.clone()),
        Value::Object(servers) => {
            let one = |(name, config): (&String, &Value)| {
                Value::Object(Map::from_iter([(name.clone(), config.clone())]))
            };
            Some(servers.iter().map(one).collect())
        }
        _ => None,
    }
}
