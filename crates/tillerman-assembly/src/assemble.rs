//! From an order to a session that can run.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tillerman_config::Layers;
use tillerman_engine::StructuredOutputConfig;
use tillerman_mcp::{HubConfig, McpHub};
use tillerman_policy::Policy;
use tillerman_ports::{Clock as _, Confiner, Model, Tool};
use tillerman_protocol::catalog::Catalog;
use tillerman_protocol::permission::PermissionMode;
use tillerman_runtime::{AgentSetup, Ports, Secrets, SessionSetup, SystemPrompt};
use tokio_util::sync::CancellationToken;

use crate::clock::SystemClock;
use crate::compaction_setup::{add_structured_output, output_retries, window_of_settings};
use crate::credentials::Credentials;
use crate::engine_setup::{Workplace, engine_config};
use crate::environment::Environment;
use crate::extensions::{Extended, Ground, extend};
use crate::failure::StartFailure;
use crate::greeting::{catalog_with_overrides, greeting};
use crate::grounds::LocalGrounds;
use crate::hooks::{Surroundings, hooks};
use crate::keeper::SettingsKeeper;
use crate::leftover_trees::Sweep;
use crate::model_choice::choose_model;
use crate::opening::{self, Opened};
use crate::order::{SessionOrder, TextSource};
use crate::permission::{memory_places, permission_mode, policy, working_directories};
use crate::settings::{self, SettingsDesk};
use crate::web_access::{SideDoor, web_config};
use crate::{
    agents, checkpoints, cleanup, confine, git, instructions, lending, main_agent, servers, team,
    toolbox,
};

/// Builds everything a session needs. The token fires when the session is to end at once.
///
/// # Errors
/// When the order cannot be carried out; then nothing was started.
///
/// # Cancel safety
/// Dropping the future leaves nothing behind but an empty transcript, if that was opened already.
pub async fn assemble(
    order: &SessionOrder,
    shutdown: CancellationToken,
) -> Result<SessionSetup, StartFailure> {
    let outline = outline(order).await?;
    let variables = toolbox::variables(order, &outline.environment, &outline.layers);
    let stage_program = order.parts.stage_program.as_deref();
    let (policy, environment) = (&outline.policy, &outline.environment);
    let secrets = outline.credentials.secrets();
    let confiner =
        confine::confiner(policy, &variables, environment, stage_program, &secrets).await?;
    let hands = equip(order, &outline, variables, confiner)?;
    build(order, outline, hands, secrets, shutdown)
}

