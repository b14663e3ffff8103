//! Settings as hosts and people are told of them.

use serde_json::{Map, Value, json};

use crate::layers::Layers;
use crate::merge::Merged;
use crate::trust::TrustState;
use crate::variables::is_secret;

const HIDDEN: &str = "(hidden)";

impl Layers {
    /// The settings as `get_settings` tells them: everything in one, each source as it was
    /// written, and what could not be used. Values that are likely secrets are hidden.
    #[must_use]
    pub fn describe(&self) -> Value {
        let merged = self.merged();
        let sources: Vec<Value> = self
            .layers
            .iter()
            .map(|layer| {
                let mut told = json!({"source": layer.source.name(), "settings": without_secrets(&layer.said)});
                if let Some(path) = &layer.path {
                    told["path"] = json!(path);
                }
                told
            })
            .collect();
        let errors: Vec<Value> = self
            .errors
            .iter()
            .map(|error| {
                let mut told = json!({"file": error.origin(), "path": error.key(), "message": error.to_string()});
                if let Some(spot) = error.spot() {
                    told["line"] = json!(spot.line);
                    told["column"] = json!(spot.column);
                }
                told
            })
            .collect();
        let left_out: Vec<Value> = self
            .left_out
            .iter()
            .map(|it| json!({"source": it.source.name(), "path": it.key}))
            .collect();
        json!({
            "effective": without_secrets(&merged.value),
            "provenance": provenance(&merged),
            "sources": sources,
            "errors": errors,
            "leftOut": left_out,
        })
    }

    /// What to tell the user about parts of the repository's settings that take no effect.
    #[must_use]
    pub fn notice(&self) -> Option<String> {
        if self.left_out.is_empty() {
            return self.held_notice();
        }
        let why = match &self.standing.trust {
            // Only what no repository may do is left out of one that is trusted.
            TrustState::Trusted => "no repository may set them".to_owned(),
            TrustState::Untrusted { why } => why.clone(),
            TrustState::Changed { files } => {
                format!("changed since you trusted this directory: {}", listed(files))
            }
        };
        let parts: Vec<String> = self.left_out.iter().map(ToString::to_string).collect();
        let next = match self.standing.trust {
            TrustState::Trusted => "Set them in your own settings if you want them.",
            TrustState::Untrusted { .. } | TrustState::Changed { .. } => {
                "Look at them, then run `tillerman trust` in this directory to let them take effect."
            }
        };
        Some(format!(
            "Settings of this repository were left out ({why}): {}. {next}",
            listed(&parts)
        ))
    }

    fn held_notice(&self) -> Option<String> {
        let files: Vec<String> = self.held.iter().map(|path| path.display().to_string()).collect();
        (!files.is_empty()).then(|| {
            format!(
                "Settings of this repository changed while the session runs: {}. What they refuse \
                 or ask about holds, the rest was left out. Run `tillerman trust` in this \
                 directory to let it take effect.",
                listed(&files)
            )
        })
    }
}

impl Merged {
    /// The settings with values that are likely secrets hidden.
    #[must_use]
    pub fn shown(&self) -> Value {
        without_secrets(&self.value)
    }
}

/// Which source each key came from; the strongest where several have a part in it.
fn provenance(merged: &Merged) -> Map<String, Value> {
    let mut told: Map<String, Value> = Map::new();
    for name in merged.value.keys() {
        let start = format!("/{}", crate::spots::escaped(name));
        let of_key = merged
            .origins
            .iter()
            .filter(|(pointer, _)| **pointer == start || pointer.starts_with(&format!("{start}/")));
        if let Some((_, origin)) = of_key.max_by_key(|(_, origin)| origin.source) {
            told.insert(name.clone(), json!({"source": origin.source.name()}));
        }
    }
    told
}

fn without_secrets(settings: &Map<String, Value>) -> Value {
    let mut shown = settings.clone();
    if let Some(Value::Object(variables)) = shown.get_mut("env") {
        for (name, value) in variables.iter_mut() {
            if is_secret(name) {
                *value = json!(HIDDEN);
            }
        }
    }
    Value::Object(shown)
}

/// A list for people, cut where nobody would read on.
fn listed(names: &[String]) -> String {
    const MOST: usize = 12;
    let mut text = names.iter().take(MOST).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > MOST {
        text.push_str(&format!(" and {} more", names.len() - MOST));
    }
    text
}
