//! Plugins: folders that bring commands, agents, skills, styles, hooks and MCP servers.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::extensions::origin::{Home, Origin, Trust};
use crate::extensions::problem::Problem;
use crate::extensions::tree;

/// What stands for the plugin's own folder in its hooks and servers.
const ROOT_VARIABLE: &str = "${CLAUDE_PLUGIN_ROOT}";

/// A plugin that is in use.
#[derive(Clone, Debug, PartialEq)]
pub struct Plugin {
    /// Its name, which stands before the names of what it brings.
    pub name: String,
    /// Where it was found: `NAME@inline` for a folder, else `NAME@MARKETPLACE`.
    pub source: String,
    /// Its folder.
    pub root: PathBuf,
    /// What it says about itself.
    pub description: String,
    /// Its version.
    pub version: Option<String>,
    /// Whether the user chose it. What it would run counts only then.
    pub trust: Trust,
    /// Hooks by event name, as settings have them; its folder is filled in.
    pub hooks: Map<String, Value>,
    /// MCP servers by name; its folder is filled in.
    pub mcp_servers: Map<String, Value>,
    /// Where its files of each kind lie.
    pub(crate) folders: Folders,
}

/// Where a plugin's files of each kind lie.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Folders {
    pub(crate) skills: Vec<PathBuf>,
    pub(crate) commands: Vec<PathBuf>,
    pub(crate) agents: Vec<PathBuf>,
    pub(crate) styles: Vec<PathBuf>,
}

impl Plugin {
    /// The places of one kind of file.
    pub(crate) fn homes(&self, kind: impl Fn(&Folders) -> &Vec<PathBuf>) -> Vec<Home> {
        let folders = kind(&self.folders).iter();
        folders.map(|directory| self.home(directory.clone())).collect()
    }

    pub(crate) fn home(&self, directory: PathBuf) -> Home {
        let origin = Origin::Plugin { name: self.name.clone(), trust: self.trust };
        Home { root: self.root.clone(), directory, origin }
    }
}

/// A folder that is to be used as a plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginFolder {
    /// The folder.
    pub root: PathBuf,
    /// The marketplace it comes from; `inline` for one that was named as a folder.
    pub marketplace: String,
    /// Whether the user chose it, or only the project did.
    pub trust: Trust,
}

/// Reads a plugin.
pub(crate) fn read(folder: &PluginFolder, problems: &mut Vec<Problem>) -> Result<Plugin, Problem> {
    let root = folder.root.canonicalize().ok().filter(|root| root.is_dir()).ok_or_else(|| {
        Problem::new(&folder.root, "there is no such folder, so the plugin was left out")
    })?;
    let path = root.join(".claude-plugin/plugin.json");
    let manifest = read_object(&root, &path)?.unwrap_or_default();
    let folder_name = root.file_name().and_then(|name| name.to_str()).unwrap_or("plugin");
    let name = manifest.get("name").and_then(Value::as_str).unwrap_or(folder_name).to_owned();
    let is_good = |it: char| it.is_alphanumeric() || "-_.".contains(it);
    if name.is_empty() || !name.chars().all(is_good) {
        let reason =
            format!("{name:?} cannot be the name of a plugin: use letters, digits, - and _");
        return Err(Problem::new(&path, reason));
    }
    let text = |key: &str| manifest.get(key).and_then(Value::as_str).map(str::to_owned);
    let reader = Reader { root: &root, manifest_path: &path, manifest: &manifest };
    Ok(Plugin {
        source: format!("{name}@{}", folder.marketplace),
        description: text("description").unwrap_or_default(),
        version: text("version"),
        trust: folder.trust,
        hooks: reader.section("hooks", "hooks/hooks.json", problems)?,
        mcp_servers: reader.section("mcpServers", ".mcp.json", problems)?,
        folders: reader.folders()?,
        name,
        root,
    })
}

struct Reader<'a> {
    root: &'a Path,
    manifest_path: &'a Path,
    manifest: &'a Map<String, Value>,
}

