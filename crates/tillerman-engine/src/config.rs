//! What a session is started with.

use std::sync::Arc;

use serde_json::{Map, Value};
use tillerman_protocol::SessionId;
use tillerman_protocol::catalog::Catalog;
use tillerman_protocol::frame::{Init, McpServerState};
use tillerman_protocol::hook::HookEvent;
use tillerman_protocol::model::{SystemBlock, Thinking};
use tillerman_protocol::permission::PermissionMode;
use tillerman_protocol::tool::ToolSpec;

use crate::allowance::Deadline;
use crate::pool::Budget;
use crate::structured::StructuredOutputConfig;
use crate::window::CompactionConfig;

/// Everything a session is started with.
#[derive(Clone, Debug)]
pub struct SessionConfig {
    /// The session.
    pub session_id: SessionId,
    /// Determines every identifier the session makes.
    pub seed: [u64; 2],
    /// The model that answers unless another is chosen.
    pub model: String,
    /// Models to try, in order, when that one fails.
    pub fallback_models: Vec<String>,
    /// What is known about models.
    pub catalog: Arc<Catalog>,
    /// The system prompt, most stable part first.
    pub system: Vec<SystemBlock>,
    /// The tools the model is offered.
    pub tools: Arc<[ToolSpec]>,
    /// The permission mode to start in.
    pub mode: PermissionMode,
    /// Whether there is somebody to ask for permission.
    pub has_approver: bool,
    /// How much the model may think.
    pub thinking: Thinking,
    /// How hard the model should try.
    pub effort: Option<String>,
    /// Beta features to ask for.
    pub betas: Vec<String>,
    /// Fields to add to every request as they are.
    pub extra_body: Map<String, Value>,
    /// What must not be exceeded.
    pub limits: Limits,
    /// Which optional frames the host wants.
    pub echo: Echo,
    /// Where the session runs, for transcript entries.
    pub origin: Origin,
    /// What `init` frames say beside model and mode.
    pub init: Init,
    /// The events that hooks listen to.
    pub hooked: Vec<HookEvent>,
    /// Whether the files are checkpointed before each prompt is worked on.
    pub checkpoints: bool,
    /// Which agent this is; nothing for the session that a person talks to.
    pub agent: Option<AgentIdentity>,
    /// Whose books responses are entered in.
    pub books: Books,
    /// When the conversation is compacted.
    pub compaction: CompactionConfig,
    /// The form in which rounds end; its tool is offered beside the others.
    pub structured_output: Option<StructuredOutputConfig>,
}

/// Which agent of a session this is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentIdentity {
    /// Names the agent.
    pub id: String,
    /// What kind of agent it is.
    pub kind: String,
    /// Where its own transcript lies.
    pub transcript_path: String,
    /// Its place in a team, if it has one.
    pub seat: Option<Seat>,
}

/// An agent's place in a team.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seat {
    /// What the others call it.
    pub name: String,
    /// The team.
    pub team: String,
}

/// Whose books responses are entered in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Books {
    /// The session's own.
    #[default]
    Own,
    /// Also those of all agents together: each request is reserved there before it is made.
    Shared,
}

/// Commands of MCP servers are told from others by how their names begin.
const SERVER_COMMAND: &str = "mcp__";

impl SessionConfig {
    /// Offers other tools from the next request on.
    pub fn offer(&mut self, tools: &[ToolSpec]) {
        let shown = |spec: &ToolSpec| match spec.name.as_str() {
            // Hosts know the tool that starts agents under its former name.
            "Agent" => "Task".to_owned(),
            name => name.to_owned(),
        };
        // The tool in which rounds end is always there.
        let delivery = self.structured_output.as_ref().map(|output| &output.tool);
        let delivery = delivery.filter(|tool| tools.iter().all(|other| other.name != tool.name));
        let tools: Vec<ToolSpec> = tools.iter().chain(delivery).cloned().collect();
        let deferred = self.init.deferred.iter().cloned();
        self.init.tools = tools.iter().map(shown).chain(deferred).collect();
        self.tools = tools.into();
    }

    /// Offers other tools, and keeps these for whoever looks them up.
    pub(crate) fn defer(&mut self, tools: &[ToolSpec], deferred: Vec<String>) {
        self.init.deferred = deferred;
        self.offer(tools);
    }

    /// Shows other MCP servers, and their commands in place of those they had.
    pub(crate) fn show_servers(&mut self, servers: Vec<McpServerState>, commands: Vec<String>) {
        self.init.mcp_servers = servers;
        self.init.slash_commands.retain(|name| !name.starts_with(SERVER_COMMAND));
        self.init.slash_commands.extend(commands);
    }
}

/// What a session must not exceed.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// Requests a round may make; `None` means no limit.
    pub max_turns: Option<u32>,
    /// Dollars the session may spend; `None` means no limit.
    pub max_budget_usd: Option<f64>,
    /// Tokens that the session and its agents may use together; `None` means no limit.
    pub max_total_tokens: Option<u64>,
    /// Turns that the session and its agents may make together; `None` means no limit.
    pub max_total_turns: Option<u64>,
    /// When all work ends; `None` means never.
    pub deadline: Option<Deadline>,
    /// Tokens that the model is told to manage with; nothing is refused beyond them.
    pub task_budget: Option<u64>,
    /// Tokens a response may generate; `None` means what the model allows.
    pub max_output_tokens: Option<u64>,
    /// How often a failed request is repeated.
    pub max_retries: u32,
    /// How many read-only calls run side by side.
    pub parallel_calls: usize,
    /// How often in a round Stop hooks may make the agent go on.
    pub stop_hook_blocks: u32,
}

impl Limits {
    /// Limits as an unconfigured session has them.
    #[must_use]
    pub const fn unlimited() -> Self {
        Self {
            max_turns: None,
            max_budget_usd: None,
            max_total_tokens: None,
            max_total_turns: None,
            deadline: None,
            task_budget: None,
            max_output_tokens: None,
            max_retries: 10,
            parallel_calls: 10,
            stop_hook_blocks: 8,
        }
    }

    /// What a session and its agents have together.
    #[must_use]
    pub const fn pooled(&self) -> Budget {
        Budget {
            usd: self.max_budget_usd,
            tokens: self.max_total_tokens,
            turns: self.max_total_turns,
        }
    }
}

/// Which optional frames the host wants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Echo {
    /// Raw events of responses.
    pub partial_messages: bool,
    /// Prompts as they are taken up.
    pub prompts: bool,
    /// Whether the session works, waits or rests.
    pub session_state: bool,
}

/// Where a session runs, as transcript entries tell it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Origin {
    /// The working directory.
    pub cwd: String,
    /// The protocol level.
    pub version: String,
    /// The git branch, if there is one.
    pub git_branch: String,
    /// Which program started the session.
    pub entrypoint: String,
    /// Where the transcript lies.
    pub transcript_path: String,
}
