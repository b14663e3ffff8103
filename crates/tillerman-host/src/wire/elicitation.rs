//! Questions of MCP servers to people: forms to fill in and pages to open.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What an MCP server wants from a person.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Elicitation {
    /// The server that asks, by the name under which it is configured.
    pub server: String,
    /// What it says.
    pub message: String,
    /// The fields to fill in; a page to open has none.
    pub fields: Vec<FormField>,
    /// The page to open; forms have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Why it can only be declined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// One field of a form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FormField {
    /// Its name in the answer.
    pub name: String,
    /// Its name for people.
    pub label: String,
    /// More about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether there is no answer without it.
    pub required: bool,
    /// What it holds when nobody changes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// What it holds.
    pub kind: FieldKind,
}

/// What a field holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum FieldKind {
    /// A text.
    Text {
        /// What kind of text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        format: Option<TextFormat>,
        /// Characters it has at least.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        min_length: Option<u64>,
        /// Characters it has at most.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max_length: Option<u64>,
    },
    /// A number.
    Number {
        /// Whether it has no fraction.
        whole: bool,
        /// The smallest.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        minimum: Option<f64>,
        /// The largest.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        maximum: Option<f64>,
    },
    /// Yes or no.
    Flag,
    /// One of several.
    Choice {
        /// What there is to choose from.
        choices: Vec<FieldChoice>,
    },
    /// Some of several.
    Choices {
        /// What there is to choose from.
        choices: Vec<FieldChoice>,
        /// How many at least.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        min_items: Option<u64>,
        /// How many at most.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max_items: Option<u64>,
    },
}

/// What kind of text a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TextFormat {
    /// An address of mail.
    Email,
    /// An address such as `https://example.com/`.
    Uri,
    /// A day, such as `2026-11-15`.
    Date,
    /// A moment, such as `2026-11-15T12:00:00Z`.
    DateTime,
}

/// Something to choose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FieldChoice {
    /// What the answer says.
    pub value: String,
    /// Its name for people.
    pub label: String,
}
