//! The `sandbox` section of settings: what confines shell commands.

use std::collections::BTreeMap;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

mod credentials;

pub use credentials::{CredentialFrom, CredentialSettings};

/// The `sandbox` section. What is not said is `None`, so that layers can be laid over each other.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SandboxSettings {
    /// Whether commands are confined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Whether a confined command needs no question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auto_allow_bash_if_sandboxed: Option<bool>,
    /// Commands that run outside, after the usual questions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub excluded_commands: Vec<String>,
    /// Whether the model may ask for a command to run outside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_unsandboxed_commands: Option<bool>,
    /// What the network is to commands.
    pub network: SandboxNetwork,
    /// What of the disk is to commands.
    pub filesystem: SandboxFilesystem,
    /// Violations nobody wants to hear about: a part of the command, `*`, `file` or `network`, and
    /// for each the texts a violation may contain.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub ignore_violations: BTreeMap<String, Vec<String>>,
    /// Credentials that commands use without seeing them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub credentials: Vec<CredentialSettings>,
}

/// What the network is to confined commands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SandboxNetwork {
    /// Domains that may be reached; `*.example.com` stands for everything below it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allowed_domains: Vec<String>,
    /// Domains that may not be reached whatever else is allowed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub denied_domains: Vec<String>,
    /// Whether commands may listen on local ports. Only macOS needs it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_local_binding: Option<bool>,
    /// Unix sockets that may be used.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allow_unix_sockets: Vec<String>,
    /// Whether every Unix socket may be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_all_unix_sockets: Option<bool>,
    /// The port of an HTTP proxy of the user's own, which then decides about domains.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http_proxy_port: Option<u16>,
    /// The port of a SOCKS proxy of the user's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub socks_proxy_port: Option<u16>,
}

/// What of the disk is to confined commands, besides the working directories.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SandboxFilesystem {
    /// Further directories that may be written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allow_write: Vec<String>,
    /// Paths that may not be written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deny_write: Vec<String>,
    /// Directories that may be read although something above them is hidden.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allow_read: Vec<String>,
    /// Paths that may not be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deny_read: Vec<String>,
}

/// A setting of the sandbox that cannot be understood. Ignoring it could weaken the confinement.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("sandbox{key} must be {expected}; nothing is run until it is corrected")]
pub struct SandboxSettingsError {
    /// The setting, with a dot before each name.
    pub key: String,
    /// What it should have been.
    pub expected: &'static str,
}

impl SandboxSettings {
    /// Reads the section. Unknown keys are ignored, known ones must have the right shape.
    ///
    /// # Errors
    /// When a known key has a value of the wrong kind.
    pub fn parse(value: &Value) -> Result<Self, SandboxSettingsError> {
        let section = Section::of("", value)?;
        let network = section.section("network")?;
        let filesystem = section.section("filesystem")?;
        let mut settings = Self {
            enabled: section.flag("enabled")?,
            auto_allow_bash_if_sandboxed: section.flag("autoAllowBashIfSandboxed")?,
            excluded_commands: section.texts("excludedCommands")?,
            allow_unsandboxed_commands: section.flag("allowUnsandboxedCommands")?,
            network: SandboxNetwork::read(&network)?,
            filesystem: SandboxFilesystem::read(&filesystem)?,
            ignore_violations: section.lists("ignoreViolations")?,
            credentials: credentials::read(&section)?,
        };
        // Older documents have it one level up, as a flag or as a list.
        match section.get("allowUnixSockets") {
            Some(Value::Bool(all)) => {
                settings.network.allow_all_unix_sockets.get_or_insert(*all);
            }
            Some(_) => {
                settings.network.allow_unix_sockets.extend(section.texts("allowUnixSockets")?);
            }
            None => {}
        }
        Ok(settings)
    }

