//! From command line and environment to a session that can run.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;
use tillerman_config::{Layers, Places, Source, read_argument};
use tillerman_models::catalog::DEFAULT_MODEL;
use tillerman_models::openai::{ProviderKind, provider_for};
use tillerman_models::rehearsal::RehearsalNote;
use tillerman_policy::{Policy, split_rules};
use tillerman_ports::{Clock as _, Model};
use tillerman_protocol::catalog::Catalog;
use tillerman_protocol::permission::PermissionMode;
use tillerman_runtime::{Ports, SessionSetup, SystemPrompt};
use tokio_util::sync::CancellationToken;

use crate::arguments::{Arguments, OutputFormat};
use crate::clock::SystemClock;
use crate::credentials::Credentials;
use crate::engine_setup::{Workplace, engine_config};
use crate::environment::Environment;
use crate::extensions::{Ground, extend};
use crate::failure::StartFailure;
use crate::greeting::{catalog_with_overrides, greeting};
use crate::keeper::SettingsKeeper;
use crate::opening;
use crate::provider::{Router, WithoutCredentials};
use crate::toolbox::{skill_tool_of, tools};
use crate::web_access::{SideDoor, web_config};
use crate::{git, instructions, mcp, rewind, rules};

const REHEARSAL: &str = "rehearsal";

/// Builds everything a session needs.
pub(crate) async fn assemble(
    arguments: &Arguments,
    environment: &Environment,
    shutdown: CancellationToken,
) -> Result<SessionSetup, StartFailure> {
    let cwd = std::env::current_dir().map_err(|error| {
        StartFailure::usage(format!("The working directory cannot be used: {error}"))
    })?;
    let layers = settings(arguments, environment, &cwd)?;
    let credentials = Credentials::find(environment, &layers).await?;
    let mode = permission_mode(arguments, environment, &layers)?;
    let directories = working_directories(arguments, &layers, &cwd)?;
    let mut prompt = system_prompt(arguments, &cwd, &directories)?;
    let mcp_servers = mcp::servers(&arguments.extension.mcp_config)?;
    let opened = opening::open(&arguments.session, &environment.config_dir(), &cwd)?;
    let ground = Ground { layers: &layers, directories: &directories, session: &opened.id };
    let extended = extend(arguments, environment, &ground);
    extended.dress(&mut prompt);
    let policy = policy(arguments, environment, &layers, directories);
    let catalog = Arc::new(catalog_with_overrides(environment));
    let (model_name, model) = choose_model(arguments, environment, &layers, &credentials, &catalog);
    let door = SideDoor {
        router: &model,
        model: &model_name,
        has_credentials: credentials.anthropic.is_some(),
    };
    let web = web_config(environment, &catalog, &opened.id, &door);
    let mut tools = tools(arguments, environment, &layers, &cwd, &policy, &opened, web);
    tools.extend(skill_tool_of(arguments, &extended.library, &policy));
    if mode == PermissionMode::BypassPermissions {
        // Planning means asking before anything changes, and here nothing is asked.
        tools.retain(|tool| !matches!(tool.spec().name.as_str(), "EnterPlanMode" | "ExitPlanMode"));
    }
    let checkpoints = rewind::checkpoints(arguments, environment, &opened.id);
    let workplace = Workplace {
        cwd: &cwd,
        mode,
        prompt: &prompt,
        tools: &tools,
        mcp: &mcp_servers,
        has_checkpoints: checkpoints.is_some(),
        key_source: credentials.source,
        model: &model_name,
        contents: &extended.contents,
    };
    let engine = engine_config(arguments, environment, &catalog, &opened, &workplace);
    Ok(SessionSetup {
        greeting: greeting(&catalog, credentials.source, &extended.contents),
        engine,
        restored: opened.restored,
        copied: opened.copied,
        prompt,
        policy,
        may_bypass: mode == PermissionMode::BypassPermissions
            || arguments.permission.allow_dangerously_skip_permissions,
        ports: Ports {
            model,
            tools,
            transcript: opened.transcript,
            clock: Arc::new(SystemClock),
            checkpoints,
            keeper: Arc::new(SettingsKeeper(places(environment, &cwd))),
            library: Some(extended.library),
        },
        secrets: credentials.secrets(),
        mirror: arguments.format.copies.session_mirror,
        settings: layers.describe(),
        mcp_servers: mcp_servers.iter().map(|server| json!(server)).collect(),
        shutdown,
    })
}

fn places(environment: &Environment, cwd: &Path) -> Places {
    Places { config_dir: environment.config_dir(), cwd: cwd.to_path_buf() }
}

/// The sources that settings and extensions come from.
pub(crate) fn sources(arguments: &Arguments) -> Result<Vec<Source>, StartFailure> {
    let Some(list) = &arguments.extension.setting_sources else {
        return Ok(vec![Source::User, Source::Project, Source::Local]);
    };
    let names = list.split(',').filter(|name| !name.is_empty());
    let source = |name: &str| {
        Source::parse(name.trim()).ok_or_else(|| {
            StartFailure::usage(format!(
                "{name} is not a settings source; use user, project or local"
            ))
        })
    };
    names.map(source).collect()
}

