//! Messages as text: read with patience, within limits.

use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use serde_json::{Value, json};

/// No message may be larger; a server that sends one is not to be trusted with memory.
pub(crate) const LONGEST_MESSAGE: usize = 32 << 20;
/// What a server may print that is no message, before it counts as speaking something else.
const NOISE_ALLOWED: usize = 1 << 20;

/// Makes sense of what a server sends.
#[derive(Debug, Default)]
pub(crate) struct Ear {
    noise: usize,
}

/// What a piece of text was.
pub(crate) enum Heard {
    Message(Box<RxJsonRpcMessage<RoleClient>>),
    /// Something else, such as a line meant for a log.
    Noise,
    /// So much else that this is no MCP server.
    TooMuchNoise,
}

impl Ear {
    /// Reads one text.
    pub(crate) fn hear(&mut self, text: &[u8]) -> Heard {
        if text.iter().all(u8::is_ascii_whitespace) {
            return Heard::Noise;
        }
        if let Some(message) = read(text) {
            self.noise = 0;
            return Heard::Message(Box::new(message));
        }
        self.noise += text.len();
        if self.noise > NOISE_ALLOWED { Heard::TooMuchNoise } else { Heard::Noise }
    }
}

fn read(text: &[u8]) -> Option<RxJsonRpcMessage<RoleClient>> {
    if let Ok(message) = serde_json::from_slice(text) {
        return Some(message);
    }
    let value: Value = serde_json::from_slice(text).ok()?;
    from_value(value)
}

/// A message from JSON. An answer that cannot be read is an error for whoever waits for it.
pub(crate) fn from_value(value: Value) -> Option<RxJsonRpcMessage<RoleClient>> {
    let id = value.get("id").cloned().filter(|_| value.get("method").is_none());
    if let Ok(message) = serde_json::from_value(value) {
        return Some(message);
    }
    let message = "the server's answer is not one that MCP knows";
    let error = json!({"jsonrpc": "2.0", "id": id?, "error": {"code": -32603, "message": message}});
    serde_json::from_value(error).ok()
}

/// A message as one line.
pub(crate) fn line_of(
    message: &TxJsonRpcMessage<RoleClient>,
) -> Result<Vec<u8>, serde_json::Error> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line)
}
