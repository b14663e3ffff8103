//! From the bytes of a PDF file to the text of the pages asked for.

use std::io::Read as _;
use std::ops::RangeInclusive;

use flate2::read::ZlibDecoder;
use lopdf::Document;
use tokio_util::sync::CancellationToken;

use super::content::page_text;

/// Longer files need a range of pages.
const PAGES_WITHOUT_RANGE: u32 = 10;
const MOST_PAGES: u32 = 20;
/// About 25,000 tokens.
const SHOWN_CHARS: usize = 100_000;
/// What all compressed parts of a file may hold together.
const UNPACKED_BYTES: u64 = 256 << 20;

/// The text of some pages.
#[derive(Debug)]
pub(crate) struct ShownPdf {
    /// The pages with a heading each.
    pub(crate) text: String,
}

/// Why no page can be shown. The texts are for the model.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ShowPdfError {
    /// The file makes no sense.
    #[error("it could not be understood ({0})")]
    Broken(lopdf::Error),
    /// It needs a password.
    #[error("it is encrypted; a version without a password is needed")]
    Encrypted,
    /// Its compressed parts hold more than anybody would read.
    #[error("its content would take more than {} MiB of memory", UNPACKED_BYTES >> 20)]
    TooLarge,
    /// There are too many pages to show all.
    #[error(
        "it has {0} pages, too many to show at once; say which ones with pages, for example \"1-5\", \
         at most {MOST_PAGES} in one call"
    )]
    RangeNeeded(u32),
    /// The range makes no sense.
    #[error("the page range {range:?} is not one like \"3\" or \"1-5\" within its {pages} pages")]
    BadRange { range: String, pages: u32 },
    /// The range is too long.
    #[error("{0} pages are too many; at most {MOST_PAGES} are shown in one call")]
    RangeTooLong(u32),
    /// The call was interrupted.
    #[error("the call was interrupted")]
    Interrupted,
}

/// Shows the pages asked for.
pub(crate) fn show(
    bytes: &[u8],
    range: Option<&str>,
    cancel: &CancellationToken,
) -> Result<ShownPdf, ShowPdfError> {
    if !unpacks_within(bytes, UNPACKED_BYTES) {
        return Err(ShowPdfError::TooLarge);
    }
    let document = Document::load_mem(bytes).map_err(|error| match error {
        lopdf::Error::InvalidPassword | lopdf::Error::Decryption(_) => ShowPdfError::Encrypted,
        error => ShowPdfError::Broken(error),
    })?;
    if document.is_encrypted() {
        return Err(ShowPdfError::Encrypted);
    }
    let pages = document.get_pages();
    let count = u32::try_from(pages.len()).unwrap_or(u32::MAX);
    let wanted = match range {
        Some(range) => parse_range(range, count)?,
        None if count > PAGES_WITHOUT_RANGE => return Err(ShowPdfError::RangeNeeded(count)),
        None => 1..=count,
    };
    let mut text = String::new();
    let mut chars = 0;
    for (number, page) in pages.range(wanted) {
        if cancel.is_cancelled() {
            return Err(ShowPdfError::Interrupted);
        }
        let shown = page_text(&document, *page, SHOWN_CHARS - chars);
        chars += shown.chars().count();
        let shown = if shown.trim().is_empty() { "[no text on this page]" } else { shown.trim() };
        text.push_str(&format!("[Page {number} of {count}]\n{shown}\n\n"));
        if chars >= SHOWN_CHARS {
            text.push_str(&format!(
                "[Cut here: one call shows {SHOWN_CHARS} characters. Go on with pages \"{number}\" or later.]"
            ));
            break;
        }
    }
    Ok(ShownPdf { text: text.trim_end().to_owned() })
}

fn parse_range(range: &str, pages: u32) -> Result<RangeInclusive<u32>, ShowPdfError> {
    let bad = || ShowPdfError::BadRange { range: range.to_owned(), pages };
    let number = |text: &str| text.trim().parse::<u32>().map_err(|_| bad());
    let (first, last) = match range.split_once('-') {
        Some((first, last)) if last.trim().is_empty() => (number(first)?, pages),
        Some((first, last)) => (number(first)?, number(last)?.min(pages)),
        None => (number(range)?, number(range)?),
    };
    if first == 0 || first > last || last > pages {
        return Err(bad());
    }
    match last - first + 1 {
        length if length > MOST_PAGES => Err(ShowPdfError::RangeTooLong(length)),
        _ => Ok(first..=last),
    }
}

/// Whether everything in the file that looks compressed unpacks into the limit. A few kilobytes can
/// hold gigabytes, and the parser unpacks without asking.
fn unpacks_within(bytes: &[u8], most: u64) -> bool {
    const KEYWORD: &[u8] = b"stream";
    let mut left = most;
    let mut buffer = vec![0; 64 * 1024];
    let places = bytes.windows(KEYWORD.len()).enumerate().filter(|(_, found)| *found == KEYWORD);
    for (place, _) in places {
        let data = bytes[place + KEYWORD.len()..].trim_ascii_start();
        if data.first().is_none_or(|first| first & 0x0f != 8) {
            continue;
        }
        let mut decoder = ZlibDecoder::new(data);
        while let Ok(count @ 1..) = decoder.read(&mut buffer) {
            let Some(rest) = left.checked_sub(count as u64) else { return false };
            left = rest;
        }
    }
    true
}

#[cfg(test)]
mod tests;
