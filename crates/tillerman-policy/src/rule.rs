//! Permission rules: `Tool` or `Tool(content)`.

use std::path::{Path, PathBuf};

use tillerman_protocol::permission::PermissionRule;

use crate::policy::Facts;
use crate::shell;

/// A rule about the calls of one tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The tool.
    pub tool: String,
    /// What a call must match; `None` means every call.
    pub content: Option<String>,
}

/// What a rule that cannot be read for certain counts as.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doubt {
    /// No match: right for rules that allow.
    Misses,
    /// A match: right for rules that deny or ask.
    Matches,
}

impl Rule {
    /// Reads `Tool` or `Tool(content)`; `Tool(*)` means every call.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let text = text.trim();
        match text.split_once('(') {
            Some((tool, rest)) if rest.ends_with(')') => {
                let content = rest[..rest.len() - 1].trim();
                let content = (content != "*" && !content.is_empty()).then(|| content.to_owned());
                Self { tool: tool.trim().to_owned(), content }
            }
            _ => Self { tool: text.to_owned(), content: None },
        }
    }

    /// Whether the rule is about this call.
    pub(crate) fn matches(&self, facts: &Facts<'_>, directories: &[PathBuf], doubt: Doubt) -> bool {
        if !self.is_about(facts.tool) {
            return false;
        }
        let Some(content) = &self.content else { return true };
        if let Some(path) = &facts.path {
            let named = path_matches(content, &path.named, directories, doubt);
            let resolved = path_matches(content, &path.resolved, directories, doubt);
            return match doubt {
                Doubt::Misses => named && resolved,
                Doubt::Matches => named || resolved,
            };
        }
        match facts.input.get("command").and_then(|command| command.as_str()) {
            Some(command) => shell::matches(content, command, doubt),
            None => doubt == Doubt::Matches,
        }
    }

    /// Edit rules govern every tool that writes files.
    fn is_about(&self, tool: &str) -> bool {
        self.tool == tool
            || (self.tool == "Edit" && matches!(tool, "Write" | "MultiEdit" | "NotebookEdit"))
    }
}

impl From<&PermissionRule> for Rule {
    fn from(rule: &PermissionRule) -> Self {
        let content = rule.rule_content.clone().filter(|content| content != "*");
        Self { tool: rule.tool_name.clone(), content }
    }
}

/// Splits a list of rules at commas and spaces outside parentheses.
#[must_use]
pub fn split_rules(text: &str) -> Vec<String> {
    let mut rules = vec![String::new()];
    let mut depth = 0_u32;
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && (c == ',' || c.is_whitespace()) {
            rules.push(String::new());
        } else if let Some(last) = rules.last_mut() {
            last.push(c);
        }
    }
    rules.retain(|rule| !rule.is_empty());
    rules
}

/// Understands a literal path and a directory followed by `/**`; anything else is in doubt.
fn path_matches(pattern: &str, path: &Path, directories: &[PathBuf], doubt: Doubt) -> bool {
    let (base, below) = match pattern.strip_suffix("/**") {
        Some(base) => (base, true),
        None => (pattern, false),
    };
    if base.contains(['*', '?', '[', '{', '~']) {
        return doubt == Doubt::Matches;
    }
    let candidates: Vec<PathBuf> = match base.strip_prefix("//") {
        Some(absolute) => vec![Path::new("/").join(absolute)],
        None => {
            let relative = base.trim_start_matches("./").trim_start_matches('/');
            directories.iter().map(|directory| directory.join(relative)).collect()
        }
    };
    candidates.iter().any(
        |candidate| {
            if below { path.starts_with(candidate) } else { path == candidate }
        },
    )
}
