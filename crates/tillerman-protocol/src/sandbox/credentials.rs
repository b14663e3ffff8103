//! The credentials that settings lend to confined commands.

use serde::Serialize;
use serde_json::{Map, Value};

use super::{SandboxSettingsError, Section, error};

/// A credential that confined commands use without seeing it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CredentialSettings {
    /// What people call it.
    pub name: String,
    /// The only hosts it is sent to, over HTTPS; one that is not at port 443 names its port.
    pub hosts: Vec<String>,
    /// Variables in which commands find what stands for it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub environment: Vec<String>,
    /// Where it comes from.
    pub from: CredentialFrom,
    /// The user whose password it is, for git and wherever else a name is needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub username: Option<String>,
}

/// Where a credential comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum CredentialFrom {
    /// A variable of this program's own environment.
    Environment(String),
    /// A file that only its owner can read; absolute, or below the home as `~/…`.
    File(String),
    /// A command that prints it.
    Command(String),
}

impl CredentialSettings {
    /// The variables that hold it or what stands for it; children get none of them from outside.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        let source = match &self.from {
            CredentialFrom::Environment(name) => Some(name),
            CredentialFrom::File(_) | CredentialFrom::Command(_) => None,
        };
        self.environment.iter().chain(source).map(String::as_str)
    }
}

/// Reads the list at `credentials`.
pub(super) fn read(section: &Section<'_>) -> Result<Vec<CredentialSettings>, SandboxSettingsError> {
    let Some(value) = section.get("credentials") else { return Ok(Vec::new()) };
    let list = value.as_array().ok_or_else(|| error(".credentials", "a list of objects"))?;
    let mut credentials: Vec<CredentialSettings> = Vec::new();
    for (index, value) in list.iter().enumerate() {
        let at = format!(".credentials[{index}]");
        let fields = value.as_object().ok_or_else(|| error(&at, "an object"))?;
        let credential = Entry { at: &at, fields }.read()?;
        if credentials.iter().any(|held| held.name == credential.name) {
            return Err(error(&format!("{at}.name"), "a name that no other credential has"));
        }
        credentials.push(credential);
    }
    Ok(credentials)
}

/// Lays a stronger list over a weaker one: of two credentials with one name the stronger holds.
pub(super) fn overlaid(
    mut below: Vec<CredentialSettings>,
    over: Vec<CredentialSettings>,
) -> Vec<CredentialSettings> {
    below.retain(|held| over.iter().all(|credential| credential.name != held.name));
    below.extend(over);
    below
}

/// One credential as it is written.
struct Entry<'a> {
    at: &'a str,
    fields: &'a Map<String, Value>,
}

impl Entry<'_> {
    fn read(&self) -> Result<CredentialSettings, SandboxSettingsError> {
        let name = self.text("name", "a name of letters, digits, dots, dashes and underscores")?;
        let name = name.filter(|name| is_name(name)).ok_or_else(|| {
            self.wrong("name", "a name of letters, digits, dots, dashes and underscores")
        })?;
        let hosts = self.list("hosts", HOSTS, is_host)?;
        if hosts.is_empty() {
            return Err(self.wrong("hosts", HOSTS));
        }
        let username = self.text("username", USERNAME)?;
        if username.as_deref().is_some_and(|name| !is_username(name)) {
            return Err(self.wrong("username", USERNAME));
        }
        let environment = self.list("environment", VARIABLES, is_variable)?;
        Ok(CredentialSettings { name, hosts, environment, from: self.from()?, username })
    }

    fn from(&self) -> Result<CredentialFrom, SandboxSettingsError> {
        let wrong = || self.wrong("from", FROM);
        let fields = self.fields.get("from").and_then(Value::as_object).ok_or_else(wrong)?;
        let mut fields = fields.iter();
        let (Some((kind, Value::String(value))), None) = (fields.next(), fields.next()) else {
            return Err(wrong());
        };
        match kind.as_str() {
            "environment" if is_variable(value) => Ok(CredentialFrom::Environment(value.clone())),
            "file" if value.starts_with("~/") || value.starts_with('/') => {
                Ok(CredentialFrom::File(value.clone()))
            }
            "command" if !value.trim().is_empty() => Ok(CredentialFrom::Command(value.clone())),
            _ => Err(wrong()),
        }
    }

    fn text(
        &self,
        key: &str,
        expected: &'static str,
    ) -> Result<Option<String>, SandboxSettingsError> {
        match self.fields.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(self.wrong(key, expected)),
        }
    }

    fn list(
        &self,
        key: &str,
        expected: &'static str,
        fits: fn(&str) -> bool,
    ) -> Result<Vec<String>, SandboxSettingsError> {
        let Some(value) = self.fields.get(key).filter(|value| !value.is_null()) else {
            return Ok(Vec::new());
        };
        let text = |value: &Value| value.as_str().filter(|text| fits(text)).map(str::to_owned);
        let texts = value.as_array().and_then(|list| list.iter().map(text).collect());
        texts.ok_or_else(|| self.wrong(key, expected))
    }

    fn wrong(&self, key: &str, expected: &'static str) -> SandboxSettingsError {
        error(&format!("{}.{key}", self.at), expected)
    }
}

const HOSTS: &str = "a list of hosts such as github.com or git.example.com:8443, at least one, \
                     without a scheme, a path or a *";
const VARIABLES: &str = "a list of names of environment variables";
const USERNAME: &str = "a name without a colon";
const FROM: &str = "an object with one of environment (the name of a variable), file (a path that \
                    begins with / or ~/) and command";

fn is_name(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    (1..=64).contains(&text.len()) && text.chars().all(plain)
}

fn is_host(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || ".-_:[]".contains(c);
    !text.is_empty() && text.chars().all(plain)
}

fn is_variable(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !text.is_empty() && !text.starts_with(|c: char| c.is_ascii_digit()) && text.chars().all(plain)
}

fn is_username(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_graphic() && c != ':')
}

#[cfg(test)]
mod tests;
