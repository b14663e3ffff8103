//! What the agent may do.

use std::path::PathBuf;

use tillerman_protocol::permission::PermissionMode;
use tillerman_protocol::sandbox::SandboxSettings;

use crate::options::builder::Options;

/// What the agent may do.
#[derive(Clone, Debug, Default)]
pub(crate) struct PermissionOptions {
    pub(crate) tools: Option<ToolSet>,
    pub(crate) allowed: Vec<String>,
    pub(crate) disallowed: Vec<String>,
    pub(crate) mode: Option<PermissionMode>,
    pub(crate) may_bypass: bool,
    pub(crate) prompt_tool: Option<String>,
    pub(crate) directories: Vec<PathBuf>,
    pub(crate) sandbox: Option<SandboxSettings>,
    pub(crate) protection: Protection,
}

/// What holds in every mode.
#[derive(Clone, Debug, Default)]
pub(crate) struct Protection {
    pub(crate) guarded: Vec<String>,
    pub(crate) environment: ToolEnvironment,
}

/// Which variables tools see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ToolEnvironment {
    /// All but the credentials.
    #[default]
    Usual,
    /// Only those that agents need; an engine that cannot see to it is refused.
    Strict,
    /// Only those that agents need; the whole process of an engine that cannot see to it gets no
    /// others.
    StrictWherePossible,
}

/// The tools that exist.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolSet {
    /// All of the engine's own, the preset `claude_code`.
    All,
    /// None of the engine's own; MCP servers still bring theirs.
    None,
    /// Only these.
    Only(Vec<String>),
}

impl<S: Into<String>, const N: usize> From<[S; N]> for ToolSet {
    fn from(names: [S; N]) -> Self {
        Self::Only(names.into_iter().map(Into::into).collect())
    }
}

impl From<Vec<String>> for ToolSet {
    fn from(names: Vec<String>) -> Self {
        Self::Only(names)
    }
}

/// Permissions: what the agent may do. [`concepts::permissions`](crate::concepts::permissions) says
/// in which order these decide.
impl Options {
    /// Limits which tools exist (`tools`). Whether calls of them are asked about is another
    /// matter: see [`allow_tool`](Self::allow_tool).
    pub fn tools(mut self, tools: impl Into<ToolSet>) -> Self {
        self.permission.tools = Some(tools.into());
        self
    }

    /// Approves calls in advance, such as `Read` or `Bash(git status)` (`allowedTools`). It does
    /// not limit anything.
    pub fn allow_tool(mut self, rule: impl Into<String>) -> Self {
        self.permission.allowed.push(rule.into());
        self
    }

    /// Approves all of these in advance (`allowedTools`).
    pub fn allowed_tools<S: Into<String>>(mut self, rules: impl IntoIterator<Item = S>) -> Self {
        self.permission.allowed.extend(rules.into_iter().map(Into::into));
        self
    }

    /// Takes tools away, or refuses calls such as `Bash(rm *)` (`disallowedTools`).
    pub fn disallowed_tools<S: Into<String>>(mut self, rules: impl IntoIterator<Item = S>) -> Self {
        self.permission.disallowed.extend(rules.into_iter().map(Into::into));
        self
    }

    /// Sets how calls are judged that no rule decides (`permissionMode`).
    pub fn permission_mode(mut self, mode: PermissionMode) -> Self {
        self.permission.mode = Some(mode);
        self
    }

    /// Lets the session use the mode `bypassPermissions` at all
    /// (`allowDangerouslySkipPermissions`). Only for machines that you can afford to lose.
    pub fn allow_dangerously_skip_permissions(mut self) -> Self {
        self.permission.may_bypass = true;
        self
    }

    /// Has a tool of an MCP server answer permission questions, as in `mcp__server__tool`. Not
    /// together with [`can_use_tool`](Self::can_use_tool).
    pub fn permission_prompt_tool(mut self, tool: impl Into<String>) -> Self {
        self.permission.prompt_tool = Some(tool.into());
        self
    }

    /// Lets tools use another directory as well (`additionalDirectories`).
    pub fn additional_directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.permission.directories.push(directory.into());
        self
    }

    /// Confines commands (`sandbox`).
    pub fn sandbox(mut self, sandbox: SandboxSettings) -> Self {
        self.permission.sandbox = Some(sandbox);
        self
    }

    /// Guards a file, folder or name: nothing may write it, in any mode. Tillerman only; another
    /// program is refused.
    pub fn guard(mut self, path: impl Into<String>) -> Self {
        self.permission.protection.guarded.push(path.into());
        self
    }

    /// Shows tools only the variables that agents need, instead of all but the credentials.
    /// Tillerman only; another program is refused.
    pub fn strict_environment(mut self) -> Self {
        self.permission.protection.environment = ToolEnvironment::Strict;
        self
    }

    /// The same for runs, which other engines must be able to carry out too.
    pub(crate) fn strict_environment_where_possible(mut self) -> Self {
        let environment = &mut self.permission.protection.environment;
        if *environment == ToolEnvironment::Usual {
            *environment = ToolEnvironment::StrictWherePossible;
        }
        self
    }
}
