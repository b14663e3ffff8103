//! From command line and environment to a session that can run.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tillerman_config::Layers;
use tillerman_engine::StructuredOutputConfig;
use tillerman_mcp::McpHub;
use tillerman_models::catalog::DEFAULT_MODEL;
use tillerman_models::openai::{ProviderKind, provider_for};
use tillerman_models::rehearsal::RehearsalNote;
use tillerman_policy::{Guard, Guarded, Policy, split_rules};
use tillerman_ports::{Clock as _, Model, Tool};
use tillerman_protocol::catalog::Catalog;
use tillerman_protocol::permission::PermissionMode;
use tillerman_runtime::{AgentSetup, Ports, SessionSetup, SystemPrompt};
use tokio_util::sync::CancellationToken;

use crate::arguments::{Arguments, OutputFormat};
use crate::clock::SystemClock;
use crate::compaction_setup::{add_structured_output, output_retries, window_of_settings};
use crate::credentials::Credentials;
use crate::engine_setup::{Workplace, engine_config};
use crate::environment::Environment;
use crate::extensions::{Extended, Ground, extend};
use crate::failure::StartFailure;
use crate::greeting::{catalog_with_overrides, greeting};
use crate::hooks::{Surroundings, hooks};
use crate::keeper::SettingsKeeper;
use crate::opening::{self, Opened};
use crate::provider::{Router, WithoutCredentials};
use crate::settings::{self, SettingsDesk};
use crate::web_access::{SideDoor, web_config};
use crate::{agents, cleanup, confine, git, instructions, mcp, rewind, rules, team, toolbox};

/// The name of the offline model.
pub(crate) const REHEARSAL: &str = "rehearsal";

/// Builds everything a session needs.
pub(crate) async fn assemble(
    arguments: &Arguments,
    environment: &Environment,
    shutdown: CancellationToken,
) -> Result<SessionSetup, StartFailure> {
    let outline = outline(arguments, environment).await?;
    let hands = equip(arguments, &outline).await?;
    let Outline { environment, cwd, layers, credentials, opened, extended, catalog, .. } = &outline;
    let checkpoints = rewind::checkpoints(arguments, environment, &opened.id);
    let workplace = Workplace {
        cwd,
        mode: outline.mode,
        prompt: &outline.prompt,
        tools: &hands.tools,
        has_checkpoints: checkpoints.is_some(),
        key_source: credentials.source,
        model: &outline.model_name,
        compact_window: window_of_settings(layers),
        structured_output: hands.structured_output,
        contents: &extended.contents,
    };
    let mut engine = engine_config(arguments, environment, catalog, opened, &workplace);
    settings::choose(layers, &mut engine)?;
    let places = settings::places(environment, cwd, arguments.extension.managed_settings.as_ref());
    cleanup::sweep_in_background(layers, &places.config_dir, &opened.id);
    let around = Surroundings {
        cwd,
        opened,
        model: &outline.model,
        model_name: &outline.model_name,
        catalog,
    };
    let plugins = extended.library.running_plugins();
    let hooks = hooks(arguments, environment, layers, &around, &plugins);
    let output_retries = output_retries(environment);
    let greeting = greeting(catalog, credentials.source, &extended.contents);
    let Outline { opened, extended, credentials, layers, policy, prompt, mode, model, .. } =
        outline;
    Ok(SessionSetup {
        greeting,
        engine,
        restored: opened.restored,
        copied: opened.copied,
        prompt,
        policy,
        hooks,
        may_bypass: mode == PermissionMode::BypassPermissions
            || arguments.permission.allow_dangerously_skip_permissions,
        ports: Ports {
            model,
            tools: hands.tools,
            transcript: opened.transcript,
            clock: Arc::new(SystemClock),
            checkpoints,
            keeper: Arc::new(SettingsKeeper(places.clone())),
            library: Some(extended.library),
        },
        secrets: credentials.secrets(),
        mirror: arguments.format.copies.session_mirror,
        settings: Box::new(SettingsDesk::new(layers, places)),
        mcp: Some(Arc::new(hands.servers)),
        output_retries,
        shutdown,
        agents: hands.agents,
    })
}

/// What a session is, before it has anything to work with.
struct Outline {
    environment: Environment,
    cwd: PathBuf,
    layers: Layers,
    credentials: Credentials,
    mode: PermissionMode,
    prompt: SystemPrompt,
    opened: Opened,
    extended: Extended,
    policy: Policy,
    catalog: Arc<Catalog>,
    model_name: String,
    model: Arc<dyn Model>,
}

