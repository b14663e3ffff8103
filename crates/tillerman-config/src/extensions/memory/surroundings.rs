//! Memory that becomes due when the agent looks somewhere: of subfolders, and of matching rules.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::extensions::memory::file::{LoadedFile, MemoryFile, MemoryKind};
use crate::extensions::memory::load::{Memory, Reader};
use crate::extensions::memory::rules::Rule;
use crate::extensions::places::ExtensionPlaces;
use crate::extensions::problem::Problem;
use crate::source::Source;

const DEEPEST: usize = 64;

/// Knows which memory has been given and gives the rest once, when it is due.
#[derive(Clone, Debug)]
pub struct Surroundings {
    places: ExtensionPlaces,
    cwd: PathBuf,
    scoped: Vec<Rule>,
    visited: HashSet<PathBuf>,
    given: Vec<PathBuf>,
    problems: Vec<Problem>,
    loaded: Vec<LoadedFile>,
}

impl Surroundings {
    /// What surrounds a session that began with this memory.
    #[must_use]
    pub fn new(places: ExtensionPlaces, memory: &Memory) -> Self {
        let cwd = places.cwd.canonicalize().unwrap_or_else(|_| places.cwd.clone());
        let given = memory.files.iter().filter_map(|file| file.path.canonicalize().ok()).collect();
        let scoped = memory.scoped.clone();
        let loaded = memory.files.iter().map(|file| file.loaded("session_start", None)).collect();
        let (visited, problems) = (HashSet::new(), Vec::new());
        Self { places, cwd, scoped, visited, given, problems, loaded }
    }

    /// The memory that is due now that a file or folder was looked at; each text is given once.
    pub fn memory_for(&mut self, touched: &Path) -> Vec<String> {
        let path = self.cwd.join(touched);
        let path = path.canonicalize().unwrap_or(path);
        let Ok(below) = path.strip_prefix(&self.cwd) else { return Vec::new() };
        let below = if path.is_dir() { Some(below) } else { below.parent() };
        let new: Vec<PathBuf> = below
            .into_iter()
            .flat_map(Path::ancestors)
            .filter(|part| !part.as_os_str().is_empty())
            .take(DEEPEST)
            .map(|part| self.cwd.join(part))
            .filter(|directory| !self.visited.contains(directory))
            .collect();
        if new.is_empty() && self.scoped.is_empty() {
            return Vec::new();
        }
        let mut reader = Reader::new(&self.places).remembering(&self.given);
        for directory in new.into_iter().rev() {
            reader.read_directory(&self.cwd, &directory);
            if self.places.reads(Source::Project) {
                let rules = directory.join(".claude/rules");
                reader.add_rules(&self.cwd, &rules, &directory, MemoryKind::Project);
            }
            self.visited.insert(directory);
        }
        self.scoped.append(&mut reader.memory.scoped);
        let held = std::mem::take(&mut self.scoped).into_iter();
        let (due, rest): (Vec<Rule>, Vec<Rule>) = held.partition(|rule| rule.scope.covers(&path));
        self.scoped = rest;
        let nested = reader.memory.files.iter();
        self.loaded.extend(nested.map(|file| file.loaded("nested_traversal", Some(&path))));
        for rule in due {
            let before = reader.memory.files.len();
            reader.take(&rule.path, rule.kind, &rule.text, None, &mut Vec::new());
            let new = reader.memory.files.iter().skip(before);
            self.loaded.extend(new.map(|file| LoadedFile {
                patterns: Some(rule.patterns.clone()),
                ..file.loaded("path_glob_match", Some(&path))
            }));
        }
        let (memory, seen) = reader.seen();
        self.given = seen;
        self.problems.extend(memory.problems);
        memory.files.iter().map(MemoryFile::shown).collect()
    }

    /// The files that were loaded since the last time, those of the beginning first.
    pub fn take_loaded(&mut self) -> Vec<LoadedFile> {
        std::mem::take(&mut self.loaded)
    }

    /// What was left out since the last time, and why.
    pub fn take_problems(&mut self) -> Vec<Problem> {
        std::mem::take(&mut self.problems)
    }
}