    /// Lays a layer that counts more over this one: its answers win, lists add up.
    #[must_use]
    pub fn overlaid(mut self, over: Self) -> Self {
        self.enabled = over.enabled.or(self.enabled);
        self.auto_allow_bash_if_sandboxed =
            over.auto_allow_bash_if_sandboxed.or(self.auto_allow_bash_if_sandboxed);
        self.excluded_commands.extend(over.excluded_commands);
        self.allow_unsandboxed_commands =
            over.allow_unsandboxed_commands.or(self.allow_unsandboxed_commands);
        self.network = self.network.overlaid(over.network);
        self.filesystem = self.filesystem.overlaid(over.filesystem);
        for (pattern, texts) in over.ignore_violations {
            self.ignore_violations.entry(pattern).or_default().extend(texts);
        }
        self.credentials = credentials::overlaid(self.credentials, over.credentials);
        self
    }

    /// What a layer that may only tighten can say.
    #[must_use]
    pub fn tightening(self) -> Self {
        Self {
            enabled: self.enabled.filter(|enabled| *enabled),
            auto_allow_bash_if_sandboxed: self.auto_allow_bash_if_sandboxed.filter(|auto| !auto),
            allow_unsandboxed_commands: self.allow_unsandboxed_commands.filter(|allow| !allow),
            network: SandboxNetwork {
                denied_domains: self.network.denied_domains,
                ..SandboxNetwork::default()
            },
            filesystem: SandboxFilesystem {
                deny_write: self.filesystem.deny_write,
                deny_read: self.filesystem.deny_read,
                ..SandboxFilesystem::default()
            },
            ..Self::default()
        }
    }

    /// Whether commands are confined; they are not unless somebody says so.
    #[must_use]
    pub fn is_enabled(&self) -> bool {
        self.enabled.unwrap_or(false)
    }

    /// Whether a confined command needs no question.
    #[must_use]
    pub fn auto_allows(&self) -> bool {
        self.is_enabled() && self.auto_allow_bash_if_sandboxed.unwrap_or(true)
    }

    /// Whether the model may ask the approver to run a command outside.
    #[must_use]
    pub fn allows_unsandboxed(&self) -> bool {
        self.allow_unsandboxed_commands.unwrap_or(true)
    }

    /// Whether a command runs outside: every one of its parts must be excluded.
    pub fn excludes<'a>(&self, parts: impl IntoIterator<Item = &'a str>) -> bool {
        let excluded =
            |part: &str| self.excluded_commands.iter().any(|pattern| matches(pattern, part));
        let mut parts = parts.into_iter().peekable();
        parts.peek().is_some() && parts.all(excluded)
    }

    /// Whether nobody wants to hear of a violation; `kind` is `file` or `network`.
    #[must_use]
    pub fn ignores(&self, kind: &str, command: &str, violation: &str) -> bool {
        self.ignore_violations.iter().any(|(pattern, texts)| {
            let concerns = pattern == "*" || pattern == kind || command.contains(pattern.as_str());
            concerns && texts.iter().any(|text| violation.contains(text.as_str()))
        })
    }
}

impl SandboxNetwork {
    fn read(section: &Section<'_>) -> Result<Self, SandboxSettingsError> {
        Ok(Self {
            allowed_domains: section.texts("allowedDomains")?,
            denied_domains: section.texts("deniedDomains")?,
            allow_local_binding: section.flag("allowLocalBinding")?,
            allow_unix_sockets: section.texts("allowUnixSockets")?,
            allow_all_unix_sockets: section.flag("allowAllUnixSockets")?,
            http_proxy_port: section.port("httpProxyPort")?,
            socks_proxy_port: section.port("socksProxyPort")?,
        })
    }

    fn overlaid(mut self, over: Self) -> Self {
        self.allowed_domains.extend(over.allowed_domains);
        self.denied_domains.extend(over.denied_domains);
        self.allow_unix_sockets.extend(over.allow_unix_sockets);
        Self {
            allow_local_binding: over.allow_local_binding.or(self.allow_local_binding),
            allow_all_unix_sockets: over.allow_all_unix_sockets.or(self.allow_all_unix_sockets),
            http_proxy_port: over.http_proxy_port.or(self.http_proxy_port),
            socks_proxy_port: over.socks_proxy_port.or(self.socks_proxy_port),
            ..self
        }
    }
}

