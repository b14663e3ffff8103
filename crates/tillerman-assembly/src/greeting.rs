//! What a host is told about models and commands before anything is asked.

use serde_json::{Map, Value, json};
use tillerman_models::abilities::abilities;
use tillerman_models::catalog;
use tillerman_ports::Contents;
use tillerman_protocol::catalog::Catalog;

use crate::engine_setup::PROTOCOL_LEVEL;
use crate::environment::Environment;

/// The models that are known, with the aliases as the environment wants them.
pub(crate) fn catalog_with_overrides(environment: &Environment) -> Catalog {
    let mut catalog = catalog::catalog();
    for (alias, model) in &mut catalog.aliases {
        let variable = format!("ANTHROPIC_DEFAULT_{}_MODEL", alias.to_uppercase());
        if let Some(chosen) = environment.get(&variable) {
            *model = chosen;
        }
    }
    catalog
}

/// What `initialize` is answered with, beside what changes while a session runs.
pub(crate) fn greeting(catalog: &Catalog, source: &str, contents: &Contents) -> Map<String, Value> {
    let models: Vec<Value> = catalog
        .aliases
        .iter()
        .filter_map(|(alias, id)| {
            let profile = catalog.profile(id)?;
            let abilities = abilities(id);
            Some(json!({
                "value": alias,
                "resolvedModel": id,
                "displayName": profile.display_name,
                "description": profile.description,
                "supportsEffort": !abilities.efforts.is_empty(),
                "supportedEffortLevels": abilities.efforts,
                "supportsAdaptiveThinking": abilities.thinks_adaptively,
            }))
        })
        .collect();
    let (token, key) = if source.contains("TOKEN") { (source, "none") } else { ("none", source) };
    let answer = json!({
        "models": models,
        "account": {"tokenSource": token, "apiKeySource": key, "apiProvider": "firstParty"},
        "pid": std::process::id(),
        "claude_code_version": PROTOCOL_LEVEL,
        "tillerman_version": env!("CARGO_PKG_VERSION"),
        "hook_on_failure_supported": true,
        "hooks_applied": true,
        "capabilities": [],
    });
    let mut answer = answer.as_object().cloned().unwrap_or_default();
    answer.extend(contents.greeting.clone());
    answer
}
