//! Server-sent events, taken apart as they arrive.

use super::message::LONGEST_MESSAGE;

/// One event.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) name: String,
    pub(crate) data: String,
}

/// Puts events together from pieces that may end anywhere.
#[derive(Debug, Default)]
pub(crate) struct EventReader {
    pending: Vec<u8>,
    name: String,
    data: String,
}

/// An event is larger than any message may be.
#[derive(Debug, thiserror::Error)]
#[error("an event of more than {LONGEST_MESSAGE} bytes came")]
pub(crate) struct TooLarge;

impl EventReader {
    /// Takes a piece in and returns the events that it completes.
    pub(crate) fn push(&mut self, piece: &[u8]) -> Result<Vec<Event>, TooLarge> {
        self.pending.extend_from_slice(piece);
        let mut events = Vec::new();
        while let Some(end) = self.pending.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.pending.drain(..=end).collect();
            let line = String::from_utf8_lossy(&line);
            events.extend(self.line(line.trim_end_matches(['\r', '\n'])));
        }
        if self.pending.len() + self.data.len() > LONGEST_MESSAGE {
            return Err(TooLarge);
        }
        Ok(events)
    }

    fn line(&mut self, line: &str) -> Option<Event> {
        if line.is_empty() {
            let name = std::mem::take(&mut self.name);
            let mut data = std::mem::take(&mut self.data);
            data.pop()?;
            let name = if name.is_empty() { "message".to_owned() } else { name };
            return Some(Event { name, data });
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.name),
            "data" => {
                self.data.push_str(value);
                self.data.push('\n');
            }
            _ => {}
        }
        None
    }
}
