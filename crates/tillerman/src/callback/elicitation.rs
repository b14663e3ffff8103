//! Questions of MCP servers to the person.

use serde_json::{Value, json};
use tillerman_protocol::control::PersonRequest;

/// A question of an MCP server.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Elicitation {
    /// The server.
    pub server: String,
    /// The question.
    pub message: String,
    /// The page to open, where the answer is given in a browser.
    pub url: Option<String>,
    /// What an answer must look like.
    pub schema: Option<Value>,
}

impl Elicitation {
    pub(crate) fn of(request: PersonRequest) -> Option<Self> {
        let PersonRequest::Elicitation { mcp_server_name, message, url, requested_schema, .. } =
            request
        else {
            return None;
        };
        Some(Self { server: mcp_server_name, message, url, schema: requested_schema })
    }
}

/// The person's answer.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub enum ElicitationAnswer {
    /// This is the answer.
    Accept(Value),
    /// The person does not want to answer.
    Decline,
    /// The person closed the question.
    Cancel,
}

impl ElicitationAnswer {
    pub(crate) fn into_wire(self) -> Value {
        match self {
            Self::Accept(content) => json!({"action": "accept", "content": content}),
            Self::Decline => json!({"action": "decline"}),
            Self::Cancel => json!({"action": "cancel"}),
        }
    }
}
