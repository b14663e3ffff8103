//! What a session is told.

use std::fmt;
use std::pin::Pin;

use base64::Engine as _;
use futures_core::Stream;
use futures_util::StreamExt as _;
use serde_json::json;
use tillerman_protocol::EntryId;
use tillerman_protocol::content::{Block, Content};
use tillerman_protocol::frame::UserFrame;

/// One thing to tell a session: text, pictures, or both.
#[derive(Clone, Debug, PartialEq)]
pub struct Prompt {
    content: Content,
    id: Option<EntryId>,
}

impl Prompt {
    /// A prompt of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: Content::Text(text.into()), id: None }
    }

    /// A prompt of content blocks in the shape of the Messages API.
    #[must_use]
    pub const fn blocks(blocks: Vec<Block>) -> Self {
        Self { content: Content::Blocks(blocks), id: None }
    }

    /// Adds a picture after what is there already; `media_type` is for example `image/png`.
    #[must_use]
    pub fn with_image(mut self, media_type: &str, bytes: &[u8]) -> Self {
        let data = base64::engine::general_purpose::STANDARD.encode(bytes);
        let source = json!({"type": "base64", "media_type": media_type, "data": data});
        let mut blocks = self.content.into_blocks();
        blocks.push(Block::Image { source });
        self.content = Content::Blocks(blocks);
        self
    }

    /// Gives the prompt an id of your choice, a UUID. Its progress then arrives as messages, and
    /// files can be rewound to it.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(EntryId::new(id));
        self
    }

    /// What is said.
    #[must_use]
    pub const fn content(&self) -> &Content {
        &self.content
    }

    pub(crate) const fn id(&self) -> Option<&EntryId> {
        self.id.as_ref()
    }

    /// The frame that carries the prompt under this id.
    pub(crate) fn into_frame(self, id: EntryId) -> UserFrame {
        UserFrame {
            uuid: Some(id),
            session_id: Some(tillerman_protocol::SessionId::new("")),
            ..UserFrame::new(self.content)
        }
    }
}

impl From<&str> for Prompt {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for Prompt {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl From<&String> for Prompt {
    fn from(text: &String) -> Self {
        Self::text(text)
    }
}

/// One prompt or a stream of them, as [`query`](crate::query) takes them.
pub struct Prompts {
    stream: Pin<Box<dyn Stream<Item = Prompt> + Send>>,
}

impl Prompts {
    /// Prompts that come one after the other, as long as the stream goes on.
    pub fn stream<P>(stream: impl Stream<Item = P> + Send + 'static) -> Self
    where
        P: Into<Prompt> + 'static,
    {
        Self { stream: Box::pin(stream.map(Into::into)) }
    }

    pub(crate) fn into_stream(self) -> Pin<Box<dyn Stream<Item = Prompt> + Send>> {
        self.stream
    }
}

impl<P: Into<Prompt>> From<P> for Prompts {
    fn from(prompt: P) -> Self {
        let prompt = prompt.into();
        Self { stream: Box::pin(futures_util::stream::once(std::future::ready(prompt))) }
    }
}

impl fmt::Debug for Prompts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Prompts")
    }
}
