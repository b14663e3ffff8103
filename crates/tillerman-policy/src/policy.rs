//! The rules and directories of a session, and the updates that change them.

use std::path::PathBuf;

use tillerman_protocol::permission::{PermissionMode, PermissionUpdate, RuleBehavior};
use tillerman_protocol::sandbox::SandboxSettings;

use crate::guard::Guard;
use crate::path_pattern::Side;
use crate::rule::Rule;

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
    /// Directories that the agent keeps itself, such as its memory; absolute, links resolved. Its
    /// file tools may look and write there, although their names are protected.
    pub keeps: Vec<PathBuf>,
    /// The user's home directory.
    pub home: Option<PathBuf>,
    /// Files that nothing may write.
    pub guard: Guard,
    /// What confines shell commands, as far as permission hangs on it; nothing does without it.
    pub sandbox: Option<SandboxSettings>,
}

impl Policy {
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

    /// Whether a rule refuses every call of a tool, so that the model need not hear of it.
    #[must_use]
    pub fn removes(&self, tool: &str) -> bool {
        let whole = self.deny.iter().filter(|rule| rule.content().is_none());
        whole.into_iter().any(|rule| rule.is_about(tool, Side::Restrict))
    }

    fn rules_mut(&mut self, behavior: RuleBehavior) -> &mut Vec<Rule> {
        match behavior {
            RuleBehavior::Allow => &mut self.allow,
            RuleBehavior::Deny => &mut self.deny,
            RuleBehavior::Ask => &mut self.ask,
        }
    }
}

/// Tools that do not exist in a mode.
///
/// Plans are approved by a person, and bypassing permissions means that nobody is asked.
#[must_use]
pub fn tools_off_in(mode: PermissionMode) -> &'static [&'static str] {
    match mode {
        PermissionMode::BypassPermissions => &["EnterPlanMode", "ExitPlanMode"],
        _ => &[],
    }
}
