//! Requests as they come in: lines, none longer than there is room for.

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _};

/// A picture of 20 MB is 27 MB in base64, and shells send several at a time.
pub(crate) const LONGEST_LINE: usize = 96 * 1024 * 1024;

/// What comes next.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A line, without its end.
    Whole(Vec<u8>),
    /// A line that is too long; it was passed over.
    TooLong,
    /// There is nothing more.
    End,
}

/// Reads the next line that is not empty. A shell that breaks off in the middle of a line has
/// said nothing by it.
///
/// # Cancel safety
/// Not cancel safe: a reader that is dropped in the middle of a line loses its beginning.
pub(crate) async fn next(from: &mut (impl AsyncBufRead + Unpin)) -> Line {
    let mut line = Vec::new();
    let mut is_too_long = false;
    loop {
        let piece = match from.fill_buf().await {
            Ok([]) => return Line::End,
            Ok(piece) => piece,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => {
                tracing::warn!(%error, "the shell cannot be heard any more");
                return Line::End;
            }
        };
        let end = piece.iter().position(|byte| *byte == b'\n');
        let length = end.unwrap_or(piece.len());
        is_too_long |= line.len() + length > LONGEST_LINE;
        if is_too_long {
            line = Vec::new();
        } else {
            line.extend_from_slice(&piece[..length]);
        }
        from.consume(end.map_or(length, |end| end + 1));
        if end.is_none() {
            continue;
        }
        if is_too_long {
            return Line::TooLong;
        }
        if !line.trim_ascii().is_empty() {
            return Line::Whole(line);
        }
        line.clear();
    }
}
