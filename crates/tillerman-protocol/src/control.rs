//! Control requests and responses, in both directions.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::hook::{HookInput, HookRegistration};
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
        tool_use_id: Option<String>,
    },
    /// Engine → host: a JSON-RPC message for an in-process MCP server.
    McpMessage {
        /// The server.
        server_name: String,
        /// The message.
        message: Value,
    },
    /// Any other request, as it came.
    #[serde(untagged)]
    Other(Map<String, Value>),
}

/// The handshake. Every field is optional.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InitializeRequest {
    /// Hook callbacks by event name.
    #[serde(default)]
    pub hooks: Option<BTreeMap<String, Vec<HookRegistration>>>,
    /// Subagents by name.
    #[serde(default)]
    pub agents: Option<BTreeMap<String, Value>>,
    /// In-process MCP servers by name.
    #[serde(default)]
    pub sdk_mcp_servers: Option<Vec<String>>,
    /// The schema the answer must match.
    #[serde(default)]
    pub json_schema: Option<Value>,
    /// The system prompt.
    #[serde(default)]
    pub system_prompt: Option<Value>,
    /// Text added to the system prompt.
    #[serde(default)]
    pub append_system_prompt: Option<String>,
    /// Everything else, as it came.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// May this tool run?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CanUseTool {
    /// The tool. Required by official clients.
    pub tool_name: String,
    /// Its name for people.
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
    /// The subagent that wants to run it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ControlResponse {
    /// The answer itself.
    pub response: ControlAnswer,
}

/// The answer itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "subtype", rename_all = "snake_case")]
pub enum ControlAnswer {
    /// It worked.
    Success {
        /// The request.
        request_id: RequestId,
        /// What was asked for; absent means `{}`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        response: Option<Value>,
        /// Permission questions that are still open (answers to `initialize`).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pending_permission_requests: Option<Vec<Value>>,
    },
    /// It did not.
    Error {
        /// The request.
        request_id: RequestId,
        /// Why, for people.
        error: String,
        /// Why, for programs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error_code: Option<String>,
    },
}

/// The answer to a request is no longer wanted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ControlCancel {
    /// The request.
    pub request_id: RequestId,
}

impl ControlResponse {
    /// A plain success.
    #[must_use]
    pub const fn success(request_id: RequestId, response: Option<Value>) -> Self {
        let pending_permission_requests = None;
        Self {
            response: ControlAnswer::Success { request_id, response, pending_permission_requests },
        }
    }

    /// A failure with a text for people and, where there is one, a code for programs.
    #[must_use]
    pub fn error(request_id: RequestId, error: impl Into<String>, code: Option<&str>) -> Self {
        let error_code = code.map(str::to_owned);
        Self { response: ControlAnswer::Error { request_id, error: error.into(), error_code } }
    }

    /// The request this answers.
    #[must_use]
    pub const fn request_id(&self) -> &RequestId {
        match &self.response {
            ControlAnswer::Success { request_id, .. } | ControlAnswer::Error { request_id, .. } => {
                request_id
            }
        }
    }
}
