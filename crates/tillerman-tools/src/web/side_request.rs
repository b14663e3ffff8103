//! Asking a model something that is no part of the conversation.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use serde_json::{Map, Value};
use tillerman_protocol::content::{Content, Message, Role};
use tillerman_protocol::model::{
    FailureKind, ModelEvent, ModelFailure, ModelRequest, SystemBlock, Thinking,
};
use tillerman_protocol::stream::{Delta, StreamEvent};
use tokio_util::sync::CancellationToken;

use crate::config::SideModel;

const LONGEST: Duration = Duration::from_secs(120);
const MOST_TOKENS: u64 = 4_096;
/// Answers are cut here; models that keep to their limit never get this far.
const MOST_BYTES: usize = 1 << 20;

/// A part of an answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Part {
    /// Text.
    Text(String),
    /// Any other block, as it came.
    Block(Value),
}

/// Asks and waits for the whole answer.
///
/// # Errors
/// When the model could not answer, took too long or was interrupted.
///
/// # Cancel safety
/// Dropping the future cancels the request.
pub(super) async fn ask(
    model: &SideModel,
    system: &str,
    prompt: String,
    extra_body: Map<String, Value>,
    cancel: &CancellationToken,
) -> Result<Vec<Part>, ModelFailure> {
    let request = ModelRequest {
        model: model.name.clone(),
        system: vec![SystemBlock { text: system.to_owned() }],
        messages: vec![Arc::new(Message { role: Role::User, content: Content::Text(prompt) })],
        tools: Arc::from([]),
        max_tokens: MOST_TOKENS,
        thinking: Thinking::Unset,
        effort: None,
        betas: Vec::new(),
        session: model.session.clone(),
        extra_body,
    };
    let failed = |message: &str| ModelFailure::new(FailureKind::Stream, message);
    tokio::select! {
        biased;
        () = cancel.cancelled() => Err(failed("the call was interrupted")),
        answer = tokio::time::timeout(LONGEST, collect(model, request)) => {
            answer.unwrap_or_else(|_| Err(failed("the model did not answer in time")))
        }
    }
}

async fn collect(model: &SideModel, request: ModelRequest) -> Result<Vec<Part>, ModelFailure> {
    let mut events = model.model.respond(request);
    let mut parts: BTreeMap<u32, Part> = BTreeMap::new();
    let mut size = 0;
    while let Some(event) = events.next().await {
        match event {
            ModelEvent::Failed(failure) => return Err(failure),
            ModelEvent::Accepted { .. } => {}
            ModelEvent::Stream(StreamEvent::ContentBlockStart { index, content_block }) => {
                let text = content_block.get("text").and_then(Value::as_str).map(str::to_owned);
                parts.insert(index, text.map_or(Part::Block(content_block), Part::Text));
            }
            ModelEvent::Stream(StreamEvent::ContentBlockDelta {
                index,
                delta: Delta::TextDelta { text: more },
            }) => {
                size += more.len();
                if let Some(Part::Text(text)) = parts.get_mut(&index)
                    && size <= MOST_BYTES
                {
                    text.push_str(&more);
                }
            }
            ModelEvent::Stream(StreamEvent::MessageStop) => {
                return Ok(parts.into_values().collect());
            }
            ModelEvent::Stream(_) => {}
        }
    }
    Err(ModelFailure::new(FailureKind::Stream, "the answer was cut off"))
}
