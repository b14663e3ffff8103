//! Lines of a stream, none longer than may be.

use std::io;

use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};

/// Reads lines; survives being cancelled between any two bytes.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    reader: BufReader<R>,
    line: Vec<u8>,
    longest: usize,
    is_taken: bool,
}

/// Why there is no further line.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadLineError {
    #[error("a line of more than {longest} bytes came")]
    TooLong { longest: usize },
    #[error("it could not be read: {0}")]
    Read(#[from] io::Error),
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(crate) fn new(reader: R, longest: usize) -> Self {
        Self { reader: BufReader::new(reader), line: Vec::new(), longest, is_taken: false }
    }

    /// The next line without its end; nothing at the end of the stream.
    ///
    /// # Cancel safety
    /// What was read of a line is kept for the next call.
    pub(crate) async fn next(&mut self) -> Result<Option<&[u8]>, ReadLineError> {
        if self.is_taken {
            self.line.clear();
            self.is_taken = false;
        }
        loop {
            let available = self.reader.fill_buf().await?;
            if available.is_empty() {
                return Ok(None);
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(available.len(), |end| end + 1);
            if self.line.len() + taken > self.longest {
                return Err(ReadLineError::TooLong { longest: self.longest });
            }
            self.line.extend_from_slice(&available[..end.unwrap_or(taken)]);
            self.reader.consume(taken);
            if end.is_some() {
                self.is_taken = true;
                return Ok(Some(&self.line));
            }
        }
    }
}
