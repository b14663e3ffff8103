//! Skills and commands: text that is loaded when a person or the model asks for it by name.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::extensions::frontmatter::{self, Document, flag, list, text};
use crate::extensions::origin::{Home, Origin};
use crate::extensions::problem::Problem;
use crate::extensions::tree;

/// How much of a description models are shown.
const LONGEST_DESCRIPTION: usize = 1_536;

/// A skill or a command. Its text stays on disk until it is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Skill {
    /// What it is called by, without the slash.
    pub name: String,
    /// Whether it is a skill or a command.
    pub kind: SkillKind,
    /// What it does, and when to use it.
    pub description: String,
    /// What may stand behind its name.
    pub argument_hint: String,
    /// Names for the words behind its name.
    pub arguments: Vec<String>,
    /// Who may ask for it.
    pub audience: Audience,
    /// Rules that it wants to be allowed while it is worked on; only those of trusted ones count.
    pub allowed_tools: Vec<String>,
    /// The model it wants to be answered by.
    pub model: Option<String>,
    /// Hooks by event name; those of untrusted ones must not run.
    pub hooks: Option<Value>,
    /// Where it comes from.
    pub origin: Origin,
    /// The file that holds it.
    pub path: PathBuf,
    /// The tree that it belongs to.
    pub(crate) root: PathBuf,
}

/// What an invocable text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkillKind {
    /// A folder with a SKILL.md.
    Skill,
    /// A file in a folder of commands.
    Command,
}

/// Who may ask for a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// People and the model.
    Everybody,
    /// People only.
    People,
    /// The model only.
    Model,
}

impl Skill {
    /// Reads the text, without its head.
    ///
    /// # Errors
    /// When the file is gone or is not what it was.
    pub fn body(&self) -> Result<String, Problem> {
        let text = tree::read(&self.root, &self.path)?;
        let text = text.ok_or_else(|| Problem::new(&self.path, "the file is gone"))?;
        Ok(frontmatter::parse(&self.path, &text)?.body)
    }

    /// The folder that belongs to it.
    #[must_use]
    pub fn directory(&self) -> &Path {
        self.path.parent().unwrap_or(&self.path)
    }
}

/// Reads the skills of all places, strongest first.
pub(crate) fn load_skills(homes: &[Home], problems: &mut Vec<Problem>, found: &mut Vec<Skill>) {
    for home in homes {
        for folder in tree::entries(&home.root, &home.directory, problems) {
            let path = folder.join("SKILL.md");
            let Some(name) = folder.file_name().and_then(|name| name.to_str()) else { continue };
            if path.exists() {
                take(read(home, &path, SkillKind::Skill, name), found, problems);
            }
        }
    }
}

/// Reads a single skill that lies at the root of a plugin.
pub(crate) fn load_single(
    home: &Home,
    name: &str,
    problems: &mut Vec<Problem>,
    found: &mut Vec<Skill>,
) {
    let path = home.directory.join("SKILL.md");
    if path.exists() {
        take(read(home, &path, SkillKind::Skill, name), found, problems);
    }
}

/// Reads the commands of all places, strongest first; a skill of the same name wins.
pub(crate) fn load_commands(homes: &[Home], problems: &mut Vec<Problem>, found: &mut Vec<Skill>) {
    for home in homes {
        for path in tree::markdown_files(&home.root, &home.directory, problems) {
            let Some(name) = command_name(&home.directory, &path) else { continue };
            take(read(home, &path, SkillKind::Command, &name), found, problems);
        }
    }
}

fn take(read: Result<Option<Skill>, Problem>, found: &mut Vec<Skill>, problems: &mut Vec<Problem>) {
    match read {
        Ok(Some(skill)) => {
            if !found.iter().any(|held| held.name == skill.name) {
                found.push(skill);
            }
        }
        Ok(None) => {}
        Err(problem) => problems.push(problem),
    }
}

/// A command's name: its folders and its file, with colons between them.
fn command_name(directory: &Path, path: &Path) -> Option<String> {
    let below = path.strip_prefix(directory).ok()?.with_extension("");
    let parts: Option<Vec<&str>> = below.iter().map(|part| part.to_str()).collect();
    Some(parts?.join(":"))
}

fn read(
    home: &Home,
    path: &Path,
    kind: SkillKind,
    fallback: &str,
) -> Result<Option<Skill>, Problem> {
    let Some(text) = tree::read(&home.root, path)? else { return Ok(None) };
    let document = frontmatter::parse(path, &text)?;
    let name = name(path, kind, fallback, &document.fields)?;
    let name = match &home.origin {
        Origin::Plugin { name: plugin, .. } => format!("{plugin}:{name}"),
        _ => name,
    };
    Ok(Some(build(home, path, kind, name, &document)))
}

fn name(
    path: &Path,
    kind: SkillKind,
    fallback: &str,
    fields: &Map<String, Value>,
) -> Result<String, Problem> {
    let chosen = text(fields, "name").filter(|_| kind == SkillKind::Skill);
    let name = chosen.unwrap_or_else(|| fallback.to_owned());
    let is_good = |it: char| it.is_alphanumeric() || "-_.:".contains(it);
    if name.is_empty() || name.len() > 128 || !name.chars().all(is_good) {
        let reason = format!("{name:?} cannot be a name: use letters, digits, - and _");
        return Err(Problem::at(path, Some(1), reason));
    }
    Ok(name)
}

fn build(home: &Home, path: &Path, kind: SkillKind, name: String, document: &Document) -> Skill {
    let fields = &document.fields;
    let is_off = |name: &str| flag(fields, name) == Some(true);
    let audience = match (is_off("disable-model-invocation"), flag(fields, "user-invocable")) {
        (true, _) => Audience::People,
        (false, Some(false)) => Audience::Model,
        (false, _) => Audience::Everybody,
    };
    Skill {
        name,
        kind,
        description: description(document),
        argument_hint: text(fields, "argument-hint").unwrap_or_default(),
        arguments: list(fields, "arguments").unwrap_or_default(),
        audience,
        allowed_tools: list(fields, "allowed-tools").unwrap_or_default(),
        model: text(fields, "model").filter(|model| model != "inherit"),
        hooks: fields.get("hooks").filter(|hooks| hooks.is_object()).cloned(),
        origin: home.origin.clone(),
        path: path.to_path_buf(),
        root: home.root.clone(),
    }
}

fn description(document: &Document) -> String {
    let said = text(&document.fields, "description").or_else(|| {
        let mut lines = document.body.lines().map(str::trim).filter(|line| !line.is_empty());
        lines.next().map(|line| line.trim_start_matches('#').trim().to_owned())
    });
    let when = text(&document.fields, "when_to_use");
    let parts: Vec<String> = [said, when].into_iter().flatten().collect();
    parts.join(" ").chars().take(LONGEST_DESCRIPTION).collect()
}
