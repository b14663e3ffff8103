//! Requests that want an answer, in both directions.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::control::further::{McpRequest, PersonRequest, SessionRequest, SettingsRequest};
use crate::control::initialize::InitializeRequest;
use crate::hook::HookInput;
use crate::permission::PermissionUpdate;
use crate::{RequestId, TaskId, ToolUseId};

/// A request that wants an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ControlRequest {
    /// Chosen by the sender, repeated in the answer.
    pub request_id: RequestId,
    /// What is wanted.
    pub request: ControlBody,
}

/// What is wanted, by `subtype`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "subtype", rename_all = "snake_case")]
pub enum ControlBody {
    /// Host → engine: the handshake.
    Initialize(Box<InitializeRequest>),
    /// Host → engine: end the round that is under way.
    Interrupt,
    /// Host → engine: change the permission mode.
    SetPermissionMode {
        /// The mode's name.
        mode: String,
    },
    /// Host → engine: change the model; nothing means the default.
    SetModel {
        /// The model or an alias.
        #[serde(default)]
        model: Option<String>,
    },
    /// Host → engine: change the thinking budget; nothing means the default.
    SetMaxThinkingTokens {
        /// The budget.
        #[serde(default)]
        max_thinking_tokens: Option<u32>,
    },
    /// Host → engine: the state of all MCP servers.
    McpStatus,
    /// Host → engine: how full the context window is.
    GetContextUsage,
    /// Host → engine: stop a background task.
    StopTask {
        /// The task.
        task_id: TaskId,
    },
    /// Host → engine: restore files as they were before a user message.
    RewindFiles {
        /// The message.
        user_message_id: String,
        /// Only say what would happen.
        #[serde(default)]
        dry_run: bool,
    },
    /// Host → engine: the settings in force.
    GetSettings,
    /// Host → engine: take a queued prompt back.
    CancelAsyncMessage {
        /// The prompt's id.
        message_uuid: String,
    },
    /// Host → engine: finish and exit.
    EndSession,
    /// Engine → host: may this tool run?
    CanUseTool(Box<CanUseTool>),
    /// Engine → host: run a hook callback.
    HookCallback {
        /// The callback.
        callback_id: String,
        /// What it is told.
        input: Box<HookInput>,
        /// The call, or another id of the event.
        #[serde(default)]
        tool_use_id: Option<String>,
    },
    /// Engine → host: a JSON-RPC message for an in-process MCP server.
    McpMessage {
        /// The server.
        server_name: String,
        /// The message.
        message: Value,
    },
    /// Requests about MCP servers.
    #[serde(untagged)]
    Mcp(McpRequest),
    /// Requests about settings and what they bring in.
    #[serde(untagged)]
    Settings(SettingsRequest),
    /// Requests about the session and the files it works on.
    #[serde(untagged)]
    Session(SessionRequest),
    /// Questions for the person.
    #[serde(untagged)]
    Person(PersonRequest),
    /// Any other request, as it came.
    #[serde(untagged)]
    Other(Map<String, Value>),
}

/// May this tool run?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CanUseTool {
    /// The tool. Required by official clients.
    pub tool_name: String,
    /// Its name for people.
    #[serde(default)]
    pub display_name: String,
    /// Its input. Required by official clients.
    pub input: Value,
    /// The call.
    pub tool_use_id: ToolUseId,
    /// What the model says it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Updates that would make the question unnecessary.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub permission_suggestions: Vec<PermissionUpdate>,
    /// The path that made it a question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked_path: Option<String>,
    /// Why it is a question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision_reason: Option<String>,
    /// The question in one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The subagent that wants to run it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// Everything else, as it came.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The answer to a request is no longer wanted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ControlCancel {
    /// The request.
    pub request_id: RequestId,
}

impl ControlBody {
    /// The name on the wire; empty for a request that has none.
    #[must_use]
    pub fn subtype(&self) -> String {
        let written = serde_json::to_value(self).unwrap_or_default();
        written.get("subtype").and_then(Value::as_str).unwrap_or_default().to_owned()
    }

    /// Whether requests of this name are known, so that one which arrived as [`Self::Other`] must
    /// have had other fields than it should.
    #[must_use]
    pub fn knows(subtype: &str) -> bool {
        SUBTYPES.contains(&subtype)
    }
}

/// Every name that has a type here.
const SUBTYPES: [&str; 43] = [
    "initialize",
    "interrupt",
    "set_permission_mode",
    "set_model",
    "set_max_thinking_tokens",
    "mcp_status",
    "get_context_usage",
    "stop_task",
    "rewind_files",
    "get_settings",
    "cancel_async_message",
    "end_session",
    "can_use_tool",
    "hook_callback",
    "mcp_message",
    "mcp_reconnect",
    "mcp_toggle",
    "mcp_set_servers",
    "mcp_call",
    "mcp_read_resource",
    "apply_flag_settings",
    "update_settings",
    "reload_plugins",
    "reload_skills",
    "reload_output_styles",
    "register_repo_root",
    "list_permission_rules",
    "list_models",
    "get_hooks_listing",
    "seed_read_state",
    "generate_session_title",
    "rename_session",
    "set_color",
    "get_usage",
    "get_session_cost",
    "get_binary_version",
    "get_task_output",
    "background_tasks",
    "reopen_calls",
    "read_file",
    "file_suggestions",
    "elicitation",
    "request_user_dialog",
];
