//! The rehearsal model itself: a pure function from a request to a response.

use futures_util::StreamExt as _;
use futures_util::stream;
use tillerman_ports::{BoxFuture, EventStream, Model};
use tillerman_protocol::model::{ModelEvent, ModelFailure, ModelRequest};

use super::answer::answer;
use super::conversation::Conversation;
use super::plan::{Next, next, plan};
use super::script::{Stamp, play_calls, play_text};
use super::understand::understand;
use crate::estimate;

/// Why a rehearsal answers instead of a language model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RehearsalNote {
    /// No credentials were found.
    NoKey,
    /// Somebody named the rehearsal model.
    ChosenByName,
}

impl RehearsalNote {
    /// How every note begins.
    pub(super) const OPENING: &'static str = "rehearsal model:";

    /// What every answer says about itself.
    #[must_use]
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::NoKey => {
                "rehearsal model: no API key found, so no language model was asked. \
                 Set ANTHROPIC_API_KEY and start again to use a real one."
            }
            Self::ChosenByName => {
                "rehearsal model: chosen by name, so no language model was asked. \
                 Set ANTHROPIC_API_KEY and name another model to use a real one."
            }
        }
    }
}

/// A stand-in for a language model that works offline and always answers the same.
#[derive(Clone, Copy, Debug)]
pub struct Rehearsal {
    note: RehearsalNote,
}

impl Rehearsal {
    /// A rehearsal that says why it answers.
    #[must_use]
    pub const fn new(note: RehearsalNote) -> Self {
        Self { note }
    }

    fn events(self, request: &ModelRequest) -> Vec<ModelEvent> {
        let stamp = Stamp {
            messages: request.messages.len(),
            digest: digest(request),
            input_tokens: estimate::request_tokens(request),
        };
        let conversation = Conversation::read(request);
        let tools: Vec<&str> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
        let wishes = understand(&conversation.prompt, &tools);
        let parts = plan(wishes, &request.tools, conversation.directory.as_deref());
        match next(&parts, &conversation.outcomes) {
            Next::Calls(calls) => play_calls(stamp, &calls),
            Next::Answer(outcomes) => {
                play_text(stamp, &answer(self.note, &conversation, &parts, &outcomes))
            }
        }
    }
}

impl Model for Rehearsal {
    fn respond(&self, request: ModelRequest) -> EventStream {
        stream::iter(self.events(&request)).boxed()
    }

    fn count_tokens(&self, request: ModelRequest) -> BoxFuture<Result<u64, ModelFailure>> {
        let tokens = estimate::request_tokens(&request);
        Box::pin(std::future::ready(Ok(tokens)))
    }
}

/// FNV-1a over the conversation: small, stable across releases of the compiler, and enough to
/// keep ids apart.
fn digest(request: &ModelRequest) -> u32 {
    let mut hash: u32 = 0x811c_9dc5;
    let mut feed = |bytes: &[u8]| {
        for byte in bytes {
            hash = (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
        }
    };
    feed(request.session.as_bytes());
    for message in &request.messages {
        feed(serde_json::to_string(message).unwrap_or_default().as_bytes());
    }
    hash
}
