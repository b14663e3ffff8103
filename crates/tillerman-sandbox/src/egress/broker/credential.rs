//! What is lent, and where the secret behind it comes from.

use std::fmt;
use std::sync::Arc;

use tillerman_ports::BoxFuture;

/// Anything shorter occurs by chance and could not be taken out of what comes back.
const SHORTEST: usize = 8;
/// Anything longer does not fit into the head of a request.
const LONGEST: usize = 8 * 1024;

/// A credential that confined commands use without seeing it.
#[derive(Clone, Debug)]
pub struct LentCredential {
    /// What people call it.
    pub name: String,
    /// The only hosts it is sent to, over HTTPS; one that is not at port 443 names its port.
    pub hosts: Vec<String>,
    /// Variables in which commands find what stands for it.
    pub variables: Vec<String>,
    /// The user whose password it is, for git.
    pub username: String,
    /// Who knows it.
    pub source: Arc<dyn SecretSource>,
}

/// Knows the secret behind a credential.
pub trait SecretSource: Send + Sync + fmt::Debug {
    /// The secret as it is now, or why it cannot be had, as a part of a sentence.
    ///
    /// # Cancel safety
    /// Dropping the future only forgets the question.
    fn reveal(&self) -> BoxFuture<Result<LentSecret, String>>;
}

/// A secret that fits into the head of a request. Its debug form never shows it.
#[derive(Clone, PartialEq, Eq)]
pub struct LentSecret(String);

/// Why a text is no secret that can be lent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadSecret {
    /// It could not be told from ordinary text.
    #[error("it has fewer than {SHORTEST} characters, so it could not be recognized anywhere")]
    Short,
    /// It fits into no head.
    #[error("it has more than {LONGEST} characters")]
    Long,
    /// It would end the header it is put into, or is no text at all.
    #[error("it is more than one line of plain characters")]
    Unfit,
}

impl LentSecret {
    /// Wraps a secret; white space around it, as files leave it, is dropped.
    ///
    /// # Errors
    /// When it cannot be a part of a header, or is too short to be recognized.
    pub fn new(text: &str) -> Result<Self, BadSecret> {
        let text = text.trim();
        if text.len() < SHORTEST {
            return Err(BadSecret::Short);
        }
        if text.len() > LONGEST {
            return Err(BadSecret::Long);
        }
        if !text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()) {
            return Err(BadSecret::Unfit);
        }
        Ok(Self(text.to_owned()))
    }

    /// The secret itself, for the one place that sends it.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for LentSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}
