//! Identifiers that nobody else has.

/// A random UUID; all zero only on a system without any source of randomness.
pub(crate) fn uuid() -> String {
    let mut bytes = [0; 16];
    if let Err(error) = getrandom::fill(&mut bytes) {
        tracing::error!("the system gave no random numbers: {error}");
    }
    uuid::Builder::from_random_bytes(bytes).into_uuid().to_string()
}