impl SandboxFilesystem {
    fn read(section: &Section<'_>) -> Result<Self, SandboxSettingsError> {
        Ok(Self {
            allow_write: section.texts("allowWrite")?,
            deny_write: section.texts("denyWrite")?,
            allow_read: section.texts("allowRead")?,
            deny_read: section.texts("denyRead")?,
        })
    }

    fn overlaid(mut self, over: Self) -> Self {
        self.allow_write.extend(over.allow_write);
        self.deny_write.extend(over.deny_write);
        self.allow_read.extend(over.allow_read);
        self.deny_read.extend(over.deny_read);
        self
    }
}

impl<'de> Deserialize<'de> for SandboxSettings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&Value::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// One object of the section, with its name for errors.
struct Section<'a> {
    name: String,
    fields: Option<&'a Map<String, Value>>,
}

impl<'a> Section<'a> {
    fn of(name: &str, value: &'a Value) -> Result<Self, SandboxSettingsError> {
        let fields = match value {
            Value::Null => None,
            Value::Object(fields) => Some(fields),
            _ => return Err(error(name, "an object")),
        };
        Ok(Self { name: name.to_owned(), fields })
    }

    fn get(&self, key: &str) -> Option<&'a Value> {
        self.fields.and_then(|fields| fields.get(key)).filter(|value| !value.is_null())
    }

    fn path(&self, key: &str) -> String {
        format!("{}.{key}", self.name)
    }

    fn section(&self, key: &str) -> Result<Self, SandboxSettingsError> {
        Self::of(&self.path(key), self.get(key).unwrap_or(&Value::Null))
    }

    fn flag(&self, key: &str) -> Result<Option<bool>, SandboxSettingsError> {
        let Some(value) = self.get(key) else { return Ok(None) };
        value.as_bool().map(Some).ok_or_else(|| error(&self.path(key), "true or false"))
    }

    fn port(&self, key: &str) -> Result<Option<u16>, SandboxSettingsError> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let port =
            value.as_u64().and_then(|port| u16::try_from(port).ok()).filter(|port| *port > 0);
        port.map(Some).ok_or_else(|| error(&self.path(key), "a port from 1 to 65535"))
    }

    fn texts(&self, key: &str) -> Result<Vec<String>, SandboxSettingsError> {
        self.get(key).map_or_else(|| Ok(Vec::new()), |value| texts(value, &self.path(key)))
    }

    fn lists(&self, key: &str) -> Result<BTreeMap<String, Vec<String>>, SandboxSettingsError> {
        let section = self.section(key)?;
        let Some(fields) = section.fields else { return Ok(BTreeMap::new()) };
        let list = |(name, value): (&String, &Value)| {
            Ok((name.clone(), texts(value, &section.path(name))?))
        };
        fields.iter().map(list).collect()
    }
}

fn texts(value: &Value, key: &str) -> Result<Vec<String>, SandboxSettingsError> {
    let list = value.as_array().and_then(|list| {
        list.iter().map(|entry| entry.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>()
    });
    list.ok_or_else(|| error(key, "a list of texts"))
}

fn error(key: &str, expected: &'static str) -> SandboxSettingsError {
    SandboxSettingsError { key: key.to_owned(), expected }
}

/// Whether a pattern such as `docker`, `npm run *` or `git push:*` covers a simple command.
fn matches(pattern: &str, command: &str) -> bool {
    let (pattern, command) = (pattern.trim(), command.trim());
    let begins = |start: &str| {
        let rest = command.strip_prefix(start);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
    };
    if let Some(start) = pattern.strip_suffix(":*").or_else(|| pattern.strip_suffix(" *")) {
        return !start.is_empty() && begins(start);
    }
    !pattern.is_empty() && begins(pattern)
}

#[cfg(test)]
mod tests;
