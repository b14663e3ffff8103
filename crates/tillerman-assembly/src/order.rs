//! What a caller says about a session before there is one.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tillerman_config::Source;
use tillerman_models::connections::Connections;
use tillerman_ports::{Model, Tool};
use tillerman_protocol::agent::AgentDefinition;
use tillerman_protocol::permission::PermissionMode;
use tillerman_protocol::{EntryId, SessionId};

use crate::environment::Environment;
use crate::opening::SessionOpener;
use crate::provider::WithoutCredentials;

/// Everything a caller says about a session. Only [`SessionOrder::cwd`] must be given.
#[derive(Clone, Debug, Default)]
pub struct SessionOrder {
    /// The directory the session works in, as an absolute path. Other paths of the order may be
    /// relative to it.
    pub cwd: PathBuf,
    /// The environment variables the session goes by; nothing else of the process's is looked at.
    pub environment: Environment,
    /// Whose session it is, on a host that several people use: what agents of another owner
    /// remember is not theirs. Nothing means the first owner, or the only one.
    pub owner: Option<String>,
    /// Which conversation it is.
    pub session: ConversationOrder,
    /// Which model answers and how.
    pub model: ModelOrder,
    /// When the session ends at the latest.
    pub limits: LimitOrder,
    /// What the agent may do.
    pub permission: PermissionOrder,
    /// What is plugged in by name or by file.
    pub extension: ExtensionOrder,
    /// Which frames go out beside the usual ones.
    pub frames: FrameOrder,
    /// What is plugged in as an object of this process.
    pub parts: Parts,
}

/// Which conversation it is.
#[derive(Clone, Debug, Default)]
pub struct ConversationOrder {
    /// The session to go on with; nothing means a new one.
    pub resume: Option<Resume>,
    /// The id of a new session, which must be a UUID; nothing has one chosen.
    pub id: Option<SessionId>,
    /// Whether the resumed session stays as it is and the conversation goes on in a copy.
    pub fork: bool,
    /// The message after which a resumed conversation goes on; what came later is forgotten.
    pub resume_at: Option<EntryId>,
    /// The prompt that is forgotten, with everything after it, when a conversation is resumed.
    pub resume_drops: Option<EntryId>,
    /// Whether nothing is kept on disk.
    pub no_persistence: bool,
    /// Whether the caller wants a copy of every transcript entry among the frames.
    pub mirror: bool,
    /// Further working directories.
    pub directories: Vec<PathBuf>,
}

/// Which session is resumed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resume {
    /// The one with this id.
    Session(SessionId),
    /// The newest one of the working directory.
    Newest,
}

/// Which model answers and how.
#[derive(Clone, Debug, Default)]
pub struct ModelOrder {
    /// The model's id, alias or provider and name; nothing leaves it to environment and settings.
    pub model: Option<String>,
    /// Models to try when that one fails; three at most.
    pub fallback: Vec<String>,
    /// What stands in place of Tillerman's own system prompt.
    pub system_prompt: Option<TextSource>,
    /// What is added to the system prompt.
    pub append_system_prompt: Option<TextSource>,
    /// How hard the model tries: `low`, `medium`, `high`, `xhigh` or `max`.
    pub effort: Option<String>,
    /// How the model thinks before it answers.
    pub thinking: Option<ThinkingMode>,
    /// Tokens the model may think.
    pub max_thinking_tokens: Option<u32>,
    /// How thoughts come back from the provider: `summarized` or `omitted`.
    pub thinking_display: Option<String>,
    /// Beta features of the provider.
    pub betas: Vec<String>,
    /// The JSON schema that answers must match.
    pub json_schema: Option<Value>,
    /// What happens when there are no credentials.
    pub without_credentials: WithoutCredentials,
}

/// How a model thinks before it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThinkingMode {
    /// As much as the model finds right.
    Adaptive,
    /// Within the tokens that are given, or as much as it finds right where none are.
    Enabled,
    /// Not at all.
    Disabled,
}

/// When a session ends at the latest, and when its conversation is compacted.
#[derive(Clone, Debug, Default)]
pub struct LimitOrder {
    /// Requests to the model; zero means no limit.
    pub max_turns: Option<u32>,
    /// Dollars spent.
    pub max_budget_usd: Option<f64>,
    /// Tokens used, by the session and its agents together.
    pub max_total_tokens: Option<u64>,
    /// Turns, of the session and its agents together.
    pub max_total_turns: Option<u64>,
    /// Time since the assembly, whatever is under way.
    pub max_duration: Option<Duration>,
    /// Tokens the model is told to manage with; nothing is refused beyond them.
    pub task_budget: Option<u64>,
    /// Tokens that count as the whole context window when a conversation is compacted.
    pub autocompact: Option<u64>,
}

