//! What agents of a session have of their own: memory, working copies, servers.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use tillerman_config::expand;
use tillerman_mcp::{HubConfig, McpHub, NamedServer, Patience};
use tillerman_ports::{AgentMemory, Grounds, McpServers, WorkingCopy};
use tillerman_protocol::mcp::McpServerConfig;

use crate::environment::Environment;
use crate::leftover_trees::Sweep;
use crate::owners::MemoryPlaces;
use crate::worktree::Worktree;

/// How much of a memory the agent knows from the start; it can read the rest.
const LINES: usize = 200;
const BYTES: usize = 25_000;

/// This machine, as agents of a session may use it.
#[derive(Debug)]
pub(crate) struct LocalGrounds {
    pub(crate) cwd: PathBuf,
    /// Where agents remember things.
    pub(crate) memories: MemoryPlaces,
    pub(crate) environment: Environment,
    /// How servers are connected to.
    pub(crate) hub: HubConfig,
    /// Looks after working trees of sessions that were killed.
    pub(crate) sweep: Sweep,
}

impl Grounds for LocalGrounds {
    fn memory(&self, agent: &str, scope: &str) -> Result<AgentMemory, String> {
        let name: String = agent.chars().map(plain).collect();
        let (base, mut folders) = self.memories.of_scope(scope)?;
        folders.push(name);
        let unusable = |error: std::io::Error| format!("{} is unusable: {error}", base.display());
        std::fs::create_dir_all(&base).map_err(unusable)?;
        let mut directory = base.canonicalize().map_err(unusable)?;
        for folder in folders {
            directory.push(folder);
            match std::fs::create_dir(&directory) {
                Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                    return Err(unusable(error));
                }
                _ => {}
            }
            // A repository could have the memory lead anywhere, and the agent writes there unasked.
            if !std::fs::symlink_metadata(&directory).map_err(unusable)?.is_dir() {
                return Err(format!("{} is or lies behind a link", directory.display()));
            }
        }
        let notes = notes(&directory.join("MEMORY.md"));
        Ok(AgentMemory { directory, notes })
    }

    fn working_copy(&self, agent_id: &str) -> Result<Arc<dyn WorkingCopy>, String> {
        let worktree = Worktree::plan(&self.cwd, agent_id, &self.hub.environment)?;
        Ok(Arc::new(worktree.after(&self.sweep)))
    }

    fn servers(&self, servers: Vec<(String, Value)>) -> Result<Arc<dyn McpServers>, String> {
        let named = servers.into_iter().map(|server| named(server, &self.environment));
        let named: Vec<NamedServer> = named.collect::<Result<_, _>>()?;
        Ok(Arc::new(McpHub::start(self.hub.clone(), named)))
    }
}

/// A server that a definition writes out, with the variables that children may see filled in.
pub(crate) fn named(
    (name, mut config): (String, Value),
    environment: &Environment,
) -> Result<NamedServer, String> {
    if !config.is_object() {
        return Err(format!("its MCP server {name} is not an object"));
    }
    let may_see = |name: &str| environment.passes_on(name);
    for missing in expand(&mut config, &|name| environment.get(name).filter(|_| may_see(name))) {
        tracing::warn!("the MCP server {name} of an agent uses ${{{missing}}}, not set");
    }
    Ok(NamedServer {
        name,
        config: McpServerConfig::from(config),
        scope: "agent".to_owned(),
        patience: Patience::Required,
    })
}

/// Names of agents become names of folders, and lead nowhere else.
const fn plain(char: char) -> char {
    if char.is_ascii_alphanumeric() || matches!(char, '-' | '_') { char } else { '-' }
}

/// The beginning of a memory.
fn notes(file: &Path) -> String {
    let text = match std::fs::symlink_metadata(file) {
        Ok(metadata) if metadata.is_file() => std::fs::read(file).unwrap_or_default(),
        _ => return String::new(),
    };
    let text = String::from_utf8_lossy(&text[..text.len().min(BYTES)]).into_owned();
    text.lines().take(LINES).collect::<Vec<_>>().join("\n")
}
