//! Files that run code or steer the agent when they change: nothing but a person approves writes to them.

use std::path::{Component, Path};

use crate::glob::{self, Case};

/// Directories whose contents are protected wherever they lie.
const DIRECTORIES: [&str; 11] = [
    ".git",
    ".vscode",
    ".idea",
    ".husky",
    ".cargo",
    ".devcontainer",
    ".yarn",
    ".mvn",
    ".claude",
    ".ssh",
    ".gnupg",
];

/// Protected names wherever they lie; a star stands for any ending.
const FILES: [&str; 40] = [
    ".gitconfig",
    ".gitmodules",
    ".gitattributes",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".cshrc",
    ".tcshrc",
    ".login",
    ".inputrc",
    ".envrc",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".pnp.*",
    ".pnpmfile.cjs",
    "bunfig.toml",
    ".bunfig.toml",
    ".bazelrc",
    ".bazel*",
    ".pre-commit-config.yaml",
    ".pre-commit-hooks.yaml",
    "lefthook*",
    ".lefthook*",
    "gradle-wrapper.properties",
    "maven-wrapper.properties",
    ".devcontainer.json",
    ".ripgreprc",
    "pyrightconfig.json",
    ".mcp.json",
    ".claude.json",
];

/// Whether a path is protected by its name, in any spelling that a file system could fold into it.
pub(crate) fn is_protected(path: &Path) -> bool {
    let parts: Vec<&str> = path
        .components()
        .filter_map(|part| match part {
            Component::Normal(part) => Some(part.to_str().unwrap_or("\u{fffd}")),
            _ => None,
        })
        .collect();
    let in_directory = parts.iter().enumerate().any(|(at, part)| {
        let own_worktrees = at + 2 < parts.len()
            && *part == ".claude"
            && parts[at + 1] == "worktrees"
            && !parts[at + 2..]
                .iter()
                .any(|below| DIRECTORIES.iter().any(|name| looks_like(below, name)));
        let of_git = at > 0 && looks_like(parts[at - 1], ".config") && looks_like(part, "git");
        !own_worktrees && (of_git || DIRECTORIES.iter().any(|name| looks_like(part, name)))
    });
    in_directory || parts.last().is_some_and(|name| FILES.iter().any(|file| looks_like(name, file)))
}

/// Whether a path with wildcards could be a protected one.
pub(crate) fn could_be_protected(pattern: &str) -> bool {
    let says_something = |part: &&str| part.chars().any(|c| !matches!(c, '*' | '?' | '\\' | '.'));
    pattern.split('/').filter(says_something).any(|part| {
        DIRECTORIES.iter().chain(&FILES).any(|name| glob::matches(part, name, Case::Folded))
    })
}

/// Whether a name is this one, or could be taken for it.
///
/// Case never counts, nor does the width of a letter. Up to three further characters outside ASCII
/// may be look-alikes of any other, or invisible, so they stand for any one character or none.
/// Trailing dots and spaces, and what follows a colon, are dropped by some file systems.
pub(crate) fn looks_like(name: &str, wanted: &str) -> bool {
    let name = name.split(':').next().unwrap_or(name).trim_end_matches(['.', ' ']);
    if name.is_ascii() {
        return match wanted.strip_suffix('*') {
            Some(start) => {
                name.len() >= start.len()
                    && name.as_bytes()[..start.len()].eq_ignore_ascii_case(start.as_bytes())
            }
            None => name.eq_ignore_ascii_case(wanted),
        };
    }
    let name: Vec<char> = name.chars().take(MAX_LOOKALIKE + 1).map(to_half_width).collect();
    let strange = name.iter().filter(|c| !c.is_ascii()).count();
    let wanted: Vec<char> = wanted.chars().collect();
    name.len() <= MAX_LOOKALIKE && strange <= MAX_STRANGE && could_be(&name, &wanted)
}

/// Longer names are no look-alikes of any protected one.
const MAX_LOOKALIKE: usize = 64;

/// A name with more characters outside ASCII is written in another script.
const MAX_STRANGE: usize = 3;

fn to_half_width(c: char) -> char {
    match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        c => c,
    }
}

/// Dynamic programming over both names, because an invisible character may stand for nothing.
fn could_be(name: &[char], wanted: &[char]) -> bool {
    let mut reachable = vec![false; wanted.len() + 1];
    reachable[0] = true;
    for c in name {
        let mut next = vec![false; wanted.len() + 1];
        for at in 0..=wanted.len() {
            if !reachable[at] {
                continue;
            }
            if !c.is_ascii() {
                next[at] = true;
            }
            match wanted.get(at) {
                Some('*') => next[at] = true,
                Some(expected) if !c.is_ascii() || c.eq_ignore_ascii_case(expected) => {
                    next[at + 1] = true;
                }
                _ => {}
            }
        }
        reachable = next;
    }
    reachable[wanted.len()] || (wanted.last() == Some(&'*') && reachable[wanted.len() - 1])
}
