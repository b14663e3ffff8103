//! A decoder of server-sent events that takes bytes in any chunks and keeps its buffers bounded.

use std::collections::VecDeque;

/// The most bytes one line or one event may have.
pub const MAX_EVENT_BYTES: usize = 16 * 1024 * 1024;

/// One event of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SseEvent {
    /// The event's name; empty when the server gave none.
    pub event: String,
    /// Its data, several lines joined by newlines.
    pub data: String,
}

/// Why a stream cannot be decoded any further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SseError {
    /// A line never ended.
    #[error("a line of the stream is longer than {limit} bytes")]
    LineTooLong {
        /// The most bytes a line may have.
        limit: usize,
    },
    /// An event never ended.
    #[error("an event of the stream is longer than {limit} bytes")]
    EventTooLong {
        /// The most bytes an event may have.
        limit: usize,
    },
}

/// Turns chunks of bytes into events; how the bytes are cut into chunks makes no difference.
#[derive(Debug)]
pub struct SseDecoder {
    limit: usize,
    line: Vec<u8>,
    // A LF right after a CR belongs to it, also when the next chunk brings it.
    after_carriage_return: bool,
    at_first_line: bool,
    event: String,
    data: Option<String>,
    ready: VecDeque<SseEvent>,
    failure: Option<SseError>,
}

impl Default for SseDecoder {
    fn default() -> Self {
        Self::with_limit(MAX_EVENT_BYTES)
    }
}

impl SseDecoder {
    /// A decoder that refuses lines and events of more than `limit` bytes.
    #[must_use]
    pub const fn with_limit(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            after_carriage_return: false,
            at_first_line: true,
            event: String::new(),
            data: None,
            ready: VecDeque::new(),
            failure: None,
        }
    }

    /// Takes the next bytes of the stream.
    ///
    /// # Errors
    /// When a line or an event exceeds the limit, and on every later call. Events that were
    /// complete before that can still be taken.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), SseError> {
        if self.failure.is_none() {
            self.failure = self.decode(bytes).err();
        }
        self.failure.map_or(Ok(()), Err)
    }

    /// The next complete event, if there is one.
    pub fn next_event(&mut self) -> Option<SseEvent> {
        self.ready.pop_front()
    }

    fn decode(&mut self, mut bytes: &[u8]) -> Result<(), SseError> {
        while let Some(&first) = bytes.first() {
            if std::mem::take(&mut self.after_carriage_return) && first == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let end = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let piece = &bytes[..end.unwrap_or(bytes.len())];
            if self.line.len() + piece.len() > self.limit {
                return Err(SseError::LineTooLong { limit: self.limit });
            }
            self.line.extend_from_slice(piece);
            let Some(end) = end else { return Ok(()) };
            self.after_carriage_return = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            let line = std::mem::take(&mut self.line);
            self.end_line(&line)?;
            // The buffer goes back so that most lines cost no allocation.
            self.line = line;
            self.line.clear();
        }
        Ok(())
    }

    fn end_line(&mut self, mut line: &[u8]) -> Result<(), SseError> {
        if std::mem::take(&mut self.at_first_line) {
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            // An event without data is no event.
            if let Some(data) = self.data.take() {
                self.ready.push_back(SseEvent { event, data });
            }
            return Ok(());
        }
        let (name, value) = match line.iter().position(|&byte| byte == b':') {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &b""[..]),
        };
        // A line begins and ends at ASCII bytes, so no character is ever split here.
        let value = String::from_utf8_lossy(value.strip_prefix(b" ").unwrap_or(value));
        match name {
            b"event" => self.event = value.into_owned(),
            b"data" => self.add_data(&value),
            // Comments have an empty name; `id` and `retry` serve reconnecting, which is not done.
            _ => {}
        }
        let size = self.event.len() + self.data.as_ref().map_or(0, String::len);
        if size > self.limit {
            return Err(SseError::EventTooLong { limit: self.limit });
        }
        Ok(())
    }

    fn add_data(&mut self, value: &str) {
        match &mut self.data {
            Some(data) => {
                data.push('\n');
                data.push_str(value);
            }
            None => self.data = Some(value.to_owned()),
        }
    }
}
