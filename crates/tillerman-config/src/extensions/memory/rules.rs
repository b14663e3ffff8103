//! Rules: memory files in `.claude/rules` that can be meant for some files only.

use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::extensions::frontmatter;
use crate::extensions::memory::file::MemoryKind;
use crate::extensions::problem::Problem;
use crate::extensions::tree;

const MOST_PATTERNS: usize = 1_000;

/// A file of rules.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub(super) path: PathBuf,
    pub(super) kind: MemoryKind,
    pub(super) text: String,
    pub(super) scope: Scope,
    /// The patterns of its scope, as they are written.
    pub(super) patterns: Vec<String>,
}

/// Which files rules are meant for.
#[derive(Clone, Debug)]
pub(super) enum Scope {
    Everything,
    /// Those below this directory that fit.
    Some(PathBuf, GlobSet),
}

impl Scope {
    pub(super) fn covers(&self, path: &Path) -> bool {
        match self {
            Self::Everything => true,
            Self::Some(base, globs) => {
                path.strip_prefix(base).is_ok_and(|below| globs.is_match(below))
            }
        }
    }
}

/// Reads the rules in a directory; their patterns are meant for what lies below `base`.
pub(super) fn load(
    root: &Path,
    directory: &Path,
    base: &Path,
    kind: MemoryKind,
    problems: &mut Vec<Problem>,
) -> Vec<Rule> {
    let files = tree::markdown_files(root, directory, problems);
    let mut rules = Vec::new();
    for path in files {
        match read(root, path, base, kind) {
            Ok(rule) => rules.extend(rule),
            Err(problem) => problems.push(problem),
        }
    }
    rules
}

fn read(
    root: &Path,
    path: PathBuf,
    base: &Path,
    kind: MemoryKind,
) -> Result<Option<Rule>, Problem> {
    let Some(text) = tree::read(root, &path)? else { return Ok(None) };
    let document = frontmatter::parse(&path, &text)?;
    let patterns = frontmatter::list(&document.fields, "paths");
    let scope = match &patterns {
        None => Scope::Everything,
        Some(patterns) => Scope::Some(base.to_path_buf(), globs(&path, patterns)?),
    };
    let patterns = patterns.unwrap_or_default();
    Ok(Some(Rule { path, kind, text: document.body, scope, patterns }))
}

/// Patterns as one; `*` stops at slashes and `**` does not.
pub(super) fn globs(path: &Path, patterns: &[String]) -> Result<GlobSet, Problem> {
    if patterns.len() > MOST_PATTERNS {
        return Err(Problem::at(path, Some(1), "paths has more than 1000 patterns"));
    }
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let glob = GlobBuilder::new(pattern.trim_start_matches("./"))
            .literal_separator(true)
            .build()
            .map_err(|error| Problem::at(path, Some(1), format!("{pattern}: {}", error.kind())))?;
        set.add(glob);
    }
    set.build().map_err(|error| Problem::at(path, Some(1), format!("paths: {error}")))
}
