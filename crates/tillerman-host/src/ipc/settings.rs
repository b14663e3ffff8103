//! What whoever starts the host for a shell decides.

use std::path::PathBuf;

/// Makes a picture fit for a model: its media type and its bytes in base64, or what is wrong.
pub type PrepareImage = fn(&[u8]) -> Result<(String, String), String>;

/// What whoever starts the host for a shell decides.
#[derive(Clone, Debug)]
pub struct IpcSettings {
    /// How conversations judge calls that no rule decides, at first.
    pub permission_mode: String,
    /// Whether the agent is reminded of other conversations.
    pub memory: Memory,
    /// Makes pictures fit for a model.
    pub prepare_image: PrepareImage,
    /// Where lines go that are too long; the directory is made when needed and removed at the end.
    pub scratch: PathBuf,
}

/// Whether the agent is reminded of other conversations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// A message is sent as it is.
    Off,
    /// Passages of other conversations that have to do with a message come along with it.
    On,
}
