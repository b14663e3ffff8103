//! Estimates tokens where nobody counts them.

use tillerman_protocol::model::ModelRequest;

/// The tokens of a text of so many bytes, at 3.5 bytes each.
#[must_use]
pub const fn tokens(bytes: usize) -> u64 {
    (bytes as u64 * 2).div_ceil(7)
}

/// The tokens of a whole request.
#[must_use]
pub fn request_tokens(request: &ModelRequest) -> u64 {
    let system: usize = request.system.iter().map(|block| block.text.len()).sum();
    let tools: usize = request
        .tools
        .iter()
        .map(|tool| tool.name.len() + tool.description.len() + json_length(&tool.input_schema))
        .sum();
    let messages: usize = request.messages.iter().map(json_length).sum();
    tokens(system + tools + messages)
}

fn json_length<T: serde::Serialize + ?Sized>(value: &T) -> usize {
    serde_json::to_vec(value).map_or(0, |json| json.len())
}
