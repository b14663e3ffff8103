//! Identifiers without randomness: a seeded source, so that a session replays exactly.

use tillerman_protocol::EntryId;

/// Yields UUIDs and dice from a 128-bit seed.
#[derive(Clone, Debug)]
pub struct IdSource {
    state: [u64; 2],
}

impl IdSource {
    /// A source whose whole sequence is determined by the seed.
    #[must_use]
    pub const fn new(seed: [u64; 2]) -> Self {
        Self { state: seed }
    }

    /// The next identifier, in the form of a version 4 UUID.
    pub fn entry_id(&mut self) -> EntryId {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.next(0).to_le_bytes());
        bytes[8..].copy_from_slice(&self.next(1).to_le_bytes());
        EntryId::new(uuid::Builder::from_random_bytes(bytes).into_uuid().to_string())
    }

    /// A number below `bound`, for jitter; zero when there is no room.
    pub fn below(&mut self, bound: u64) -> u64 {
        if bound == 0 { 0 } else { self.next(0) % bound }
    }

    // SplitMix64, once per half: enough to keep sessions apart, nothing secret hangs on it.
    fn next(&mut self, half: usize) -> u64 {
        self.state[half] = self.state[half].wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state[half];
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}
