//! What a process that ended has said last, fit to be shown: short, printable, without credentials.

use serde_json::Value;

use crate::display::visible;

/// What stands in a credential's place.
const REDACTED: &str = "[redacted]";
/// Shorter values occur by chance; replacing them would damage ordinary text.
const SHORTEST: usize = 8;
const MOST_LINES: usize = 6;
const MOST_LETTERS: usize = 600;
/// Parts of names of variables and headers whose values are credentials.
const TELLING: [&str; 9] =
    ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSPHRASE", "CREDENTIAL", "AUTH", "HEADER", "COOKIE"];

/// Values that must not be shown.
#[derive(Clone, Default)]
pub(crate) struct Secrets(Vec<String>);

impl Secrets {
    /// Notes what is secret in a variable.
    pub(crate) fn note(&mut self, name: &str, value: &str) {
        let name = name.to_ascii_uppercase();
        if TELLING.iter().any(|part| name.contains(part)) {
            // Headers come as lines of a name and a value; either spelling may be repeated.
            let values = value.lines().filter_map(|line| line.split_once(": "));
            let values = values.map(|(_, value)| value).chain([value]);
            self.0.extend(values.flat_map(str::split_whitespace).map(str::to_owned));
        }
        let address = value.split_once("://").map(|(_, rest)| rest);
        let user = address.and_then(|rest| rest.split(['/', '?']).next()?.rsplit_once('@'));
        if let Some((user, _)) = user {
            self.0.extend(user.split(':').chain([user]).map(str::to_owned));
        }
    }

    /// Notes what is secret in the description of a server: variables and headers, at any depth.
    pub(crate) fn note_server(&mut self, server: &Value) {
        for (name, value) in server.as_object().into_iter().flatten() {
            match value {
                Value::String(text) => self.note(name, text),
                other => self.note_server(other),
            }
        }
    }

    fn redact(&self, text: &str) -> String {
        let mut secrets: Vec<&String> =
            self.0.iter().filter(|secret| secret.len() >= SHORTEST).collect();
        // One may be a part of another.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), REDACTED))
    }

    /// The last lines of what was said, without credentials.
    pub(crate) fn last_words(&self, said: &[u8]) -> String {
        let said = self.redact(&String::from_utf8_lossy(said));
        let lines: Vec<String> =
            said.lines().map(|line| visible(line.trim_end())).filter(|it| !it.is_empty()).collect();
        let lines = lines[lines.len().saturating_sub(MOST_LINES)..].join("\n");
        let surplus = lines.chars().count().saturating_sub(MOST_LETTERS);
        lines.chars().skip(surplus).collect()
    }
}

/// Says how many there are and never what they are.
impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Secrets({})", self.0.len())
    }
}

#[cfg(test)]
mod tests;
