//! Failures before a session runs: a text for people and, for hosts, a result frame.

use std::collections::BTreeMap;

use tillerman_protocol::frame::{Frame, ResultFrame, ResultSubtype};
use tillerman_protocol::stream::Usage;
use tillerman_protocol::{EntryId, SessionId};

/// Why a session could not be started.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct StartFailure {
    /// What happened and what to do, for people.
    pub message: String,
    /// Whether a host that reads frames should get a result frame too.
    pub as_frame: bool,
}

impl StartFailure {
    /// A wrong order or command line; nothing was started.
    #[must_use]
    pub fn usage(message: impl Into<String>) -> Self {
        Self { message: message.into(), as_frame: false }
    }

    /// A session that could not be opened.
    #[must_use]
    pub fn session(message: impl Into<String>) -> Self {
        Self { message: message.into(), as_frame: true }
    }

    /// The failure as the result of a round that never began.
    #[must_use]
    pub fn to_frame(&self) -> Frame {
        let id = || uuid::Uuid::from_bytes(crate::seed::bytes()).to_string();
        Frame::Result(Box::new(ResultFrame {
            subtype: ResultSubtype::ErrorDuringExecution,
            is_error: true,
            duration_ms: 0,
            duration_api_ms: 0,
            num_turns: 0,
            result: None,
            errors: Some(vec![self.message.clone()]),
            stop_reason: None,
            total_cost_usd: 0.0,
            usage: Usage::default(),
            model_usage: BTreeMap::new(),
            permission_denials: Vec::new(),
            terminal_reason: "start_failed".to_owned(),
            api_error_status: None,
            deferred_tool_use: None,
            structured_output: None,
            user_message_uuids: Vec::new(),
            session_id: SessionId::new(id()),
            uuid: EntryId::new(id()),
            extra: serde_json::Map::new(),
        }))
    }
}
