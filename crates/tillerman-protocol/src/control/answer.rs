//! Answers to control requests.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::RequestId;

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
        /// Dialogs that are still open (answers to `initialize`).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pending_user_dialog_requests: Option<Vec<Value>>,
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

impl ControlResponse {
    /// A plain success.
    #[must_use]
    pub const fn success(request_id: RequestId, response: Option<Value>) -> Self {
        Self {
            response: ControlAnswer::Success {
                request_id,
                response,
                pending_permission_requests: None,
                pending_user_dialog_requests: None,
            },
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
