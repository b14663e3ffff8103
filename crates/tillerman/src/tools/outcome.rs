//! What a tool returns.

use std::fmt;

use base64::Engine as _;
use serde::Serialize;
use serde_json::{Value, json};

/// What a tool returns: things for the model to see, whether it worked, and a value for programs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolOutput {
    content: Vec<Value>,
    structured: Option<Value>,
    is_error: bool,
}

impl ToolOutput {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::default().and_text(text)
    }

    /// A failure, which the model sees and can do something about.
    pub fn error(text: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::text(text) }
    }

    /// Adds a text.
    #[must_use]
    pub fn and_text(mut self, text: impl Into<String>) -> Self {
        let text: String = text.into();
        self.content.push(json!({"type": "text", "text": text}));
        self
    }

    /// Adds a picture.
    #[must_use]
    pub fn and_picture(mut self, picture: &Picture) -> Self {
        let data = base64::engine::general_purpose::STANDARD.encode(&picture.bytes);
        let mime = &picture.media_type;
        self.content.push(json!({"type": "image", "data": data, "mimeType": mime}));
        self
    }

    /// Adds a value for programs.
    #[must_use]
    pub fn and_structured(mut self, value: Value) -> Self {
        self.structured = Some(value);
        self
    }

    /// Whether the tool failed.
    #[must_use]
    pub const fn is_error(&self) -> bool {
        self.is_error
    }

    pub(crate) fn into_wire(self) -> Value {
        let mut wire = json!({"content": self.content, "isError": self.is_error});
        if let (Some(structured), Some(fields)) = (self.structured, wire.as_object_mut()) {
            fields.insert("structuredContent".to_owned(), structured);
        }
        wire
    }
}

/// A picture that a tool shows the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// What kind of picture, such as `image/png`.
    pub media_type: String,
    /// The picture.
    pub bytes: Vec<u8>,
}

/// A value that the model sees as JSON and programs see as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Json<T>(
    /// The value.
    pub T,
);

/// What can be returned from a tool.
pub trait IntoToolOutput {
    /// Makes an output of it.
    fn into_output(self) -> ToolOutput;
}

impl IntoToolOutput for ToolOutput {
    fn into_output(self) -> ToolOutput {
        self
    }
}

impl IntoToolOutput for String {
    fn into_output(self) -> ToolOutput {
        ToolOutput::text(self)
    }
}

impl IntoToolOutput for &str {
    fn into_output(self) -> ToolOutput {
        ToolOutput::text(self)
    }
}

impl IntoToolOutput for () {
    fn into_output(self) -> ToolOutput {
        ToolOutput::text("done")
    }
}

impl IntoToolOutput for Picture {
    fn into_output(self) -> ToolOutput {
        ToolOutput::default().and_picture(&self)
    }
}

impl<T: Serialize> IntoToolOutput for Json<T> {
    fn into_output(self) -> ToolOutput {
        match serde_json::to_value(&self.0) {
            Ok(value) => {
                let output = ToolOutput::text(value.to_string());
                // Programs expect an object there; anything else is in the text.
                if value.is_object() { output.and_structured(value) } else { output }
            }
            Err(error) => ToolOutput::error(format!("the result cannot be written down: {error}")),
        }
    }
}

impl<T: IntoToolOutput, E: fmt::Display> IntoToolOutput for Result<T, E> {
    fn into_output(self) -> ToolOutput {
        match self {
            Ok(value) => value.into_output(),
            Err(error) => ToolOutput::error(error.to_string()),
        }
    }
}
