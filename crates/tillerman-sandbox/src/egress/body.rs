//! Bodies on their way: passed on piece by piece, up to where they end and not a byte further.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::time::timeout;

/// How long one end may say nothing while the other waits.
const QUIET_WAIT: Duration = Duration::from_secs(600);
/// How long a line of a head, or one beside a chunk, may be.
const LONGEST_LINE: usize = 32 * 1024;
/// How many lines may follow the last chunk.
const MOST_TRAILERS: usize = 64;

/// How a body ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// There is none.
    Empty,
    /// After so many bytes.
    Length(u64),
    /// After a chunk without content.
    Chunked,
    /// With the connection.
    UntilClosed,
}

/// Why a body was not passed on whole.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PassOnError {
    /// Whoever sends it stopped, or sends something that is no body.
    #[error("the body could not be read")]
    Read(#[source] io::Error),
    /// Whoever it is for does not take it.
    #[error("the body could not be passed on")]
    Write(#[source] io::Error),
}

/// Passes a body on. Chunks are taken apart and put together anew, so that both ends count alike;
/// what follows the last is dropped.
pub(crate) async fn pass_on(
    framing: Framing,
    from: &mut (impl AsyncBufRead + Unpin),
    to: &mut (impl AsyncWrite + Unpin),
) -> Result<(), PassOnError> {
    match framing {
        Framing::Empty => Ok(()),
        Framing::Length(length) => copy(from, to, length).await,
        Framing::UntilClosed => copy_all(from, to).await,
        Framing::Chunked => loop {
            let size = chunk_size(&read_line(from).await?)?;
            if size == 0 {
                skip_trailers(from).await?;
                return write(to, b"0\r\n\r\n").await;
            }
            write(to, format!("{size:x}\r\n").as_bytes()).await?;
            copy(from, to, size).await?;
            if !read_line(from).await?.is_empty() {
                return Err(malformed("a chunk is longer than it says"));
            }
            write(to, b"\r\n").await?;
        },
    }
}

async fn copy(
    from: &mut (impl AsyncBufRead + Unpin),
    to: &mut (impl AsyncWrite + Unpin),
    mut left: u64,
) -> Result<(), PassOnError> {
    while left > 0 {
        let piece = fill(from).await?;
        if piece.is_empty() {
            return Err(PassOnError::Read(io::ErrorKind::UnexpectedEof.into()));
        }
        let taken = piece.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        write(to, &piece[..taken]).await?;
        from.consume(taken);
        left -= taken as u64;
    }
    Ok(())
}

async fn copy_all(
    from: &mut (impl AsyncBufRead + Unpin),
    to: &mut (impl AsyncWrite + Unpin),
) -> Result<(), PassOnError> {
    loop {
        let piece = match fill(from).await {
            Ok(piece) => piece,
            // Many servers hang up without a word of TLS, and nothing else says where this ends.
            Err(PassOnError::Read(error)) if error.kind() == io::ErrorKind::UnexpectedEof => &[],
            Err(error) => return Err(error),
        };
        if piece.is_empty() {
            return Ok(());
        }
        write(to, piece).await?;
        let taken = piece.len();
        from.consume(taken);
    }
}

async fn skip_trailers(from: &mut (impl AsyncBufRead + Unpin)) -> Result<(), PassOnError> {
    for _ in 0..MOST_TRAILERS {
        if read_line(from).await?.is_empty() {
            return Ok(());
        }
    }
    Err(malformed("too much follows the last chunk"))
}

/// Reads a line without its end.
pub(crate) async fn read_line(
    from: &mut (impl AsyncBufRead + Unpin),
) -> Result<Vec<u8>, PassOnError> {
    let mut line = Vec::new();
    loop {
        let piece = fill(from).await?;
        if piece.is_empty() {
            return Err(PassOnError::Read(io::ErrorKind::UnexpectedEof.into()));
        }
        let end = piece.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(piece.len(), |end| end + 1);
        line.extend_from_slice(&piece[..taken]);
        from.consume(taken);
        if line.len() > LONGEST_LINE {
            return Err(malformed("a line is too long"));
        }
        if end.is_some() {
            return match line.strip_suffix(b"\r\n") {
                Some(line) if !line.contains(&b'\r') => Ok(line.to_vec()),
                Some(_) | None => Err(malformed("a line has no proper end")),
            };
        }
    }
}

/// The size before a chunk. Only digits count: programs disagree about everything else.
fn chunk_size(line: &[u8]) -> Result<u64, PassOnError> {
    let size = line.split(|byte| *byte == b';').next().unwrap_or_default();
    let digits = std::str::from_utf8(size).ok().filter(|size| {
        (1..=16).contains(&size.len()) && size.bytes().all(|byte| byte.is_ascii_hexdigit())
    });
    let size = digits.and_then(|size| u64::from_str_radix(size, 16).ok());
    size.ok_or_else(|| malformed("a chunk does not say how long it is"))
}

async fn fill(from: &mut (impl AsyncBufRead + Unpin)) -> Result<&[u8], PassOnError> {
    let late = |_| PassOnError::Read(io::ErrorKind::TimedOut.into());
    timeout(QUIET_WAIT, from.fill_buf()).await.map_err(late)?.map_err(PassOnError::Read)
}

/// Writes and sends at once: whoever waits for the piece may be who sends the next.
pub(crate) async fn write(
    to: &mut (impl AsyncWrite + Unpin),
    piece: &[u8],
) -> Result<(), PassOnError> {
    let late = |_| PassOnError::Write(io::ErrorKind::TimedOut.into());
    let written = async {
        to.write_all(piece).await?;
        to.flush().await
    };
    timeout(QUIET_WAIT, written).await.map_err(late)?.map_err(PassOnError::Write)
}

fn malformed(why: &'static str) -> PassOnError {
    PassOnError::Read(io::Error::new(io::ErrorKind::InvalidData, why))
}

#[cfg(test)]
mod tests;