impl Reader<'_> {
    fn folders(&self) -> Result<Folders, Problem> {
        let mut skills = vec![self.root.join("skills")];
        skills.extend(self.named("skills")?.unwrap_or_default());
        let or_usual = |key: &str, usual: &str| {
            Ok(self.named(key)?.unwrap_or_else(|| vec![self.root.join(usual)]))
        };
        Ok(Folders {
            skills,
            commands: or_usual("commands", "commands")?,
            agents: or_usual("agents", "agents")?,
            styles: or_usual("outputStyles", "output-styles")?,
        })
    }

    /// Folders that the manifest names; `None` when it is silent.
    fn named(&self, key: &str) -> Result<Option<Vec<PathBuf>>, Problem> {
        let wrong =
            || Problem::new(self.manifest_path, format!("{key} must name folders as texts"));
        let names: Vec<&str> = match self.manifest.get(key) {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::String(name)) => vec![name],
            Some(Value::Array(names)) => names
                .iter()
                .map(|name| name.as_str().ok_or_else(wrong))
                .collect::<Result<_, _>>()?,
            Some(_) => return Err(wrong()),
        };
        names.into_iter().map(|name| self.below(key, name)).collect::<Result<_, _>>().map(Some)
    }

    fn below(&self, key: &str, name: &str) -> Result<PathBuf, Problem> {
        let is_below = name.starts_with("./") && !Path::new(name).iter().any(|part| part == "..");
        if !is_below {
            let reason = format!("{key}: {name} must begin with ./ and stay inside of the plugin");
            return Err(Problem::new(self.manifest_path, reason));
        }
        Ok(self.root.join(name.trim_start_matches("./")))
    }

    /// Hooks or servers: written into the manifest, in a file it names, or in the usual file.
    fn section(
        &self,
        key: &str,
        usual: &str,
        problems: &mut Vec<Problem>,
    ) -> Result<Map<String, Value>, Problem> {
        let mut parts = Vec::new();
        let written = match self.manifest.get(key) {
            None | Some(Value::Null) => vec![],
            Some(Value::Array(parts)) => parts.iter().collect(),
            Some(part) => vec![part],
        };
        parts.extend(self.file_section(key, &self.root.join(usual), problems));
        for part in written {
            match part {
                Value::Object(section) => parts.push(section.clone()),
                Value::String(name) => {
                    parts.extend(self.file_section(key, &self.below(key, name)?, problems));
                }
                _ => {
                    let reason = format!("{key} must be an object or the name of a file");
                    return Err(Problem::new(self.manifest_path, reason));
                }
            }
        }
        let root = self.root.display().to_string();
        let whole = parts.into_iter().flat_map(|part| unwrap_section(part, key));
        let mut together = Map::new();
        for (name, value) in whole {
            let value = fill_in(value, &root);
            match (together.get_mut(&name), value) {
                // Two files with hooks for one event both count.
                (Some(Value::Array(held)), Value::Array(more)) => held.extend(more),
                (_, value) => drop(together.insert(name, value)),
            }
        }
        Ok(together)
    }

    fn file_section(
        &self,
        key: &str,
        path: &Path,
        problems: &mut Vec<Problem>,
    ) -> Option<Map<String, Value>> {
        read_object(self.root, path).unwrap_or_else(|problem| {
            let reason = format!("{}; its {key} were left out", problem.reason);
            problems.push(Problem { reason, ..problem });
            None
        })
    }
}

/// Files may hold the section itself or an object with the section in it.
fn unwrap_section(mut part: Map<String, Value>, key: &str) -> Map<String, Value> {
    match part.remove(key) {
        Some(Value::Object(inner)) => inner,
        Some(other) => Map::from_iter([(key.to_owned(), other)]),
        None => part,
    }
}

fn fill_in(value: Value, root: &str) -> Value {
    match value {
        Value::String(text) => Value::String(text.replace(ROOT_VARIABLE, root)),
        Value::Array(items) => items.into_iter().map(|item| fill_in(item, root)).collect(),
        Value::Object(fields) => {
            let filled = fields.into_iter().map(|(name, value)| (name, fill_in(value, root)));
            Value::Object(filled.collect())
        }
        other => other,
    }
}

/// Reads a JSON object from a file of a tree; `Ok(None)` when there is no file.
pub(crate) fn read_object(root: &Path, path: &Path) -> Result<Option<Map<String, Value>>, Problem> {
    let Some(text) = tree::read(root, path)? else { return Ok(None) };
    match serde_json::from_str(&text) {
        Ok(Value::Object(object)) => Ok(Some(object)),
        Ok(_) => Err(Problem::new(path, "is not a JSON object")),
        Err(error) => Err(Problem::at(path, Some(error.line()), format!("is not JSON: {error}"))),
    }
}
