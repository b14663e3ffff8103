//! Calls and policies in a few words.

use std::path::PathBuf;

use serde_json::{Value, json};
use tillerman_policy::{Before, Facts, PathFact, Policy, Rule, Verdict};
use tillerman_protocol::permission::PermissionMode;

/// A verdict in a word.
pub(crate) fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Allow => "allow",
        Verdict::Deny { .. } => "deny",
        Verdict::Ask { .. } => "ask",
    }
}

/// A policy with these rules in the working directory `/project`.
pub(crate) fn policy(allow: &[&str], deny: &[&str], ask: &[&str]) -> Policy {
    let rules = |texts: &[&str]| texts.iter().map(|text| Rule::parse(text)).collect();
    Policy {
        allow: rules(allow),
        deny: rules(deny),
        ask: rules(ask),
        directories: vec![PathBuf::from("/project")],
    }
}

/// A call: a command, or a file by its names.
pub(crate) struct Call {
    tool: &'static str,
    input: Value,
    only_looks: bool,
    path: Option<PathFact>,
}

pub(crate) fn bash(command: &str) -> Call {
    Call { tool: "Bash", input: json!({"command": command}), only_looks: false, path: None }
}

pub(crate) fn tool(tool: &'static str) -> Call {
    Call { tool, input: json!({}), only_looks: false, path: None }
}

pub(crate) fn file(tool: &'static str, named: &str) -> Call {
    link(tool, named, named)
}

/// A file that is a link to another.
pub(crate) fn link(tool: &'static str, named: &str, resolved: &str) -> Call {
    let path = PathFact { named: named.into(), resolved: resolved.into() };
    let only_looks = tool == "Read";
    Call { tool, input: json!({"file_path": named}), only_looks, path: Some(path) }
}

impl Call {
    fn facts(&self) -> Facts<'_> {
        Facts {
            tool: self.tool,
            input: &self.input,
            only_looks: self.only_looks,
            path: self.path.clone(),
        }
    }

    pub(crate) fn judged(&self, policy: &Policy, mode: PermissionMode) -> Verdict {
        policy.judge(&self.facts(), mode)
    }

    pub(crate) fn judged_after(&self, policy: &Policy, before: Before) -> Verdict {
        policy.judge_after(&self.facts(), PermissionMode::Default, before)
    }
}
