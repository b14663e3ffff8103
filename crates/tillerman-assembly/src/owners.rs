//! Whose memory a session's agents have: on a host with several people everybody has their own.

use std::path::{Path, PathBuf};

use tillerman_policy::Rule;

/// Where the memories of everybody but the first owner lie, in the configuration directory.
const OTHERS: &str = "agent-memory-of";
/// The longest name of a folder that every file system takes, with room to spare.
const LONGEST: usize = 200;

/// Where memories lie for whom.
#[derive(Clone, Debug)]
pub(crate) struct MemoryPlaces {
    /// The owner; nothing means the first one, or the only one.
    pub(crate) owner: Option<String>,
    /// The configuration directory.
    pub(crate) config: PathBuf,
    /// The working directory.
    pub(crate) cwd: PathBuf,
}

impl MemoryPlaces {
    /// The folder of a scope: one that exists or can be made, and the names below it.
    pub(crate) fn of_scope(&self, scope: &str) -> Result<(PathBuf, Vec<String>), String> {
        let own = |folder: &str| vec![folder.to_owned()];
        let others = |more: &[&str], owner: &str| -> Result<Vec<String>, String> {
            let mut names = vec![OTHERS.to_owned(), folder_name(owner)?];
            names.extend(more.iter().map(|&name| name.to_owned()));
            Ok(names)
        };
        let config = || self.config.clone();
        let project = || self.cwd.join(".claude");
        match (scope, self.owner.as_deref()) {
            ("user", None) => Ok((config(), own("agent-memory"))),
            ("user", Some(owner)) => Ok((config(), others(&["user"], owner)?)),
            // It is checked in with the project, and belongs to whoever works there.
            ("project", _) => Ok((project(), own("agent-memory"))),
            ("local", None) => Ok((project(), own("agent-memory-local"))),
            ("local", Some(owner)) => {
                // Others work in the same directory, and may look at everything there.
                let here = folder_name(&self.cwd.to_string_lossy())?;
                Ok((config(), others(&["local", &here], owner)?))
            }
            _ => Err("only user, project and local are known".to_owned()),
        }
    }

    /// Rules that keep a session's file tools out of what agents of others remember.
    pub(crate) fn fences(&self) -> Vec<Rule> {
        let others = self.config.join(OTHERS);
        let Some(owner) = &self.owner else { return fences_around(&others) };
        let own = folder_name(owner).ok();
        let entries = std::fs::read_dir(&others).into_iter().flatten().flatten();
        let foreign = entries.filter(|entry| entry.file_name().to_str() != own.as_deref());
        let mut rules: Vec<Rule> = foreign.flat_map(|entry| fences_around(&entry.path())).collect();
        rules.extend(fences_around(&self.config.join("agent-memory")));
        rules.extend(fences_around(&self.cwd.join(".claude/agent-memory-local")));
        rules
    }
}

/// Rules that keep out of a folder, where there is one. A link is none: memories that lie behind one
/// are never used, and it could lead to everything.
fn fences_around(folder: &Path) -> Vec<Rule> {
    let is_folder = std::fs::symlink_metadata(folder).is_ok_and(|found| found.is_dir());
    let Some(folder) = folder.canonicalize().ok().filter(|_| is_folder) else { return Vec::new() };
    // What would mean something else in a rule stands for any letter.
    let means = |letter: char| letter.is_control() || "*?[]{}\\".contains(letter);
    let letters = folder.to_string_lossy();
    let plain: String =
        letters.chars().map(|letter| if means(letter) { '?' } else { letter }).collect();
    let rules = ["Read", "Edit"].map(|tool| format!("{tool}(/{plain}/**)"));
    rules.iter().filter_map(|rule| Rule::parse(rule).ok()).collect()
}

/// A text as the name of a folder: no two texts have the same, on file systems that know no
/// capitals either, and none leads anywhere else.
fn folder_name(text: &str) -> Result<String, String> {
    let mut name = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' => name.push(char::from(byte)),
            _ => name.push_str(&format!("%{byte:02x}")),
        }
    }
    if name.is_empty() || name.len() > LONGEST {
        return Err(format!("{text:?} is too long for the name of a folder"));
    }
    Ok(name)
}
