//! Where time comes from.

use tillerman_protocol::Moment;

/// Tells the time.
pub trait Clock: Send + Sync + std::fmt::Debug {
    /// The present moment.
    fn now(&self) -> Moment;
}