fn build(
    order: &SessionOrder,
    outline: Outline,
    hands: Hands,
    secrets: Secrets,
    shutdown: CancellationToken,
) -> Result<SessionSetup, StartFailure> {
    let Outline { environment, cwd, layers, credentials, opened, extended, catalog, .. } = &outline;
    let checkpoints = checkpoints::checkpoints(order, environment, &opened.id);
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
    let mut engine = engine_config(order, environment, catalog, opened, &workplace);
    settings::choose(layers, &mut engine)?;
    let places = settings::places(environment, cwd, order.extension.managed_settings.as_ref());
    cleanup::sweep_in_background(layers, &places.config_dir, &opened.id);
    let around = Surroundings {
        cwd,
        opened,
        model: &outline.model,
        model_name: &outline.model_name,
        catalog,
    };
    let plugins = extended.library.running_plugins();
    let hooks = hooks(order, environment, layers, &around, &plugins);
    let output_retries = output_retries(environment);
    let greeting = greeting(catalog, credentials.source, &extended.contents);
    let unlent = lending::obstacle_under(&outline.policy, layers)?;
    let Outline { opened, extended, layers, policy, prompt, mode, model, .. } = outline;
    Ok(SessionSetup {
        greeting,
        engine,
        restored: opened.restored,
        copied: opened.copied,
        prompt,
        policy,
        hooks,
        may_bypass: mode == PermissionMode::BypassPermissions || order.permission.may_bypass,
        ports: Ports {
            model,
            tools: hands.tools,
            transcript: opened.transcript,
            clock: Arc::new(SystemClock),
            checkpoints,
            keeper: Arc::new(SettingsKeeper(places.clone())),
            library: Some(extended.library),
        },
        secrets,
        mirror: order.session.mirror,
        settings: Box::new(SettingsDesk::new(layers, places).telling(unlent)),
        mcp: Some(Arc::new(hands.servers)),
        output_retries,
        shutdown,
        agents: hands.agents,
        observer: None,
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

async fn outline(order: &SessionOrder) -> Result<Outline, StartFailure> {
    let cwd = real_directory(&order.cwd)?;
    let mut layers = settings::of_session(order, &order.environment, &cwd)?;
    let environment = order.environment.overlaid(layers.own_variables());
    let environment = environment.withholding(lending::withheld(&layers)?);
    let credentials = Credentials::find(&environment, &layers, &cwd).await?;
    let mode = permission_mode(order, &environment, &layers)?;
    let directories = working_directories(order, &layers, &cwd);
    let mut prompt = system_prompt(order, &cwd, &directories)?;
    let opened = opening::open(order, &environment.config_dir(), &cwd).await?;
    let ground = Ground { layers: &layers, directories: &directories, session: &opened.id };
    let extended = extend(order, &environment, &ground);
    layers.leave_out_beside(extended.library.silenced());
    extended.dress(&mut prompt);
    let policy = policy(order, &environment, &layers, directories)?;
    let catalog = Arc::new(catalog_with_overrides(&environment));
    let (model_name, model) = choose_model(order, &environment, &layers, &credentials, &catalog);
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

/// The directory with links resolved, as every child will see it.
fn real_directory(cwd: &Path) -> Result<PathBuf, StartFailure> {
    let unusable =
        |why: &str| StartFailure::usage(format!("The working directory cannot be used: {why}"));
    if !cwd.is_absolute() {
        return Err(unusable(&format!("{} is not an absolute path", cwd.display())));
    }
    match cwd.canonicalize() {
        Ok(real) if real.is_dir() => Ok(real),
        Ok(_) => Err(unusable(&format!("{} is not a directory", cwd.display()))),
        // What lies above a directory need not be ours to look into.
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => Ok(cwd.to_path_buf()),
        Err(error) => Err(unusable(&format!("{}: {error}", cwd.display()))),
    }
}

/// What a session works with.
struct Hands {
    tools: Vec<Arc<dyn Tool>>,
    agents: Option<AgentSetup>,
    servers: McpHub,
    structured_output: Option<StructuredOutputConfig>,
}

fn equip(
    order: &SessionOrder,
    outline: &Outline,
    variables: Vec<(OsString, OsString)>,
    confiner: Option<Arc<dyn Confiner>>,
) -> Result<Hands, StartFailure> {
    let Outline { environment, layers, cwd, policy, opened, .. } = outline;
    let library = &outline.extended.library;
    let door = SideDoor {
        router: &outline.model,
        model: &outline.model_name,
        has_credentials: outline.credentials.anthropic.is_some(),
    };
    let web = web_config(environment, &outline.catalog, &opened.id, &door);
    let scratch = toolbox::scratch_directory(environment, opened);
    let plugins = library.running_plugins();
    let definitions = library.agents();
    let more = main_agent::servers(order, environment, &definitions);
    let servers = servers::start(order, environment, layers, cwd, scratch.clone(), &plugins, more)?;
    let outfit = toolbox::Outfit { variables, web, scratch, confiner };
    let config = toolbox::tool_config(order, environment, cwd, policy, outfit);
    let grounds = Arc::new(LocalGrounds {
        cwd: cwd.clone(),
        memories: memory_places(order, environment, cwd),
        environment: environment.clone(),
        hub: HubConfig {
            approver: None,
            ..servers::hub_config(order, environment, layers, cwd, config.scratch_directory.clone())
        },
        sweep: Sweep::default(),
    });
    let agents = agents::setup(order, environment, policy, &config, opened, definitions, grounds);
    let mut tools = toolbox::tools(order, policy, config);
    tools.extend(toolbox::skill_tool_of(order, library, policy));
    tools.extend(team::tools(order, environment, policy, opened, agents.as_ref()));
    if outline.mode == PermissionMode::BypassPermissions {
        // Planning means asking before anything changes, and here nothing is asked.
        tools.retain(|tool| !matches!(tool.spec().name.as_str(), "EnterPlanMode" | "ExitPlanMode"));
    }
    toolbox::add_parts(&mut tools, order, policy);
    let structured_output = add_structured_output(&mut tools, order, environment)?;
    Ok(Hands { tools, agents, servers, structured_output })
}

fn system_prompt(
    order: &SessionOrder,
    cwd: &Path,
    directories: &[PathBuf],
) -> Result<SystemPrompt, StartFailure> {
    let flags = &order.model;
    let read = |source: &TextSource| match source {
        TextSource::Text(text) => Ok(text.clone()),
        TextSource::File(path) => std::fs::read_to_string(cwd.join(path)).map_err(|error| {
            let path = path.display();
            StartFailure::usage(format!("The system prompt file {path} cannot be read: {error}"))
        }),
    };
    let base = flags.system_prompt.as_ref().map(read).transpose()?;
    let base = base.unwrap_or_else(|| instructions::CODING.to_owned());
    let append = flags.append_system_prompt.as_ref().map(read).transpose()?;
    let further: Vec<String> =
        directories[1..].iter().map(|path| path.display().to_string()).collect();
    let is_git = git::branch(cwd).is_some();
    let environment = instructions::environment(cwd, &further, is_git, SystemClock.now());
    Ok(SystemPrompt { base, append, memory: String::new(), environment })
}
