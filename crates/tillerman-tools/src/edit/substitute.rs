//! Exact replacement in files that may have foreign line endings or bytes that are no text.

/// One text to look for and what takes its place, in the line endings of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Substitution {
    old: String,
    new: String,
    places: Vec<usize>,
}

impl Substitution {
    /// Finds where the old text occurs, however the file ends its lines. Models see and write
    /// plain line feeds, so each text is tried in the endings that fit the file best first.
    pub(crate) fn find(bytes: &[u8], old: &str, new: &str) -> Self {
        let as_written = || (old.to_owned(), new.to_owned());
        let as_windows = || (to_crlf(old), to_crlf(new));
        let attempts = if has_crlf(bytes) {
            [as_windows(), as_written()]
        } else {
            [as_written(), as_windows()]
        };
        let [first, second] = attempts.map(|(old, new)| {
            let places = occurrences(bytes, &old);
            Self { old, new, places }
        });
        if first.places.is_empty() && !second.places.is_empty() { second } else { first }
    }

    /// How often the old text occurs.
    pub(crate) fn count(&self) -> usize {
        self.places.len()
    }

    /// The content with every occurrence replaced.
    pub(crate) fn apply(&self, bytes: &[u8]) -> Vec<u8> {
        let mut result = Vec::with_capacity(bytes.len() + self.new.len());
        let mut copied = 0;
        for &place in &self.places {
            result.extend_from_slice(&bytes[copied..place]);
            result.extend_from_slice(self.new.as_bytes());
            copied = place + self.old.len();
        }
        result.extend_from_slice(&bytes[copied..]);
        result
    }
}

/// Where the text occurs. A valid text can only occur inside a valid stretch, so bytes that are no
/// text are passed over and stay as they are.
fn occurrences(bytes: &[u8], text: &str) -> Vec<usize> {
    let mut places = Vec::new();
    let mut start = 0;
    for chunk in bytes.utf8_chunks() {
        places.extend(chunk.valid().match_indices(text).map(|(place, _)| start + place));
        start += chunk.valid().len() + chunk.invalid().len();
    }
    places
}

/// Whether most lines end in the Windows way.
fn has_crlf(bytes: &[u8]) -> bool {
    let mut plain = 0_usize;
    let mut windows = 0_usize;
    let mut previous = 0;
    for &byte in bytes {
        if byte == b'\n' {
            if previous == b'\r' { windows += 1 } else { plain += 1 }
        }
        previous = byte;
    }
    windows > plain
}

fn to_crlf(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\n', "\r\n")
}
