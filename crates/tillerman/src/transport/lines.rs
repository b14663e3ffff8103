//! Lines of a stream, none longer than allowed.

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _};

/// What reading a line came to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A line is in the buffer, without its end.
    Whole,
    /// A line was too long; it was skipped, and this many bytes with it.
    TooLong(usize),
    /// There are no more.
    End,
}

/// Reads the next line into an empty buffer. The last one need not be terminated.
///
/// # Cancel safety
/// A line that was read in part is lost when the future is dropped.
pub(crate) async fn next_line(
    reader: &mut (impl AsyncBufRead + Unpin),
    line: &mut Vec<u8>,
    longest: usize,
) -> std::io::Result<Line> {
    let mut length = 0;
    loop {
        let bytes = reader.fill_buf().await?;
        if bytes.is_empty() {
            return Ok(match length {
                0 => Line::End,
                _ if length > longest => Line::TooLong(length),
                _ => Line::Whole,
            });
        }
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let taken = &bytes[..end.unwrap_or(bytes.len())];
        length += taken.len();
        if length <= longest {
            line.extend_from_slice(taken);
        } else {
            line.clear();
        }
        let used = taken.len() + usize::from(end.is_some());
        reader.consume(used);
        if end.is_some() {
            return Ok(if length > longest { Line::TooLong(length) } else { Line::Whole });
        }
    }
}
