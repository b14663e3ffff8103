//! Hooks of the settings: those that take effect, and what bounds them.

use serde_json::Value;
use tillerman_protocol::hook::{HookScope, HookSection, HookSource};

use crate::layers::{Layer, Layers};
use crate::source::Source;

/// The hooks of all layers.
#[derive(Debug, Default)]
pub struct HookLayers {
    /// Those that take effect, weakest layer first.
    pub sources: Vec<HookSource>,
    /// Patterns of web addresses that hooks may tell; nothing means all.
    pub allowed_urls: Option<Vec<String>>,
    /// Variables that headers of hooks may hold; nothing means those their hooks name.
    pub allowed_variables: Option<Vec<String>>,
}

impl Layers {
    /// The hooks that take effect. A repository that nobody trusts has none, and switches none off
    /// but its own.
    #[must_use]
    pub fn hooks(&self) -> HookLayers {
        let switch = self.layers.iter().rev().filter(|layer| self.standing.loosens(layer.source));
        let switched = switch.filter_map(|layer| layer.settings.disable_all_hooks).next();
        let managed_only =
            self.administrators_say("allowManagedHooksOnly") || switched == Some(true);
        let all_off = self.administrators_say("disableAllHooks");
        let holds = |layer: &&Layer| {
            !all_off
                && (!managed_only || layer.source == Source::Managed)
                && layer.settings.disable_all_hooks != Some(true)
        };
        let source = |layer: &Layer| {
            let section = HookSection::read(layer.settings.hooks.as_ref()?);
            let origin = origin(layer.source).to_owned();
            let (scope, variables) = (HookScope::Settings, Vec::new());
            (!section.is_empty()).then_some(HookSource { origin, scope, section, variables })
        };
        HookLayers {
            sources: self.layers.iter().filter(holds).filter_map(source).collect(),
            allowed_urls: self.bound("allowedHttpHookUrls"),
            allowed_variables: self.bound("httpHookAllowedEnvVars"),
        }
    }

    /// A list out of all layers that may loosen; nothing when none has it.
    fn bound(&self, key: &str) -> Option<Vec<String>> {
        let layers = self.layers.iter().filter(|layer| self.standing.loosens(layer.source));
        let lists = layers.filter_map(|layer| layer.in_effect.get(key).and_then(Value::as_array));
        let lists: Vec<&Vec<Value>> = lists.collect();
        let texts = lists.iter().flat_map(|list| list.iter().filter_map(Value::as_str));
        (!lists.is_empty()).then(|| texts.map(str::to_owned).collect())
    }
}

const fn origin(source: Source) -> &'static str {
    match source {
        Source::User => "the user's settings",
        Source::Project => "the project's settings",
        Source::Local => "the project's local settings",
        Source::Flag => "--settings",
        Source::Managed => "the managed settings",
    }
}
