//! What a conversation can be told to do.

use serde_json::Value;
use tokio::sync::{broadcast, oneshot};

use crate::forms::FieldErrors;
use crate::live::feed::Envelope;
use crate::store::{AnswerOutcome, StoreError};
use crate::wire::{
    Accepted, AnswerRequest, Conversation, ConversationPatch, NewMessage, RewindRequest,
};

/// Where an answer goes.
pub(crate) type Reply<T> = oneshot::Sender<Result<T, Refusal>>;

/// What a conversation can be told to do.
#[derive(Debug)]
pub(crate) enum Order {
    Say {
        message: NewMessage,
        by: String,
        reply: Reply<Accepted>,
    },
    TakeBack {
        message_id: String,
        reply: Reply<()>,
    },
    Interrupt {
        by: String,
        reply: Reply<()>,
    },
    Answer {
        id: String,
        request: Box<AnswerRequest>,
        by: String,
        reply: Reply<AnswerOutcome>,
    },
    Expire {
        id: String,
    },
    Change {
        patch: ConversationPatch,
        reply: Reply<Conversation>,
    },
    Ask {
        body: Value,
        reply: Reply<Value>,
    },
    Greet {
        reply: Reply<Value>,
    },
    Rewind {
        request: RewindRequest,
        by: String,
        reply: Reply<Value>,
    },
    Attach {
        reply: Reply<Attached>,
    },
    /// The host has started and this conversation was not done.
    WakeUp,
    Delete {
        reply: Reply<()>,
    },
    Drain {
        reply: Reply<()>,
    },
}

/// A subscription: everything after `last_seq` comes through the receiver.
#[derive(Debug)]
pub(crate) struct Attached {
    pub(crate) last_seq: u64,
    pub(crate) events: broadcast::Receiver<Envelope>,
}

/// Why something was not done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Refusal {
    pub(crate) kind: RefusalKind,
    pub(crate) message: String,
    /// What is wrong with single fields of what was sent.
    pub(crate) fields: FieldErrors,
}

/// What kind of refusal it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RefusalKind {
    /// There is no such thing.
    Unknown,
    /// The request makes no sense.
    Bad,
    /// It is not allowed.
    Forbidden,
    /// It does not fit what is going on.
    Conflict,
    /// A limit on spending is reached.
    Spent,
    /// The host is leaving or busy.
    Unavailable,
    /// There is no room on the disk.
    Full,
    /// The session refused or failed.
    Failed,
    /// The database refused.
    Broken,
}

impl Refusal {
    pub(crate) fn new(kind: RefusalKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), fields: FieldErrors::new() }
    }

    pub(crate) fn unknown(what: &str) -> Self {
        Self::new(RefusalKind::Unknown, format!("There is no such {what}."))
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Full => Self::new(
                RefusalKind::Full,
                "The disk is full, so nothing was changed. Make room and try again.",
            ),
            StoreError::Silent => Self::new(
                RefusalKind::Unavailable,
                "The database does not answer. Try again in a moment.",
            ),
            StoreError::Refused(reason) => {
                tracing::error!(reason, "the database refused a change");
                let text = "The database refused, so nothing was changed. The log of the host says \
                            why. If the database is damaged, stop the host, move host.db away and \
                            run tillerman reindex.";
                Self::new(RefusalKind::Broken, text)
            }
        }
    }
}
