//! Where randomness comes from: the operating system, once per session.

/// Random bytes; all zero only on a system that has no source of randomness at all.
pub(crate) fn bytes() -> [u8; 16] {
    let mut bytes = [0; 16];
    if let Err(error) = getrandom::fill(&mut bytes) {
        tracing::error!("the system gave no random numbers: {error}");
    }
    bytes
}

/// Random bits as the engine takes them.
pub(crate) fn words() -> [u64; 2] {
    let bytes = bytes();
    let (low, high) = bytes.split_at(8);
    let word = |half: &[u8]| half.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
    [word(low), word(high)]
}

/// A new session id.
pub(crate) fn session_id() -> tillerman_protocol::SessionId {
    let uuid = uuid::Builder::from_random_bytes(bytes()).into_uuid();
    tillerman_protocol::SessionId::new(uuid.to_string())
}
