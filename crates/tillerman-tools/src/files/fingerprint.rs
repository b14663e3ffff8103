//! Recognising whether a file still holds what was seen.

/// Files beyond this size are recognised by their size and time of change alone.
const HASHED_BYTES: u64 = 2 << 30;

/// What a file held, in a few bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fingerprint {
    length: u64,
    content: Content,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    Checksum(u32),
    ChangedAt(Option<std::time::SystemTime>),
}

impl Fingerprint {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let mut builder = FingerprintBuilder::default();
        builder.push(bytes);
        builder.finish()
    }

    /// The fingerprint of a file too large to be read whole.
    pub(crate) fn of_unread(metadata: &std::fs::Metadata) -> Self {
        Self { length: metadata.len(), content: Content::ChangedAt(metadata.modified().ok()) }
    }

    /// Whether a file is too large to be read whole for its fingerprint.
    pub(crate) fn skips(metadata: &std::fs::Metadata) -> bool {
        metadata.len() > HASHED_BYTES
    }
}

/// Takes a fingerprint of content that comes in pieces.
#[derive(Debug, Default)]
pub(crate) struct FingerprintBuilder {
    length: u64,
    hasher: crc32fast::Hasher,
}

impl FingerprintBuilder {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.length += bytes.len() as u64;
        self.hasher.update(bytes);
    }

    pub(crate) fn finish(self) -> Fingerprint {
        Fingerprint { length: self.length, content: Content::Checksum(self.hasher.finalize()) }
    }
}
