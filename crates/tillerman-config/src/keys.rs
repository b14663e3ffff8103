//! The keys of settings that this system knows: their shapes, and what a repository may do with them.

use serde_json::Value;

/// What a value must look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A text.
    Text,
    /// `true` or `false`.
    Flag,
    /// A whole number from 1 on.
    Days,
    /// A list of texts.
    Texts,
    /// A text or a list of texts.
    OneOrMoreTexts,
    /// A list.
    List,
    /// An object.
    Object,
    /// An object whose values are texts, numbers or truth values.
    Variables,
    /// A permission mode.
    Mode,
    /// Whatever its reader makes of it.
    Anything,
}

impl Shape {
    /// Whether a value looks like this.
    pub(crate) fn fits(self, value: &Value) -> bool {
        let is_texts = |value: &Value| {
            value.as_array().is_some_and(|items| items.iter().all(Value::is_string))
        };
        match self {
            Self::Text => value.is_string(),
            Self::Flag => value.is_boolean(),
            Self::Days => {
                value.as_u64().is_some_and(|days| (1..=u64::from(u32::MAX)).contains(&days))
            }
            Self::Texts => is_texts(value),
            Self::OneOrMoreTexts => value.is_string() || is_texts(value),
            Self::List => value.is_array(),
            Self::Object => value.is_object(),
            Self::Variables => value.as_object().is_some_and(|entries| {
                entries.values().all(|it| it.is_string() || it.is_number() || it.is_boolean())
            }),
            Self::Mode => serde_json::from_value::<tillerman_protocol::permission::PermissionMode>(
                value.clone(),
            )
            .is_ok(),
            Self::Anything => true,
        }
    }

    /// The shape in words.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Text => "a text",
            Self::Flag => "true or false",
            Self::Days => "a number of days, 1 or more",
            Self::Texts => "a list of texts",
            Self::OneOrMoreTexts => "a text or a list of texts",
            Self::List => "a list",
            Self::Object => "an object",
            Self::Variables => "an object of texts, numbers and truth values",
            Self::Mode => "one of default, acceptEdits, plan, bypassPermissions, dontAsk and auto",
            Self::Anything => "anything",
        }
    }
}

/// What it takes for a key of a repository's settings to take effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    /// Nothing: it cannot do harm.
    Nothing,
    /// That the user trusts the repository or the host named the source: it runs things.
    Consent,
    /// That the user trusts the repository: it loosens what protects the user.
    Trust,
    /// It is taken apart: some of it always holds.
    Parts,
}

/// A known key.
#[derive(Debug)]
pub(crate) struct Key {
    /// Its name.
    pub(crate) name: &'static str,
    /// What it must look like.
    pub(crate) shape: Shape,
    /// What a repository needs to use it.
    pub(crate) needs: Needs,
}

const fn key(name: &'static str, shape: Shape, needs: Needs) -> Key {
    Key { name, shape, needs }
}

/// All known keys. One that is missing here is kept, shown, and acted upon by nobody.
const KEYS: &[Key] = &[
    key("$schema", Shape::Anything, Needs::Nothing),
    key("model", Shape::Text, Needs::Parts),
    key("fallbackModel", Shape::OneOrMoreTexts, Needs::Parts),
    key("availableModels", Shape::Texts, Needs::Trust),
    key("effortLevel", Shape::Text, Needs::Nothing),
    key("outputStyle", Shape::Text, Needs::Nothing),
    key("language", Shape::Text, Needs::Nothing),
    key("includeCoAuthoredBy", Shape::Flag, Needs::Nothing),
    key("attribution", Shape::Anything, Needs::Nothing),
    key("alwaysThinkingEnabled", Shape::Flag, Needs::Nothing),
    key("claudeMdExcludes", Shape::Texts, Needs::Nothing),
    key("disabledMcpjsonServers", Shape::Texts, Needs::Nothing),
    key("deniedMcpServers", Shape::List, Needs::Nothing),
    key("respectGitignore", Shape::Flag, Needs::Nothing),
    key("companyAnnouncements", Shape::Texts, Needs::Nothing),
    key("permissions", Shape::Object, Needs::Parts),
    key("env", Shape::Variables, Needs::Parts),
    key("sandbox", Shape::Anything, Needs::Parts),
    key("hooks", Shape::Object, Needs::Consent),
    key("statusLine", Shape::Anything, Needs::Consent),
    key("subagentStatusLine", Shape::Anything, Needs::Consent),
    key("fileSuggestion", Shape::Anything, Needs::Consent),
    key("agent", Shape::Text, Needs::Consent),
    key("enabledPlugins", Shape::Object, Needs::Consent),
    key("extraKnownMarketplaces", Shape::Object, Needs::Consent),
    key("pluginConfigs", Shape::Object, Needs::Consent),
    key("mcpServers", Shape::Object, Needs::Consent),
    key("skillOverrides", Shape::Object, Needs::Consent),
    key("plansDirectory", Shape::Text, Needs::Consent),
    key("apiKeyHelper", Shape::Text, Needs::Trust),
    key("awsAuthRefresh", Shape::Text, Needs::Trust),
    key("awsCredentialExport", Shape::Text, Needs::Trust),
    key("gcpAuthRefresh", Shape::Text, Needs::Trust),
    key("otelHeadersHelper", Shape::Text, Needs::Trust),
    key("proxyAuthHelper", Shape::Text, Needs::Trust),
    key("enableAllProjectMcpServers", Shape::Flag, Needs::Trust),
    key("enabledMcpjsonServers", Shape::Texts, Needs::Trust),
    key("allowedMcpServers", Shape::List, Needs::Trust),
    key("disableAllHooks", Shape::Flag, Needs::Trust),
    key("allowedHttpHookUrls", Shape::Texts, Needs::Trust),
    key("httpHookAllowedEnvVars", Shape::Texts, Needs::Trust),
    key("cleanupPeriodDays", Shape::Days, Needs::Trust),
    key("additionalDirectories", Shape::Texts, Needs::Trust),
    key("autoMode", Shape::Anything, Needs::Trust),
    key("autoMemoryDirectory", Shape::Text, Needs::Trust),
    key("skipDangerousModePermissionPrompt", Shape::Flag, Needs::Trust),
    key("skipWebFetchPreflight", Shape::Flag, Needs::Trust),
    key("modelOverrides", Shape::Object, Needs::Trust),
    key("allowManagedPermissionRulesOnly", Shape::Flag, Needs::Trust),
    key("allowManagedHooksOnly", Shape::Flag, Needs::Trust),
    key("allowManagedMcpServersOnly", Shape::Flag, Needs::Trust),
];

/// The keys of `permissions`, with what a repository needs to use each.
const PERMISSION_KEYS: &[Key] = &[
    key("deny", Shape::Texts, Needs::Nothing),
    key("ask", Shape::Texts, Needs::Nothing),
    key("disableBypassPermissionsMode", Shape::Text, Needs::Nothing),
    key("disableAutoMode", Shape::Text, Needs::Nothing),
    key("defaultMode", Shape::Mode, Needs::Parts),
    key("allow", Shape::Texts, Needs::Trust),
    key("additionalDirectories", Shape::Texts, Needs::Trust),
    key("skipDangerousModePermissionPrompt", Shape::Flag, Needs::Trust),
];

/// A known key of settings.
pub(crate) fn of(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

/// A known key of `permissions`.
pub(crate) fn of_permissions(name: &str) -> Option<&'static Key> {
    PERMISSION_KEYS.iter().find(|key| key.name == name)
}
