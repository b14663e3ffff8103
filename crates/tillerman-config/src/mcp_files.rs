//! Files that name MCP servers: the user's own, and a project's `.mcp.json`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::persist::{PersistError, parse, read, refuse_links, write};

const PROJECT_FILE: &str = ".mcp.json";
const SERVERS: &str = "mcpServers";
/// A file of servers is small; a larger one is something else.
const LARGEST: u64 = 4 << 20;

/// Where servers may be configured, strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum McpScope {
    /// For this user in this directory.
    Local,
    /// For everybody who works on the project.
    Project,
    /// For this user everywhere.
    User,
}

impl McpScope {
    /// Every scope, strongest first.
    pub const ALL: [Self; 3] = [Self::Local, Self::Project, Self::User];

    /// The scope's name on the command line.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Project => "project",
            Self::User => "user",
        }
    }

    /// The scope of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == name)
    }
}

/// Where the files lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpPlaces {
    /// The user's file, usually `~/.claude.json`.
    pub user_file: PathBuf,
    /// The working directory.
    pub cwd: PathBuf,
}

/// A server as a file names it.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundServer {
    /// The name.
    pub name: String,
    /// Its configuration as it is written.
    pub config: Value,
    /// Where it was found.
    pub scope: McpScope,
}

/// What the files name, and what is wrong with them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FoundServers {
    /// The servers; of several with the same name the strongest.
    pub servers: Vec<FoundServer>,
    /// For people: files that were left out, and why.
    pub problems: Vec<String>,
}

/// Reads the files of these scopes.
#[must_use]
pub fn find_servers(places: &McpPlaces, scopes: &[McpScope]) -> FoundServers {
    let mut found = FoundServers::default();
    let mut by_name: BTreeMap<String, FoundServer> = BTreeMap::new();
    for scope in McpScope::ALL.into_iter().filter(|scope| scopes.contains(scope)) {
        let servers = match read_scope(places, scope) {
            Ok(servers) => servers,
            Err(problem) => {
                found.problems.push(problem);
                continue;
            }
        };
        for (name, config) in servers {
            let server = FoundServer { name: name.clone(), config, scope };
            by_name.entry(name).or_insert(server);
        }
    }
    found.servers = by_name.into_values().collect();
    found
}

/// Adds a server to the file of a scope, in place of one that has the same name.
///
/// # Errors
/// When the file is damaged, is a link, or cannot be written; it is left as it was.
pub fn add_server(
    places: &McpPlaces,
    scope: McpScope,
    name: &str,
    config: Value,
) -> Result<PathBuf, PersistError> {
    let path = file(places, scope);
    change(&path, places, scope, |servers| {
        servers.insert(name.to_owned(), config);
    })?;
    Ok(path)
}

/// Removes a server from the file of a scope and says whether it was there.
///
/// # Errors
/// When the file is damaged, is a link, or cannot be written; it is left as it was.
pub fn remove_server(
    places: &McpPlaces,
    scope: McpScope,
    name: &str,
) -> Result<bool, PersistError> {
    let path = file(places, scope);
    if !path.exists() {
        return Ok(false);
    }
    let is_there =
        read_scope(places, scope).is_ok_and(|servers| servers.iter().any(|(held, _)| held == name));
    if is_there {
        change(&path, places, scope, |servers| {
            servers.shift_remove(name);
        })?;
    }
    Ok(is_there)
}

fn change(
    path: &Path,
    places: &McpPlaces,
    scope: McpScope,
    edit: impl FnOnce(&mut Map<String, Value>),
) -> Result<(), PersistError> {
    refuse_links(path)?;
    let mut whole = parse(path, read(path)?.as_deref())?;
    let damaged = || PersistError::Damaged {
        path: path.to_path_buf(),
        reason: format!("`{SERVERS}` or what holds it is not an object"),
    };
    let holder = match scope {
        McpScope::Local => {
            let projects = object_in(&mut whole, "projects").ok_or_else(damaged)?;
            object_in(projects, &places.cwd.to_string_lossy()).ok_or_else(damaged)?
        }
        McpScope::Project | McpScope::User => &mut whole,
    };
    edit(object_in(holder, SERVERS).ok_or_else(damaged)?);
    write(path, &whole).map(drop)
}

fn object_in<'a>(map: &'a mut Map<String, Value>, key: &str) -> Option<&'a mut Map<String, Value>> {
    map.entry(key).or_insert_with(|| json!({})).as_object_mut()
}

fn file(places: &McpPlaces, scope: McpScope) -> PathBuf {
    match scope {
        McpScope::Local | McpScope::User => places.user_file.clone(),
        McpScope::Project => project_file(&places.cwd),
    }
}

/// The nearest `.mcp.json` up to the root of the repository; in the working directory if there is
/// none yet.
fn project_file(cwd: &Path) -> PathBuf {
    let is_repository = cwd.ancestors().any(|folder| folder.join(".git").exists());
    for folder in cwd.ancestors() {
        let candidate = folder.join(PROJECT_FILE);
        if candidate.is_file() {
            return candidate;
        }
        if !is_repository || folder.join(".git").exists() {
            break;
        }
    }
    cwd.join(PROJECT_FILE)
}

fn read_scope(places: &McpPlaces, scope: McpScope) -> Result<Vec<(String, Value)>, String> {
    let path = file(places, scope);
    let problem = |why: &str| format!("{}: {why}; its MCP servers were left out", path.display());
    match std::fs::metadata(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Ok(metadata) if metadata.len() > LARGEST => return Err(problem("the file is too large")),
        _ => {}
    }
    let text = read(&path).map_err(|error| problem(&error.to_string()))?;
    let whole = parse(&path, text.as_deref()).map_err(|error| problem(&error.to_string()))?;
    let holder = match scope {
        McpScope::Local => {
            let projects = whole.get("projects");
            projects.and_then(|it| it.get(&*places.cwd.to_string_lossy())).cloned()
        }
        McpScope::Project | McpScope::User => Some(Value::Object(whole)),
    };
    match holder.as_ref().and_then(|holder| holder.get(SERVERS)) {
        None => Ok(Vec::new()),
        Some(Value::Object(servers)) => {
            Ok(servers.iter().map(|(name, config)| (name.clone(), config.clone())).collect())
        }
        Some(_) => Err(problem("`mcpServers` is not an object")),
    }
}
