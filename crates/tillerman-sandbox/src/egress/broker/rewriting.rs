//! Heads of requests: secrets in the place of what stands for them.

use std::borrow::Cow;

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use hyper::header::HeaderValue;
use hyper::http::request::Parts;

use super::credential::LentSecret;

/// Clients leave the padding out; what is sent has it.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Parts of names of headers in which servers expect secrets. Others, such as `User-Agent`, are
/// shown and logged by servers, where a secret would be seen.
const FOR_SECRETS: [&str; 7] =
    ["auth", "token", "key", "secret", "password", "credential", "cookie"];

/// A secret that is put in the place of what stands for it.
#[derive(Debug)]
pub(crate) struct Swap<'a> {
    pub(crate) sentinel: &'a str,
    pub(crate) secret: LentSecret,
}

/// Something that was sent, and what is shown in its place when it comes back.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Echo {
    pub(crate) sent: String,
    pub(crate) shown: String,
}

/// Says that it is there, and not what it is.
impl std::fmt::Debug for Echo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Echo([redacted] as {:?})", self.shown)
    }
}

/// Whether a head carries this, as it stands or in the name and password of a header.
pub(crate) fn carries(head: &Parts, sentinel: &str) -> bool {
    let line = format!("{} {}", head.method, head.uri);
    // Names have lost their capitals.
    let name = sentinel.to_ascii_lowercase();
    line.contains(sentinel)
        || head.headers.iter().any(|(held, value)| {
            held.as_str().contains(&name) || value_carries(&text(value), sentinel)
        })
}

/// The value of a header as text.
pub(crate) fn text(value: &HeaderValue) -> Cow<'_, str> {
    String::from_utf8_lossy(value.as_bytes())
}

/// Whether the value of a header carries this.
pub(crate) fn value_carries(value: &str, sentinel: &str) -> bool {
    value.contains(sentinel) || basic(value).is_some_and(|(_, plain)| plain.contains(sentinel))
}

/// Whether servers expect secrets in a header of this name.
pub(crate) fn is_for_secrets(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    FOR_SECRETS.iter().any(|part| name.contains(part))
}

/// The value of a header with secrets in their places, and what must be shown instead of them.
pub(crate) fn swapped(value: &str, swaps: &[Swap<'_>]) -> (String, Vec<Echo>) {
    let mut echoes = Vec::new();
    let mut swap_all = |text: &str| {
        swaps.iter().filter(|swap| text.contains(swap.sentinel)).fold(
            text.to_owned(),
            |text, swap| {
                let (sent, shown) = (swap.secret.reveal(), swap.sentinel);
                echoes.push(Echo { sent: sent.to_owned(), shown: shown.to_owned() });
                text.replace(shown, sent)
            },
        )
    };
    let mut whole = swap_all(value);
    if let Some((scheme, plain)) = basic(value) {
        let sent = swap_all(&plain);
        if sent != plain {
            let encoded = BASE64.encode(&sent);
            let shown = value[scheme.len()..].trim().to_owned();
            echoes.push(Echo { sent: encoded.clone(), shown });
            whole = format!("{scheme} {encoded}");
        }
    }
    (whole, echoes)
}

/// The value of an `Authorization` header that makes a server see this user and this password.
#[must_use]
pub fn basic_value(username: &str, password: &str) -> String {
    format!("Basic {}", BASE64.encode(format!("{username}:{password}")))
}

/// Takes a name and a password out of a value that holds them, with the word before them.
fn basic(value: &str) -> Option<(&str, String)> {
    let (scheme, encoded) = value.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let plain = BASE64.decode(encoded.trim()).ok()?;
    String::from_utf8(plain).ok().map(|plain| (scheme, plain))
}

#[cfg(test)]
mod tests;