fn settings(
    arguments: &Arguments,
    environment: &Environment,
    cwd: &Path,
) -> Result<Layers, StartFailure> {
    let mut layers = Layers::load(&places(environment, cwd), &sources(arguments)?);
    for error in layers.errors() {
        tracing::warn!("{error}; the file was left out");
    }
    if let Some(text) = &arguments.extension.settings {
        layers.push_flag(
            read_argument(text).map_err(|error| StartFailure::usage(error.to_string()))?,
        );
    }
    if layers.wants_sandbox() {
        return Err(StartFailure::usage(
            "The settings ask for a sandbox and this version has none, so nothing was started. \
             Remove sandbox.enabled to run without one.",
        ));
    }
    Ok(layers)
}

fn permission_mode(
    arguments: &Arguments,
    environment: &Environment,
    layers: &Layers,
) -> Result<PermissionMode, StartFailure> {
    let flags = &arguments.permission;
    let skip = flags.dangerously_skip_permissions.then_some(PermissionMode::BypassPermissions);
    let mode = flags.permission_mode.or(skip).or_else(|| layers.default_mode()).unwrap_or_default();
    let bypasses =
        mode == PermissionMode::BypassPermissions || flags.allow_dangerously_skip_permissions;
    if bypasses && rustix::process::geteuid().is_root() && !environment.is_on("IS_SANDBOX") {
        return Err(StartFailure::usage(
            "Permissions cannot be bypassed as root: one wrong command would have the whole machine. \
             Run as another user, or set IS_SANDBOX=1 where the machine itself is the sandbox.",
        ));
    }
    Ok(mode)
}

fn working_directories(
    arguments: &Arguments,
    layers: &Layers,
    cwd: &Path,
) -> Result<Vec<PathBuf>, StartFailure> {
    let mut directories = vec![cwd.to_path_buf()];
    for name in &arguments.session.add_dir {
        let path = cwd.join(name).canonicalize();
        let path = path.ok().filter(|path| path.is_dir());
        directories.push(path.ok_or_else(|| {
            StartFailure::usage(format!("--add-dir {name}: there is no such directory"))
        })?);
    }
    // A directory in a settings file may exist on one machine and not on another.
    let named = layers.directories().into_iter();
    directories.extend(named.filter_map(|path| cwd.join(path).canonicalize().ok()));
    Ok(directories)
}

fn system_prompt(
    arguments: &Arguments,
    cwd: &Path,
    directories: &[PathBuf],
) -> Result<SystemPrompt, StartFailure> {
    let flags = &arguments.model;
    let read = |path: &String| {
        std::fs::read_to_string(path).map_err(|error| {
            StartFailure::usage(format!("The system prompt file {path} cannot be read: {error}"))
        })
    };
    let base = match (&flags.system_prompt, &flags.system_prompt_file) {
        (Some(text), _) => text.clone(),
        (None, Some(path)) => read(path)?,
        (None, None) => instructions::CODING.to_owned(),
    };
    let append = match (&flags.append_system_prompt, &flags.append_system_prompt_file) {
        (Some(text), _) => Some(text.clone()),
        (None, Some(path)) => Some(read(path)?),
        (None, None) => None,
    };
    let further: Vec<String> =
        directories[1..].iter().map(|path| path.display().to_string()).collect();
    let is_git = git::branch(cwd).is_some();
    let environment = instructions::environment(cwd, &further, is_git, SystemClock.now());
    Ok(SystemPrompt { base, append, memory: String::new(), environment })
}

fn policy(
    arguments: &Arguments,
    environment: &Environment,
    layers: &Layers,
    directories: Vec<PathBuf>,
) -> Policy {
    let from_flags =
        |lists: &[String]| lists.iter().flat_map(|list| split_rules(list)).collect::<Vec<_>>();
    let together = |lists: &[String], more: Vec<String>| [from_flags(lists), more].concat();
    Policy {
        allow: rules::allowing(&together(&arguments.permission.allowed_tools, layers.allow())),
        deny: rules::restricting(&together(&arguments.permission.disallowed_tools, layers.deny())),
        ask: rules::restricting(&layers.ask()),
        directories,
        home: environment.get("HOME").map(PathBuf::from),
        ..Policy::default()
    }
}

/// The model the session begins with, and who answers for it and all others.
fn choose_model(
    arguments: &Arguments,
    environment: &Environment,
    layers: &Layers,
    credentials: &Credentials,
    catalog: &Catalog,
) -> (String, Arc<dyn Model>) {
    let without = match arguments.format.output_format {
        OutputFormat::Text => WithoutCredentials::Rehearse,
        OutputFormat::Json | OutputFormat::StreamJson => WithoutCredentials::Fail,
    };
    let mut model_name = model_name(arguments, environment, layers, catalog);
    let rehearses = without == WithoutCredentials::Rehearse
        && credentials.anthropic.is_none()
        && provider_for(&model_name, environment.get("OPENAI_BASE_URL").as_deref())
            == ProviderKind::Anthropic;
    if rehearses {
        // Under its own name, so that nobody is billed for what no model said.
        REHEARSAL.clone_into(&mut model_name);
    }
    let note = if rehearses { RehearsalNote::NoKey } else { RehearsalNote::ChosenByName };
    let model: Arc<dyn Model> = Arc::new(Router::new(environment, credentials, without, note));
    (model_name, model)
}

fn model_name(
    arguments: &Arguments,
    environment: &Environment,
    layers: &Layers,
    catalog: &Catalog,
) -> String {
    let named = arguments.model.model.clone().or_else(|| environment.get("ANTHROPIC_MODEL"));
    let named = named.or_else(|| layers.strongest(|settings| settings.model.clone()));
    catalog.resolve(named.as_deref().unwrap_or(DEFAULT_MODEL)).to_owned()
}