async fn outline(
    arguments: &Arguments,
    environment: &Environment,
) -> Result<Outline, StartFailure> {
    let cwd = std::env::current_dir().map_err(|error| {
        StartFailure::usage(format!("The working directory cannot be used: {error}"))
    })?;
    let mut layers = settings::of_session(arguments, environment, &cwd)?;
    let environment = environment.overlaid(layers.own_variables());
    let credentials = Credentials::find(&environment, &layers).await?;
    let mode = permission_mode(arguments, &environment, &layers)?;
    let directories = working_directories(arguments, &layers, &cwd)?;
    let mut prompt = system_prompt(arguments, &cwd, &directories)?;
    let opened = opening::open(&arguments.session, &environment.config_dir(), &cwd)?;
    let ground = Ground { layers: &layers, directories: &directories, session: &opened.id };
    let extended = extend(arguments, &environment, &ground);
    layers.leave_out_beside(extended.library.silenced());
    extended.dress(&mut prompt);
    let policy = policy(arguments, &environment, &layers, directories)?;
    let catalog = Arc::new(catalog_with_overrides(&environment));
    let (model_name, model) =
        choose_model(arguments, &environment, &layers, &credentials, &catalog);
    Ok(Outline {
        environment,
        cwd,
        layers,
        credentials,
        mode,
        prompt,
        opened,
        extended,
        policy,
        catalog,
        model_name,
        model,
    })
}

/// What a session works with.
struct Hands {
    tools: Vec<Arc<dyn Tool>>,
    agents: Option<AgentSetup>,
    servers: McpHub,
    structured_output: Option<StructuredOutputConfig>,
}

async fn equip(arguments: &Arguments, outline: &Outline) -> Result<Hands, StartFailure> {
    let Outline { environment, layers, cwd, policy, opened, .. } = outline;
    let library = &outline.extended.library;
    let door = SideDoor {
        router: &outline.model,
        model: &outline.model_name,
        has_credentials: outline.credentials.anthropic.is_some(),
    };
    let web = web_config(environment, &outline.catalog, &opened.id, &door);
    let variables = toolbox::variables(arguments, environment, layers);
    let confiner = confine::confiner(policy, &variables, environment).await?;
    let scratch = toolbox::scratch_directory(opened);
    let plugins = library.running_plugins();
    let servers = mcp::start(arguments, environment, layers, cwd, scratch.clone(), &plugins)?;
    let outfit = toolbox::Outfit { variables, web, scratch, confiner };
    let config = toolbox::tool_config(arguments, environment, cwd, policy, outfit);
    let agents = agents::setup(arguments, environment, policy, &config, opened, library.agents())?;
    let mut tools = toolbox::tools(arguments, policy, config);
    tools.extend(toolbox::skill_tool_of(arguments, library, policy));
    tools.extend(team::tools(arguments, environment, policy, opened, agents.as_ref()));
    if outline.mode == PermissionMode::BypassPermissions {
        // Planning means asking before anything changes, and here nothing is asked.
        tools.retain(|tool| !matches!(tool.spec().name.as_str(), "EnterPlanMode" | "ExitPlanMode"));
    }
    let structured_output = add_structured_output(&mut tools, arguments, environment)?;
    Ok(Hands { tools, agents, servers, structured_output })
}

pub(crate) fn permission_mode(
    arguments: &Arguments,
    environment: &Environment,
    layers: &Layers,
) -> Result<PermissionMode, StartFailure> {
    let flags = &arguments.permission;
    let skip = flags.dangerously_skip_permissions.then_some(PermissionMode::BypassPermissions);
    let mode = flags.permission_mode.or(skip).or_else(|| layers.default_mode()).unwrap_or_default();
    let bypasses =
        mode == PermissionMode::BypassPermissions || flags.allow_dangerously_skip_permissions;
    if bypasses && layers.forbids_bypass() {
        return Err(StartFailure::usage(
            "The settings forbid to bypass permissions (permissions.disableBypassPermissionsMode), \
             so nothing was started. Choose another permission mode.",
        ));
    }
    if bypasses && rustix::process::geteuid().is_root() && !environment.is_on("IS_SANDBOX") {
        return Err(StartFailure::usage(
            "Permissions cannot be bypassed as root: one wrong command would have the whole machine. \
             Run as another user, or set IS_SANDBOX=1 where the machine itself is the sandbox.",
        ));
    }
    Ok(mode)
}

pub(crate) fn working_directories(
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
    directories.extend(settings::directories(layers, cwd));
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

pub(crate) fn policy(
    arguments: &Arguments,
    environment: &Environment,
    layers: &Layers,
    directories: Vec<PathBuf>,
) -> Result<Policy, StartFailure> {
    let from_flags =
        |lists: &[String]| lists.iter().flat_map(|list| split_rules(list)).collect::<Vec<_>>();
    let together = |lists: &[String], more: Vec<String>| [from_flags(lists), more].concat();
    let guarded = arguments.permission.protection.guard.iter();
    Ok(Policy {
        allow: rules::allowing(&together(&arguments.permission.allowed_tools, layers.allow())),
        deny: rules::restricting(&together(&arguments.permission.disallowed_tools, layers.deny())),
        ask: rules::restricting(&layers.ask()),
        directories,
        home: environment.get("HOME").map(PathBuf::from),
        guard: Guard { guarded: guarded.map(|text| Guarded::read(text)).collect() },
        sandbox: confine::settings(layers)?,
    })
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
    let named = named.or_else(|| environment.get("ANTHROPIC_DEFAULT_MODEL"));
    catalog.resolve(named.as_deref().unwrap_or(DEFAULT_MODEL)).to_owned()
}
