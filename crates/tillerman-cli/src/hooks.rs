//! Hooks of a session: those of the settings, and what runs them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tillerman_config::{Layers, Source};
use tillerman_engine::Beginning;
use tillerman_hooks::{Handlers, HookConfig};
use tillerman_models::openai::{ProviderKind, provider_for};
use tillerman_ports::Model;
use tillerman_protocol::catalog::Catalog;
use tillerman_runtime::HookSetup;

use crate::arguments::Arguments;
use crate::environment::Environment;
use crate::opening::Opened;

/// What hooks have to know about the session.
pub(crate) struct Surroundings<'a> {
    pub(crate) cwd: &'a Path,
    pub(crate) opened: &'a Opened,
    pub(crate) model: &'a Arc<dyn Model>,
    pub(crate) model_name: &'a str,
    pub(crate) catalog: &'a Catalog,
}

/// The hooks of a session.
pub(crate) fn hooks(
    arguments: &Arguments,
    environment: &Environment,
    layers: &Layers,
    around: &Surroundings<'_>,
) -> HookSetup {
    let written = layers.hooks(|source| is_trusted(arguments, source));
    let scratch_directory = scratch_directory(around.opened);
    let mut variables = environment.for_children();
    variables
        .extend(layers.variables().into_iter().map(|(name, value)| (name.into(), value.into())));
    let env_file = scratch_directory.join(format!("hook-variables-{}.sh", std::process::id()));
    let runner = Handlers::new(HookConfig {
        project_dir: around.cwd.to_path_buf(),
        environment: variables,
        scratch_directory,
        model: Arc::clone(around.model),
        small_model: small_model(environment, around),
        session: around.opened.id.to_string(),
        allowed_urls: written.allowed_urls,
        allowed_variables: written.allowed_variables,
    });
    HookSetup {
        runner: Some(Arc::new(runner)),
        sources: written.sources,
        beginning: beginning(arguments),
        show_events: arguments.format.copies.include_hook_events,
        end_budget: environment.millis("CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS"),
        env_file: Some(env_file),
        remarks: written.remarks,
    }
}

/// Settings that lie in a working copy may have come with it: they run something only when the
/// host names them.
fn is_trusted(arguments: &Arguments, source: Source) -> bool {
    let named = arguments.extension.setting_sources.as_deref().unwrap_or_default();
    let is_named = named.split(',').any(|name| Source::parse(name.trim()) == Some(source));
    is_named || matches!(source, Source::User | Source::Flag)
}

fn beginning(arguments: &Arguments) -> Beginning {
    let session = &arguments.session;
    let source = match (session.resume.is_some() || session.go_on, session.fork_session) {
        (true, true) => "fork",
        (true, false) => "resume",
        (false, _) => "startup",
    };
    let preparation = &arguments.extension.preparation;
    let setup = if preparation.maintenance {
        Some("maintenance".to_owned())
    } else {
        (preparation.init || preparation.init_only).then(|| "init".to_owned())
    };
    Beginning { source: source.to_owned(), setup }
}

fn scratch_directory(opened: &Opened) -> PathBuf {
    let transcript = opened.transcript.path();
    if transcript.is_empty() {
        std::env::temp_dir().join(format!("tillerman-{}", opened.id))
    } else {
        tillerman_store::tool_results_dir(Path::new(&transcript))
    }
}

/// The model that checks things: a small one where the provider has one.
fn small_model(environment: &Environment, around: &Surroundings<'_>) -> String {
    let base_url = environment.get("OPENAI_BASE_URL");
    let is_anthropic =
        provider_for(around.model_name, base_url.as_deref()) == ProviderKind::Anthropic;
    let small = environment.get("ANTHROPIC_SMALL_FAST_MODEL");
    match small {
        Some(name) => name,
        None if is_anthropic => around.catalog.resolve("haiku").to_owned(),
        None => around.model_name.to_owned(),
    }
}
