//! What a tool is and how its calls end.

use serde_json::Value;

use crate::content::Content;
use crate::permission::PermissionMode;

/// What the model is told about a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// The name the model uses.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// A JSON schema of its input; always an object.
    pub input_schema: Value,
    /// Whether it only looks.
    pub access: Access,
}

/// Whether a tool only looks or also changes things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Only looks; such calls run side by side.
    ReadOnly,
    /// Changes things; such calls run one after the other.
    Mutating,
}

/// How a call ended.
pub type ToolOutcome = Result<ToolOutput, ToolFailure>;

/// A call that succeeded.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolOutput {
    /// What the model sees.
    pub content: Content,
    /// What hosts see: the tool's structured outcome.
    pub structured: Option<Value>,
    /// The permission mode that holds from now on, for tools that are about the mode itself.
    pub switches_to: Option<PermissionMode>,
}

impl ToolOutput {
    /// An outcome that changes nothing about the session.
    #[must_use]
    pub const fn new(content: Content, structured: Option<Value>) -> Self {
        Self { content, structured, switches_to: None }
    }
}

/// A call that failed: data for the model, not an error of the program.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolFailure {
    /// What the model sees.
    pub message: String,
    /// What hosts see, when it is more than the message.
    pub structured: Option<Value>,
}

impl ToolFailure {
    /// A failure with nothing but a message.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), structured: None }
    }
}
