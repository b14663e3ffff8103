//! Credentials that cannot be printed by accident.

use std::fmt;

/// A credential. Its debug form never shows it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a credential; white space around it, as files leave it, is dropped.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(text.trim().to_owned())
    }

    /// The credential itself, for the one place that sends it.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

/// Replaces every secret in a text that is about to be shown.
///
/// Servers repeat what they were sent, so their messages are not trusted to be clean. Values of
/// fewer than six characters are left alone: they are not secrets, and would garble the text.
#[must_use]
pub fn scrub<'a>(text: &str, secrets: impl IntoIterator<Item = &'a str>) -> String {
    secrets
        .into_iter()
        .filter(|secret| secret.len() >= 6)
        .fold(text.to_owned(), |text, secret| text.replace(secret, "[redacted]"))
}
