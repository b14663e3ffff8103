//! Hooks of the settings: which layers may run some, and which may switch them off.

use serde_json::Value;
use tillerman_protocol::hook::{HookScope, HookSection, HookSource};

use crate::layers::{Layer, Layers, Source};

/// The hooks of all layers.
#[derive(Debug, Default)]
pub struct HookLayers {
    /// Those that may run, weakest layer first.
    pub sources: Vec<HookSource>,
    /// What people should know about the others.
    pub remarks: Vec<String>,
    /// Patterns of web addresses that hooks may tell; nothing means all.
    pub allowed_urls: Option<Vec<String>>,
    /// Variables that headers of hooks may hold; nothing means those their hooks name.
    pub allowed_variables: Option<Vec<String>>,
}

impl Layers {
    /// The hooks of the layers that are trusted. Whoever is not trusted can neither run hooks nor
    /// switch off those of others.
    #[must_use]
    pub fn hooks(&self, is_trusted: impl Fn(Source) -> bool) -> HookLayers {
        let mut hooks = HookLayers::default();
        let trusted = || self.layers().iter().filter(|layer| is_trusted(layer.source));
        let switch = trusted().rev().filter(|layer| layer.source != Source::Project);
        let mut switch = switch.filter_map(|layer| layer.settings.disable_all_hooks);
        let all_off = switch.next() == Some(true);
        for layer in self.layers() {
            let Some(section) = &layer.settings.hooks else { continue };
            let is_off = all_off || layer.settings.disable_all_hooks == Some(true);
            let section = HookSection::read(section);
            if is_off || section.is_empty() {
                continue;
            }
            let origin = origin(layer.source).to_owned();
            if !is_trusted(layer.source) {
                hooks.remarks.push(format!(
                    "The hooks of {origin} were not run, because nobody has said that they are to \
                     be trusted. Name the source in --setting-sources if they are."
                ));
                continue;
            }
            let (scope, variables) = (HookScope::Settings, Vec::new());
            hooks.sources.push(HookSource { origin, scope, section, variables });
        }
        // A project may not widen what the user allows.
        let own: Vec<&Layer> = trusted().filter(|it| it.source != Source::Project).collect();
        hooks.allowed_urls = list(&own, "allowedHttpHookUrls");
        hooks.allowed_variables = list(&own, "httpHookAllowedEnvVars");
        hooks
    }
}

const fn origin(source: Source) -> &'static str {
    match source {
        Source::User => "the user's settings",
        Source::Project => "the project's settings",
        Source::Local => "the project's local settings",
        Source::Flag => "--settings",
    }
}

/// A list of texts out of all layers together; nothing when none has it.
fn list(layers: &[&Layer], key: &str) -> Option<Vec<String>> {
    let lists = layers.iter().filter_map(|layer| layer.settings.extra.get(key));
    let lists: Vec<&Value> = lists.filter(|value| value.is_array()).collect();
    if lists.is_empty() {
        return None;
    }
    let texts = lists.into_iter().filter_map(Value::as_array).flatten();
    Some(texts.filter_map(|text| text.as_str().map(str::to_owned)).collect())
}
