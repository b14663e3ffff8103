//! What a desktop shell and `tillerman ipc` say to each other, one JSON object a line.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The version of this protocol, as `ready` states it.
pub const IPC_VERSION: u32 = 1;

/// What a shell asks for. Fields that a kind does not use are passed over.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct IpcRequest {
    /// Names the request; every response to it carries this id.
    pub id: String,
    /// What is wanted: one of [`IpcKind`]'s names.
    pub kind: String,
    /// `user_message`: what the agent is to do. `permission_response`: what the model is told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The conversation it is about; nothing means the current one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation_id: Option<String>,
    /// `user_message`: pictures, as a list or as the text of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub images: Option<IpcImages>,
    /// `permission_response`: the question that is answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_id: Option<String>,
    /// `permission_response`: `allow` or `deny`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<IpcDecision>,
    /// `permission_response`: what the tool is called with instead; absent leaves it as it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_input: Option<Map<String, Value>>,
    /// `permission_response`: suggestions to take, by their place in the question.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub always: Vec<usize>,
    /// `permission_response`: answers by question, where the agent asked some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answers: Option<Map<String, Value>>,
}

/// The kinds of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IpcKind {
    /// A message for the agent.
    UserMessage,
    /// Forget what was said: the next message begins a conversation.
    ClearHistory,
    /// Go on with a conversation, and show what was said in it.
    LoadConversation,
    /// Begin a conversation.
    NewConversation,
    /// Show all conversations, newest first.
    ListConversations,
    /// Remove a conversation.
    DeleteConversation,
    /// Stop what the agent is doing.
    Interrupt,
    /// Answer a `permission_request`.
    PermissionResponse,
}

impl IpcKind {
    /// Every kind with its name.
    pub const ALL: [(&str, Self); 8] = [
        ("user_message", Self::UserMessage),
        ("clear_history", Self::ClearHistory),
        ("load_conversation", Self::LoadConversation),
        ("new_conversation", Self::NewConversation),
        ("list_conversations", Self::ListConversations),
        ("delete_conversation", Self::DeleteConversation),
        ("interrupt", Self::Interrupt),
        ("permission_response", Self::PermissionResponse),
    ];

    /// The kind of this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
    }
}

/// Pictures of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum IpcImages {
    /// A list.
    List(Vec<IpcImage>),
    /// The same as JSON in a text, which older shells send.
    Text(String),
}

/// A picture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IpcImage {
    /// Its bytes in base64, without a `data:` prefix.
    pub data: String,
    /// `image/png`, `image/jpeg`, `image/gif` or `image/webp`.
    pub mime_type: String,
    /// Its file name.
    #[serde(default)]
    pub name: String,
}

/// Whether a call may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IpcDecision {
    /// It may.
    Allow,
    /// It may not.
    Deny,
}

/// A line for the shell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IpcResponse {
    /// What it is.
    #[serde(flatten)]
    pub body: IpcBody,
    /// The request it belongs to; empty where there is none that could be read.
    pub id: String,
    /// When it was said, in milliseconds since 1970.
    pub timestamp: i64,
}

/// What a line says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum IpcBody {
    /// Requests are taken from now on. It comes once, first, and belongs to no request.
    Ready {
        /// The version of the protocol.
        protocol: u32,
        /// The version of the program.
        version: String,
    },
    /// A piece of what the agent says.
    Token {
        /// The piece; put together they are the whole text.
        token: String,
        /// The conversation.
        conversation_id: Option<String>,
    },
    /// The agent calls a tool.
    ToolUse {
        /// Names the call.
        tool_use_id: String,
        /// The tool.
        tool_name: String,
        /// What it is called with.
        tool_input: Value,
    },
    /// A call has ended.
    ToolResult {
        /// The call.
        tool_use_id: String,
        /// The tool.
        tool_name: String,
        /// What the tool said, as text.
        content: String,
        /// Whether it failed.
        is_error: bool,
    },
    /// A call takes its time.
    ToolProgress {
        /// The call.
        tool_use_id: String,
        /// The tool.
        tool_name: String,
        /// Seconds since it began.
        elapsed_time_seconds: f64,
    },
    /// A call waits for the user's word; it is answered with a `permission_response`.
    PermissionRequest {
        /// Names the question; it is answered once.
        permission_id: String,
        /// The call.
        tool_use_id: String,
        /// The tool.
        tool_name: String,
        /// What it is to be called with.
        tool_input: Value,
        /// One line about it.
        title: String,
        /// All that will run, with whatever nobody would see made visible.
        lines: Vec<String>,
        /// Why it is a question.
        reason: Option<String>,
        /// What can be allowed for good, one label each.
        suggestions: Vec<String>,
    },
    /// Something about the run that the user should know; the request goes on.
    Notice {
        /// What happened and what is done about it, for people.
        notice: String,
        /// The conversation.
        conversation_id: Option<String>,
    },
    /// The request is done. Each request ends with this or an error, once.
    Done {
        /// What was asked for.
        #[serde(skip_serializing_if = "Option::is_none")]
        data: Option<Value>,
    },
    /// The request failed.
    Error {
        /// What happened and what to do, for people.
        error: String,
    },
}
