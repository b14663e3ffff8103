//! The content of everything in a repository that can run something or loosen a rule.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::extensions::led_to;
use crate::read::read_file;

const MOST_FILES: usize = 4_096;
const MOST_BYTES: u64 = 64 << 20;
const DEEPEST: usize = 12;
const HIGHEST: usize = 32;

/// Files below a working directory that count.
const FILES: [&str; 3] = [".claude/settings.json", ".claude/settings.local.json", ".mcp.json"];
/// Folders below a working directory of which everything counts.
const FOLDERS: [&str; 8] = [
    ".claude/agents",
    ".claude/commands",
    ".claude/hooks",
    ".claude/output-styles",
    ".claude/plugins",
    ".claude/rules",
    ".claude/skills",
    ".claude/workflows",
];

/// Folders of a plugin that can hold what runs.
const PLUGIN_PARTS: [&str; 6] =
    [".claude-plugin", "agents", "commands", "hooks", "output-styles", "skills"];

/// Why a repository could not be looked through.
#[derive(Debug, thiserror::Error)]
pub enum FingerprintError {
    /// Something could not be read.
    #[error("cannot read {}", path.display())]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// Nobody could look through it before trusting it.
    #[error("{} holds more than {MOST_FILES} files or 64 MiB of configuration", path.display())]
    TooMuch {
        /// The repository.
        path: PathBuf,
    },
}

/// Digests by path, relative to the working directory.
pub(crate) type Fingerprint = BTreeMap<String, String>;

/// Takes the fingerprint of a working directory and the folders above it that belong to the same
/// repository, from which agents and skills are read as well.
pub(crate) fn take(cwd: &Path) -> Result<Fingerprint, FingerprintError> {
    let mut walk = Walk { cwd, found: Fingerprint::new(), bytes: 0 };
    let mut above = String::new();
    for directory in repository(cwd) {
        for name in FILES {
            walk.file(&directory.join(name), format!("{above}{name}"))?;
        }
        for name in FOLDERS {
            walk.folder(&directory.join(name), &format!("{above}{name}"), 0)?;
        }
        above.push_str("../");
    }
    walk.plugins()?;
    Ok(walk.found)
}

/// The digest of a file's content.
pub(crate) fn digest(content: impl AsRef<[u8]>) -> String {
    hex(&Sha256::digest(content))
}

/// The working directory and those above it up to the root of its repository.
fn repository(cwd: &Path) -> Vec<&Path> {
    let up: Vec<&Path> = cwd.ancestors().take(HIGHEST).collect();
    match up.iter().position(|directory| directory.join(".git").exists()) {
        Some(root) => up[..=root].to_vec(),
        None => vec![cwd],
    }
}

struct Walk<'a> {
    cwd: &'a Path,
    found: Fingerprint,
    bytes: u64,
}

impl Walk<'_> {
    /// Adds plugins of marketplaces that the settings name, wherever those lie.
    fn plugins(&mut self) -> Result<(), FingerprintError> {
        let cwd = self.cwd;
        let said = FILES.iter().filter_map(|name| read_file(&cwd.join(name)).ok().flatten());
        let places: Vec<PathBuf> = said.flat_map(|read| led_to(&read.said, cwd)).collect();
        for place in places {
            let name = |path: &Path| path.strip_prefix(cwd).unwrap_or(path).display().to_string();
            if !place.is_dir() {
                self.file(&place, name(&place))?;
            } else if cwd.starts_with(&place) {
                // The working copy itself is the plugin, and most of it is work.
                let parts = PLUGIN_PARTS.iter().map(|part| (*part).to_owned());
                for part in parts.chain(named_parts(&place)).map(|part| place.join(part)) {
                    if part.is_dir() {
                        self.folder(&part, &name(&part), 0)?;
                    } else {
                        self.file(&part, name(&part))?;
                    }
                }
            } else {
                self.folder(&place, &name(&place), 0)?;
            }
        }
        Ok(())
    }

    fn folder(&mut self, path: &Path, name: &str, depth: usize) -> Result<(), FingerprintError> {
        let entries = match std::fs::read_dir(path) {
            Ok(entries) => entries,
            Err(error) if is_absent(&error) => return Ok(()),
            Err(source) => return Err(unreadable(path, source)),
        };
        if depth > DEEPEST {
            return Err(self.too_much());
        }
        for entry in entries {
            let entry = entry.map_err(|source| unreadable(path, source))?;
            let name = format!("{name}/{}", entry.file_name().to_string_lossy());
            let path = entry.path();
            // Links are followed as their readers follow them, so that what they lead to counts.
            if std::fs::metadata(&path).is_ok_and(|metadata| metadata.is_dir()) {
                self.folder(&path, &name, depth + 1)?;
            } else {
                self.file(&path, name)?;
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path, name: String) -> Result<(), FingerprintError> {
        match std::fs::metadata(path) {
            Ok(metadata) if metadata.is_file() => {}
            // Whatever else stands there is read by nobody, and may keep whoever tries waiting.
            Ok(_) => {
                self.found.insert(name, "not a file".to_owned());
                return Ok(());
            }
            Err(error) if is_absent(&error) => return Ok(()),
            Err(source) => return Err(unreadable(path, source)),
        }
        let left = MOST_BYTES.saturating_sub(self.bytes);
        let mut content = Vec::new();
        let file = std::fs::File::open(path).map_err(|source| unreadable(path, source))?;
        let read = file.take(left + 1).read_to_end(&mut content);
        read.map_err(|source| unreadable(path, source))?;
        self.bytes += content.len() as u64;
        if self.bytes > MOST_BYTES || self.found.len() >= MOST_FILES {
            return Err(self.too_much());
        }
        self.found.insert(name, digest(&content));
        Ok(())
    }

    fn too_much(&self) -> FingerprintError {
        FingerprintError::TooMuch { path: self.cwd.to_path_buf() }
    }
}

/// The parts that a plugin's own description names.
fn named_parts(plugin: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(plugin.join(".claude-plugin/plugin.json"));
    let said: Value = serde_json::from_str(&text.unwrap_or_default()).unwrap_or_default();
    let values = said.as_object().into_iter().flat_map(|said| said.values());
    let lists = values.flat_map(|value| match value {
        Value::Array(items) => items.as_slice(),
        other => std::slice::from_ref(other),
    });
    let texts = lists.filter_map(Value::as_str).filter(|text| text.starts_with("./"));
    texts.map(|text| text.trim_start_matches("./").to_owned()).filter(|it| !it.is_empty()).collect()
}

fn unreadable(path: &Path, source: std::io::Error) -> FingerprintError {
    FingerprintError::Unreadable { path: path.to_path_buf(), source }
}

fn is_absent(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory)
}

fn hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(u32::from(half), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}