/// What the agent may do.
#[derive(Clone, Debug, Default)]
pub struct PermissionOrder {
    /// The built-in tools that exist; nothing means all of them, an empty list none.
    pub tools: Option<Vec<String>>,
    /// Rules for calls that need no question.
    pub allow: Vec<String>,
    /// Rules for calls that are refused, and names of tools that do not exist.
    pub deny: Vec<String>,
    /// The permission mode; nothing leaves it to the settings.
    pub mode: Option<PermissionMode>,
    /// Whether the caller may switch to `bypassPermissions` while the session runs.
    pub may_bypass: bool,
    /// Who answers questions about permission.
    pub approver: Approver,
    /// Files, folders and names that nothing may write, in any mode.
    pub guard: Vec<String>,
    /// Whether tools see only the variables that agents need, instead of all but the credentials.
    pub strict_environment: bool,
}

/// Who answers questions about permission.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Approver {
    /// Nobody, so that whatever would be asked about is denied.
    #[default]
    Nobody,
    /// Whoever reads the frames, with answers to `can_use_tool` requests.
    Host,
    /// A tool of an MCP server, by its whole name (`mcp__server__tool`).
    Tool(String),
}

/// What is plugged in by name or by file.
#[derive(Clone, Debug, Default)]
pub struct ExtensionOrder {
    /// Settings over those of files.
    pub settings: Option<JsonSource>,
    /// Which settings files are read; nothing means all. Sources that are named may run things.
    pub setting_sources: Option<Vec<Source>>,
    /// A further directory of managed settings.
    pub managed_settings: Option<PathBuf>,
    /// Managed settings of the host itself; only what restricts holds.
    pub host_policy: Option<serde_json::Map<String, serde_json::Value>>,
    /// MCP servers, each an object with `mcpServers`.
    pub mcp_config: Vec<JsonSource>,
    /// Whether those are the only ones.
    pub strict_mcp_config: bool,
    /// Folders of plugins.
    pub plugins: Vec<PathBuf>,
    /// Folders of plugins whose MCP servers are left out.
    pub plugins_without_servers: Vec<PathBuf>,
    /// Whether commands and skills of files are left out.
    pub disable_slash_commands: bool,
    /// Agents beside those of files, each with its name.
    pub agents: Vec<AgentDefinition>,
    /// The agent that the session itself works as.
    pub agent: Option<String>,
    /// Which Setup hooks run before the session starts.
    pub preparation: Option<Preparation>,
}

/// Which Setup hooks run before a session starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preparation {
    /// Those that make a working copy ready.
    Init,
    /// Those for maintenance.
    Maintenance,
}

/// Which frames go out beside the usual ones.
#[derive(Clone, Copy, Debug, Default)]
pub struct FrameOrder {
    /// The raw events of responses.
    pub partial_messages: bool,
    /// Prompts as they are taken up.
    pub prompts: bool,
    /// What hooks do.
    pub hook_events: bool,
}

/// What is plugged in as an object of this process.
#[derive(Clone, Debug, Default)]
pub struct Parts {
    /// Tools beside the built-in ones, which exist whatever [`PermissionOrder::tools`] lists. One
    /// with the name of a built-in tool stands in its place, for agents as well.
    pub tools: Vec<Arc<dyn Tool>>,
    /// What answers in place of the providers.
    pub model: Option<Arc<dyn Model>>,
    /// Connections to providers; sessions of one runtime that have the same share them.
    pub connections: Connections,
    /// What opens and keeps the conversation in place of transcript files.
    pub opener: Option<Arc<dyn SessionOpener>>,
    /// The program that carries out the stages of confined commands: a `tillerman` binary, or any
    /// that hands them to `tillerman_sandbox::run_stage`. Without one no sandbox can be had.
    pub stage_program: Option<PathBuf>,
}

/// A text, or the file that holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextSource {
    /// The text itself.
    Text(String),
    /// A file.
    File(PathBuf),
}

/// A JSON object as text, or the file that holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JsonSource {
    /// The text of an object.
    Text(String),
    /// A file.
    File(PathBuf),
}

impl JsonSource {
    /// What people write: an object, or else the name of a file.
    #[must_use]
    pub fn read(text: &str) -> Self {
        if text.trim_start().starts_with('{') {
            Self::Text(text.to_owned())
        } else {
            Self::File(PathBuf::from(text))
        }
    }

    /// The same with the file's path made absolute.
    #[must_use]
    pub(crate) fn below(&self, cwd: &Path) -> Self {
        match self {
            Self::Text(text) => Self::Text(text.clone()),
            Self::File(path) => Self::File(cwd.join(path)),
        }
    }
}

impl From<Value> for JsonSource {
    fn from(value: Value) -> Self {
        Self::Text(value.to_string())
    }
}

impl std::fmt::Display for JsonSource {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text(text) => formatter.write_str(text),
            Self::File(path) => path.display().fmt(formatter),
        }
    }
}
