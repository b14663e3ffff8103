//! The order in which rules and modes decide about a call.

use std::path::PathBuf;

use serde_json::Value;
use tillerman_protocol::permission::{
    PermissionMode, PermissionRule, PermissionUpdate, RuleBehavior, UpdateDestination,
};

use crate::rule::{Doubt, Rule};
use crate::shell;

/// The rules and directories of a session.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// Calls that are approved.
    pub allow: Vec<Rule>,
    /// Calls that are refused.
    pub deny: Vec<Rule>,
    /// Calls that are asked about.
    pub ask: Vec<Rule>,
    /// The working directory first, then further ones; absolute, links resolved.
    pub directories: Vec<PathBuf>,
}

/// What is known about a call.
#[derive(Clone, Debug)]
pub struct Facts<'a> {
    /// The tool.
    pub tool: &'a str,
    /// Its input.
    pub input: &'a Value,
    /// Whether the tool only looks.
    pub only_looks: bool,
    /// The file the call is about.
    pub path: Option<PathFact>,
}

/// A file by both its names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathFact {
    /// As it was named, made absolute.
    pub named: PathBuf,
    /// With every link resolved.
    pub resolved: PathBuf,
}

/// What is to happen with a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// It may run.
    Allow,
    /// It must not run.
    Deny {
        /// Why, for the model.
        message: String,
        /// What kind of thing decided: `rule` or `mode`.
        by: &'static str,
    },
    /// Somebody has to decide.
    Ask {
        /// Why it is a question.
        reason: String,
        /// The path that made it a question.
        blocked_path: Option<String>,
        /// Updates that would make the question unnecessary.
        suggestions: Vec<PermissionUpdate>,
    },
}

/// What was said about a call before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Before {
    /// Nothing.
    Nothing,
    /// A hook would allow it.
    HookAllowed,
    /// A hook wants a question.
    HookAsked,
    /// Somebody approved it.
    Approved,
}

impl Policy {
    /// Judges a call that nothing was said about before.
    #[must_use]
    pub fn judge(&self, facts: &Facts<'_>, mode: PermissionMode) -> Verdict {
        self.judge_after(facts, mode, Before::Nothing)
    }

    /// Judges a call in the one order: deny, ask, mode, allow, question.
    #[must_use]
    pub fn judge_after(&self, facts: &Facts<'_>, mode: PermissionMode, before: Before) -> Verdict {
        if let Some(rule) = self.first(&self.deny, facts, Doubt::Matches) {
            let message =
                format!("{} was not run: a deny rule ({}) forbids it.", facts.tool, rule.tool);
            return Verdict::Deny { message, by: "rule" };
        }
        if before == Before::Approved {
            return Verdict::Allow;
        }
        let must_ask = before == Before::HookAsked
            || facts.tool == "AskUserQuestion"
            || self.first(&self.ask, facts, Doubt::Matches).is_some();
        if must_ask {
            return self.question(facts, mode, "a rule or hook wants it to be asked");
        }
        if mode == PermissionMode::BypassPermissions || self.is_harmless(facts) {
            return Verdict::Allow;
        }
        if mode == PermissionMode::Plan && !facts.only_looks {
            return self.question(facts, mode, "plan mode only looks");
        }
        if mode == PermissionMode::AcceptEdits && self.is_edit_inside(facts) {
            return Verdict::Allow;
        }
        if before == Before::HookAllowed || self.first(&self.allow, facts, Doubt::Misses).is_some()
        {
            return Verdict::Allow;
        }
        self.question(facts, mode, "it needs permission")
    }

    /// Applies an update for the rest of the session.
    pub fn apply(&mut self, update: &PermissionUpdate) {
        match update {
            PermissionUpdate::AddRules { rules, behavior, .. } => {
                self.rules_mut(*behavior).extend(rules.iter().map(Rule::from));
            }
            PermissionUpdate::ReplaceRules { rules, behavior, .. } => {
                *self.rules_mut(*behavior) = rules.iter().map(Rule::from).collect();
            }
            PermissionUpdate::RemoveRules { rules, behavior, .. } => {
                let gone: Vec<Rule> = rules.iter().map(Rule::from).collect();
                self.rules_mut(*behavior).retain(|rule| !gone.contains(rule));
            }
            PermissionUpdate::AddDirectories { directories, .. } => {
                self.directories.extend(directories.iter().map(PathBuf::from));
            }
            PermissionUpdate::RemoveDirectories { directories, .. } => {
                self.directories.retain(|held| {
                    !directories.iter().any(|gone| held.as_os_str() == gone.as_str())
                });
            }
            PermissionUpdate::SetMode { .. } | PermissionUpdate::Other(_) => {}
        }
    }

    fn rules_mut(&mut self, behavior: RuleBehavior) -> &mut Vec<Rule> {
        match behavior {
            RuleBehavior::Allow => &mut self.allow,
            RuleBehavior::Deny => &mut self.deny,
            RuleBehavior::Ask => &mut self.ask,
        }
    }

    fn first<'a>(&self, rules: &'a [Rule], facts: &Facts<'_>, doubt: Doubt) -> Option<&'a Rule> {
        rules.iter().find(|rule| rule.matches(facts, &self.directories, doubt))
    }

    fn is_harmless(&self, facts: &Facts<'_>) -> bool {
        if let Some(path) = &facts.path {
            return facts.only_looks && self.contains(path);
        }
        match facts.input.get("command").and_then(Value::as_str) {
            Some(command) => facts.tool == "Bash" && shell::only_looks(command),
            None => facts.only_looks,
        }
    }

    fn is_edit_inside(&self, facts: &Facts<'_>) -> bool {
        facts.path.as_ref().is_some_and(|path| self.contains(path))
    }

    /// Allowing needs both names inside.
    fn contains(&self, path: &PathFact) -> bool {
        let inside = |candidate: &PathBuf| {
            self.directories.iter().any(|directory| candidate.starts_with(directory))
        };
        inside(&path.resolved) && (inside(&path.named) || path.named == path.resolved)
    }

    fn question(&self, facts: &Facts<'_>, mode: PermissionMode, reason: &str) -> Verdict {
        if mode == PermissionMode::DontAsk {
            let message = format!(
                "{} was not run: {reason}, and this session never asks (dontAsk mode).",
                facts.tool
            );
            return Verdict::Deny { message, by: "mode" };
        }
        let outside = facts.path.as_ref().filter(|path| !self.contains(path));
        let blocked_path = outside.map(|path| path.resolved.display().to_string());
        let reason = match &blocked_path {
            Some(path) => format!("{path} lies outside the working directories"),
            None => reason.to_owned(),
        };
        Verdict::Ask { reason, blocked_path, suggestions: self.suggestions(facts) }
    }

    fn suggestions(&self, facts: &Facts<'_>) -> Vec<PermissionUpdate> {
        if let Some(path) = &facts.path {
            if !facts.only_looks && self.contains(path) {
                let destination = UpdateDestination::Session;
                return vec![PermissionUpdate::SetMode {
                    mode: PermissionMode::AcceptEdits,
                    destination,
                }];
            }
            return Vec::new();
        }
        let command = facts.input.get("command").and_then(Value::as_str);
        let rule_content = command.map(str::to_owned);
        if command.is_some_and(|command| shell::plain_words(command).is_none()) {
            return Vec::new();
        }
        vec![PermissionUpdate::AddRules {
            rules: vec![PermissionRule { tool_name: facts.tool.to_owned(), rule_content }],
            behavior: RuleBehavior::Allow,
            destination: UpdateDestination::LocalSettings,
        }]
    }
}
