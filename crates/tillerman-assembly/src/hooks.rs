//! Hooks of a session: those of the settings, and what runs them.

use std::path::Path;
use std::sync::Arc;

use tillerman_config::Layers;
use tillerman_config::extensions::Plugin;
use tillerman_engine::Beginning;
use tillerman_hooks::{Handlers, HookConfig};
use tillerman_models::openai::{ProviderKind, provider_for};
use tillerman_ports::Model;
use tillerman_protocol::catalog::Catalog;
use tillerman_protocol::hook::{HookScope, HookSection, HookSource};
use tillerman_runtime::HookSetup;

use crate::environment::Environment;
use crate::opening::Opened;
use crate::order::{Preparation, SessionOrder};
use crate::toolbox;

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
    order: &SessionOrder,
    environment: &Environment,
    layers: &Layers,
    around: &Surroundings<'_>,
    plugins: &[Plugin],
) -> HookSetup {
    let mut written = layers.hooks();
    written.sources.extend(plugins.iter().filter_map(of_plugin));
    let scratch_directory = toolbox::scratch_directory(environment, around.opened);
    let env_file = scratch_directory.join(format!("hook-variables-{}.sh", std::process::id()));
    let runner = Handlers::new(HookConfig {
        project_dir: around.cwd.to_path_buf(),
        environment: toolbox::variables(order, environment, layers),
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
        beginning: beginning(order),
        show_events: order.frames.hook_events,
        end_budget: environment.millis("CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS"),
        env_file: Some(env_file),
        remarks: Vec::new(),
    }
}

/// The hooks that a plugin brings.
fn of_plugin(plugin: &Plugin) -> Option<HookSource> {
    let section = HookSection::read(&plugin.hooks);
    let root = plugin.root.display().to_string();
    (!section.is_empty()).then(|| HookSource {
        origin: format!("the plugin {}", plugin.name),
        scope: HookScope::Plugin,
        section,
        variables: vec![("CLAUDE_PLUGIN_ROOT".to_owned(), root)],
    })
}

fn beginning(order: &SessionOrder) -> Beginning {
    let session = &order.session;
    let source = match (session.resume.is_some(), session.fork) {
        (true, true) => "fork",
        (true, false) => "resume",
        (false, _) => "startup",
    };
    let setup = order.extension.preparation.map(|preparation| match preparation {
        Preparation::Init => "init".to_owned(),
        Preparation::Maintenance => "maintenance".to_owned(),
    });
    Beginning { source: source.to_owned(), setup }
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
