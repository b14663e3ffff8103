//! The port through which permission updates outlive a session.

use tillerman_protocol::permission::PermissionUpdate;

/// Keeps permission updates where their destination says.
pub trait PermissionKeeper: Send + Sync + std::fmt::Debug {
    /// Keeps an update; one for the session alone needs no keeping.
    ///
    /// # Errors
    /// A text for people that says where it could not be kept and why.
    fn keep(&self, update: &PermissionUpdate) -> Result<(), String>;
}
