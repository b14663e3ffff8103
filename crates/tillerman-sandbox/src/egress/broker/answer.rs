//! Heads of answers: what stands for a secret in the place of the secret.

use hyper::ext::ReasonPhrase;
use hyper::header::{HeaderName, HeaderValue, LOCATION};
use hyper::http::response::Parts;

use super::loans::Service;
use super::rewriting::{self, Echo};

/// Takes secrets out of the head of an answer, and leads clients back here.
pub(crate) fn clean(answer: &mut Parts, echoes: &[Echo], services: &[Service]) {
    if let Some(reason) = answer.extensions.remove::<ReasonPhrase>()
        && let Ok(reason) = std::str::from_utf8(reason.as_bytes())
        && let Ok(reason) = ReasonPhrase::try_from(cleaned(reason, echoes))
    {
        answer.extensions.insert(reason);
    }
    // A name is no place for a secret, and one with a stand-in would mean nothing.
    let telling = |name: &&HeaderName| {
        echoes.iter().any(|echo| name.as_str().contains(&echo.sent.to_ascii_lowercase()))
    };
    for name in answer.headers.keys().filter(telling).cloned().collect::<Vec<_>>() {
        answer.headers.remove(name);
    }
    for (name, value) in &mut answer.headers {
        let said = rewriting::text(value).into_owned();
        let mut shown = cleaned(&said, echoes);
        if name == LOCATION {
            shown = inward(shown, services);
        }
        if shown != said {
            // What stands for a secret is as fit for a header as the secret was.
            *value = HeaderValue::try_from(shown).unwrap_or(HeaderValue::from_static(""));
        }
    }
}

/// An address that leads the client back here, where its credential is lent, and not into a tunnel.
fn inward(location: String, services: &[Service]) -> String {
    let Some(rest) = location.strip_prefix("https://") else { return location };
    let (authority, _) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let authority = authority.strip_suffix(":443").unwrap_or(authority);
    if services.iter().any(|service| service.authority().eq_ignore_ascii_case(authority)) {
        return format!("http://{rest}");
    }
    location
}

/// A text without secrets.
fn cleaned(text: &str, echoes: &[Echo]) -> String {
    echoes.iter().fold(text.to_owned(), |text, echo| text.replace(&echo.sent, &echo.shown))
}

#[cfg(test)]
mod tests;
