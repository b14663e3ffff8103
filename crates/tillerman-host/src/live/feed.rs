//! What clients of a conversation are sent, written once for all of them.

use axum::extract::ws::Utf8Bytes;
use serde::Serialize;
use serde_json::value::RawValue;
use tillerman_protocol::Moment;
use tokio::time::Instant;

use crate::store::NewEvent;
use crate::wire::{Approval, Conversation};

/// An event on its way to clients. Clones share the text.
#[derive(Clone, Debug)]
pub(crate) struct Envelope {
    /// Its number; what is shown live only has none.
    pub(crate) seq: Option<u64>,
    /// The whole message as JSON.
    pub(crate) text: Utf8Bytes,
    /// When it happened, for those who follow live.
    pub(crate) since: Option<Instant>,
}

#[derive(Serialize)]
struct Written<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    conversation_id: &'a str,
    seq: Option<u64>,
    at: Moment,
    event: &'a RawValue,
}

impl Envelope {
    /// An event that is stored.
    pub(crate) fn stored(conversation: &str, event: &NewEvent) -> Self {
        Self::write(conversation, Some(event.seq), event.at, &event.raw())
    }

    /// An event that is not.
    pub(crate) fn live(conversation: &str, at: Moment, event: String) -> Self {
        let event = RawValue::from_string(event).unwrap_or_default();
        Self::write(conversation, None, at, &event)
    }

    fn write(conversation_id: &str, seq: Option<u64>, at: Moment, event: &RawValue) -> Self {
        let written = Written { kind: "event", conversation_id, seq, at, event };
        let text = serde_json::to_string(&written).unwrap_or_default();
        Self { seq, text: text.into(), since: None }
    }
}

/// News for everybody who watches the host. Clones share the text.
#[derive(Clone, Debug)]
pub(crate) struct News {
    /// The whole message as JSON.
    pub(crate) text: Utf8Bytes,
}

impl News {
    pub(crate) fn conversation(conversation: &Conversation) -> Self {
        Self::write(&serde_json::json!({"type": "conversation", "conversation": conversation}))
    }

    pub(crate) fn deleted(id: &str) -> Self {
        Self::write(&serde_json::json!({"type": "conversation_deleted", "id": id}))
    }

    pub(crate) fn approval(approval: &Approval) -> Self {
        Self::write(&serde_json::json!({"type": "approval", "approval": approval}))
    }

    /// Projects, personas, skills or agents are not as they were.
    pub(crate) fn documents() -> Self {
        Self::write(&serde_json::json!({"type": "documents"}))
    }

    fn write(value: &serde_json::Value) -> Self {
        Self { text: value.to_string().into() }
    }
}
