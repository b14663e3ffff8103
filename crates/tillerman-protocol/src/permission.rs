//! Permission modes, rules, updates and answers.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How tool calls are judged when no rule decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PermissionMode {
    /// Ask for everything that is not plainly harmless.
    #[default]
    #[serde(alias = "manual")]
    Default,
    /// File edits inside the working directories are approved.
    #[serde(alias = "auto-edit")]
    AcceptEdits,
    /// Look but do not touch.
    Plan,
    /// Everything that no deny rule or guard forbids is approved.
    #[serde(alias = "full-auto")]
    BypassPermissions,
    /// Never ask: what would be asked is denied.
    DontAsk,
    /// A classifier decides what would otherwise be asked.
    Auto,
}

impl PermissionMode {
    /// All modes with their wire names.
    pub const ALL: [(&'static str, Self); 6] = [
        ("default", Self::Default),
        ("acceptEdits", Self::AcceptEdits),
        ("plan", Self::Plan),
        ("bypassPermissions", Self::BypassPermissions),
        ("dontAsk", Self::DontAsk),
        ("auto", Self::Auto),
    ];

    /// Reads a mode by its wire name or by one of the names hosts use for it.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "manual" => Some(Self::Default),
            "auto-edit" => Some(Self::AcceptEdits),
            "full-auto" => Some(Self::BypassPermissions),
            _ => Self::ALL.iter().find(|(text, _)| *text == name).map(|(_, mode)| *mode),
        }
    }

    /// The name on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        Self::ALL.iter().find(|(_, mode)| *mode == self).map_or("default", |(text, _)| text)
    }
}

/// What a rule does with the calls it matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RuleBehavior {
    /// Approve.
    Allow,
    /// Refuse.
    Deny,
    /// Ask, whatever the mode.
    Ask,
}

/// A rule as it travels in permission updates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PermissionRule {
    /// The tool the rule is about.
    pub tool_name: String,
    /// What the call must match; absent means every call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule_content: Option<String>,
}

/// Where a permission update is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum UpdateDestination {
    /// The user's settings file.
    UserSettings,
    /// The project's shared settings file.
    ProjectSettings,
    /// The project's local settings file.
    LocalSettings,
    /// This session only; also what an update without a destination means.
    #[default]
    Session,
    /// The command line; holds for this session.
    CliArg,
}

/// A change to the permissions of a session or of a settings file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum PermissionUpdate {
    /// Adds rules.
    AddRules {
        /// The rules.
        rules: Vec<PermissionRule>,
        /// What they do.
        behavior: RuleBehavior,
        /// Where they are kept.
        #[serde(default)]
        destination: UpdateDestination,
    },
    /// Replaces all rules of one behavior.
    ReplaceRules {
        /// The rules.
        rules: Vec<PermissionRule>,
        /// What they do.
        behavior: RuleBehavior,
        /// Where they are kept.
        #[serde(default)]
        destination: UpdateDestination,
    },
    /// Removes rules.
    RemoveRules {
        /// The rules.
        rules: Vec<PermissionRule>,
        /// What they did.
        behavior: RuleBehavior,
        /// Where they were kept.
        #[serde(default)]
        destination: UpdateDestination,
    },
    /// Changes the permission mode.
    SetMode {
        /// The new mode.
        mode: PermissionMode,
        /// Where it is kept.
        #[serde(default)]
        destination: UpdateDestination,
    },
    /// Adds working directories.
    AddDirectories {
        /// The directories.
        directories: Vec<String>,
        /// Where they are kept.
        #[serde(default)]
        destination: UpdateDestination,
    },
    /// Removes working directories.
    RemoveDirectories {
        /// The directories.
        directories: Vec<String>,
        /// Where they were kept.
        #[serde(default)]
        destination: UpdateDestination,
    },
    /// Any other update, as it came.
    #[serde(untagged)]
    Other(Value),
}

/// The host's answer to `can_use_tool`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "behavior", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub enum PermissionResult {
    /// Run the call.
    Allow {
        /// The input to run with; absent means unchanged, `{}` means an empty input.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        updated_input: Option<Value>,
        /// Permission updates to apply from now on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        updated_permissions: Option<Vec<PermissionUpdate>>,
    },
    /// Do not run the call.
    Deny {
        /// What the model is told.
        #[serde(default)]
        message: String,
        /// Whether the whole turn ends here.
        #[serde(default)]
        interrupt: bool,
    },
}
