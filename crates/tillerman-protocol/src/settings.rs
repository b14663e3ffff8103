//! Settings files: the keys that this system acts on; unknown keys are kept and ignored.

use std::collections::BTreeMap;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::permission::PermissionMode;
use crate::sandbox::{SandboxSettings, SandboxSettingsError};

/// One settings file or `--settings` argument.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Settings {
    /// Permission rules, mode and directories.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permissions: Option<PermissionSettings>,
    /// Hooks by event name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hooks: Option<BTreeMap<String, Value>>,
    /// Variables for tools; numbers and truth values are read as text.
    #[serde(default, deserialize_with = "texts", skip_serializing_if = "Option::is_none")]
    pub env: Option<BTreeMap<String, String>>,
    /// The model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The output style.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_style: Option<String>,
    /// The sandbox as it was written; [`Settings::sandbox_settings`] reads it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<Value>,
    /// A command that prints the API key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_key_helper: Option<String>,
    /// Days after which old transcripts are removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cleanup_period_days: Option<u32>,
    /// Turns all hooks off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disable_all_hooks: Option<bool>,
    /// Models to try when the model fails, in order; a text counts as a list of one.
    #[serde(default, deserialize_with = "one_or_more", skip_serializing_if = "Vec::is_empty")]
    pub fallback_model: Vec<String>,
    /// The models that may be chosen; nothing said means all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub available_models: Option<Vec<String>>,
    /// How hard the model should try.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort_level: Option<String>,
    /// Whether commits name the agent as a co-author.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_co_authored_by: Option<bool>,
    /// Instruction files that are not read, as patterns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claude_md_excludes: Vec<String>,
    /// Which MCP servers may be used.
    #[serde(flatten)]
    pub mcp: McpSettings,
    /// Everything else, as it came.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Which MCP servers may be used.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct McpSettings {
    /// Approves every server of the project's `.mcp.json`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enable_all_project_mcp_servers: Option<bool>,
    /// Servers of the project's `.mcp.json` that are approved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub enabled_mcpjson_servers: Vec<String>,
    /// Servers of the project's `.mcp.json` that are refused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disabled_mcpjson_servers: Vec<String>,
    /// The only servers that may be used, as entries with a name, command or address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed_mcp_servers: Option<Vec<Value>>,
    /// Servers that may not be used, as entries with a name, command or address.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub denied_mcp_servers: Vec<Value>,
}

/// Permission rules, mode and directories.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PermissionSettings {
    /// Calls that are approved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<String>,
    /// Calls that are refused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<String>,
    /// Calls that are asked about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ask: Vec<String>,
    /// The mode a session starts in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_mode: Option<PermissionMode>,
    /// Directories beside the working directory.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub additional_directories: Vec<String>,
    /// Everything else, as it came.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl Settings {
    /// The sandbox section with its types, if there is one. It is read apart from the rest, so that
    /// an error in it neither hides the other settings nor goes unnoticed.
    ///
    /// # Errors
    /// When a known key has a value of the wrong kind.
    pub fn sandbox_settings(&self) -> Result<Option<SandboxSettings>, SandboxSettingsError> {
        self.sandbox.as_ref().map(SandboxSettings::parse).transpose()
    }
}

fn texts<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<BTreeMap<String, String>>, D::Error> {
    let Some(values) = Option::<BTreeMap<String, Value>>::deserialize(deserializer)? else {
        return Ok(None);
    };
    let text = |(name, value): (String, Value)| match value {
        Value::String(text) => Ok((name, text)),
        Value::Number(_) | Value::Bool(_) => Ok((name, value.to_string())),
        Value::Null | Value::Array(_) | Value::Object(_) => {
            Err(D::Error::custom(format!("the value of the variable {name} is not a text")))
        }
    };
    values.into_iter().map(text).collect::<Result<_, _>>().map(Some)
}

/// Reads a text as a list of one.
fn one_or_more<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Null => Ok(Vec::new()),
        Value::String(text) => Ok(vec![text]),
        Value::Array(items) => {
            let text = |item: Value| match item {
                Value::String(text) => Ok(text),
                other => Err(D::Error::custom(format!("{other} is not a text"))),
            };
            items.into_iter().map(text).collect()
        }
        other => Err(D::Error::custom(format!("{other} is neither a text nor a list of texts"))),
    }
}
