//! From command line and environment to a session that can run.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tillerman_config::{Layers, Places, Source, read_argument};
use tillerman_engine::{COMMANDS, Echo, Limits, Origin, SessionConfig};
use tillerman_models::catalog::{self, DEFAULT_MODEL};
use tillerman_policy::{Policy, Rule, split_rules};
use tillerman_ports::{Clock as _, Tool};
use tillerman_protocol::catalog::Catalog;
use tillerman_protocol::frame::{Init, McpServerState};
use tillerman_protocol::model::Thinking;
use tillerman_protocol::permission::PermissionMode;
use tillerman_runtime::{Ports, SessionSetup, SystemPrompt};
use tillerman_tools::{ToolConfig, ToolLimits, session_tools};
use tokio_util::sync::CancellationToken;

use crate::arguments::{Arguments, OutputFormat};
use crate::clock::SystemClock;
use crate::environment::Environment;
use crate::failure::StartFailure;
use crate::opening::{self, Opened};
use crate::provider::{Router, WithoutCredentials};
use crate::{PROTOCOL_LEVEL, git, instructions, mcp, seed};

/// Builds everything a session needs.
pub(crate) fn assemble(
    arguments: &Arguments,
    environment: &Environment,
    shutdown: CancellationToken,
) -> Result<SessionSetup, StartFailure> {
    let cwd = std::env::current_dir().map_err(|error| {
        StartFailure::usage(format!("The working directory cannot be used: {error}"))
    })?;
    let layers = settings(arguments, environment, &cwd)?;
    let mode = permission_mode(arguments, environment, &layers)?;
    let directories = working_directories(arguments, &layers, &cwd)?;
    let prompt = system_prompt(arguments, &cwd, &directories)?;
    let mcp_servers = mcp::servers(&arguments.extension.mcp_config)?;
    let opened = opening::open(&arguments.session, &environment.config_dir(), &cwd)?;
    let policy = policy(arguments, &layers, directories);
    let tools = tools(arguments, environment, &layers, &cwd, &policy, &opened);
    let catalog = Arc::new(catalog_with_overrides(environment));
    let workplace =
        Workplace { cwd: &cwd, mode, prompt: &prompt, tools: &tools, mcp: &mcp_servers };
    let engine = engine_config(arguments, environment, &layers, &catalog, &opened, &workplace);
    let without = match arguments.format.output_format {
        OutputFormat::Text => WithoutCredentials::Rehearse,
        OutputFormat::Json | OutputFormat::StreamJson => WithoutCredentials::Fail,
    };
    Ok(SessionSetup {
        greeting: greeting(&catalog, environment),
        engine,
        restored: opened.restored,
        copied: opened.copied,
        prompt,
        policy,
        may_bypass: mode == PermissionMode::BypassPermissions
            || arguments.permission.allow_dangerously_skip_permissions,
        ports: Ports {
            model: Arc::new(Router::new(environment, without)),
            tools,
            transcript: opened.transcript,
            clock: Arc::new(SystemClock),
        },
        mirror: arguments.format.copies.session_mirror,
        settings: layers.describe(),
        mcp_servers: mcp_servers.iter().map(|server| json!(server)).collect(),
        shutdown,
    })
}

fn settings(
    arguments: &Arguments,
    environment: &Environment,
    cwd: &Path,
) -> Result<Layers, StartFailure> {
    let sources: Vec<Source> = match &arguments.extension.setting_sources {
        None => vec![Source::User, Source::Project, Source::Local],
        Some(list) => list
            .split(',')
            .filter(|name| !name.is_empty())
            .map(|name| {
                Source::parse(name.trim()).ok_or_else(|| {
                    StartFailure::usage(format!(
                        "{name} is not a settings source; use user, project or local"
                    ))
                })
            })
            .collect::<Result<_, _>>()?,
    };
    let places = Places { config_dir: environment.config_dir(), cwd: cwd.to_path_buf() };
    let mut layers = Layers::load(&places, &sources);
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
    Ok(SystemPrompt { base, append, environment })
}

fn policy(arguments: &Arguments, layers: &Layers, directories: Vec<PathBuf>) -> Policy {
    let from_flags =
        |lists: &[String]| lists.iter().flat_map(|list| split_rules(list)).collect::<Vec<_>>();
    let rules = |mut texts: Vec<String>, more: Vec<String>| {
        texts.extend(more);
        texts.iter().map(|text| Rule::parse(text)).collect()
    };
    Policy {
        allow: rules(from_flags(&arguments.permission.allowed_tools), layers.allow()),
        deny: rules(from_flags(&arguments.permission.disallowed_tools), layers.deny()),
        ask: rules(Vec::new(), layers.ask()),
        directories,
    }
}

fn tools(
    arguments: &Arguments,
    environment: &Environment,
    layers: &Layers,
    cwd: &Path,
    policy: &Policy,
    opened: &Opened,
) -> Vec<Arc<dyn Tool>> {
    let mut variables = environment.for_children();
    variables
        .extend(layers.variables().into_iter().map(|(name, value)| (name.into(), value.into())));
    let transcript = opened.transcript.path();
    let scratch_directory = if transcript.is_empty() {
        std::env::temp_dir().join(format!("tillerman-{}", opened.id))
    } else {
        tillerman_store::tool_results_dir(Path::new(&transcript))
    };
    let millis = |name: &str, otherwise: Duration| environment.millis(name).unwrap_or(otherwise);
    let usual = ToolLimits::default();
    let config = ToolConfig {
        cwd: cwd.to_path_buf(),
        working_directories: policy.directories.clone(),
        scratch_directory,
        environment: variables,
        shell: environment
            .get("CLAUDE_CODE_SHELL")
            .unwrap_or_else(|| "/bin/bash".to_owned())
            .into(),
        limits: ToolLimits {
            default_timeout: millis("BASH_DEFAULT_TIMEOUT_MS", usual.default_timeout),
            max_timeout: millis("BASH_MAX_TIMEOUT_MS", usual.max_timeout),
            inline_chars: environment
                .number("BASH_MAX_OUTPUT_LENGTH")
                .unwrap_or(usual.inline_chars),
            ..usual
        },
    };
    let wanted: Option<Vec<String>> = arguments.permission.tools.as_ref().and_then(|lists| {
        let names: Vec<String> = lists.iter().flat_map(|list| split_rules(list)).collect();
        (names != ["default"]).then_some(names)
    });
    let is_wanted = |name: &String| wanted.as_ref().is_none_or(|names| names.contains(name));
    let is_denied =
        |name: &str| policy.deny.iter().any(|rule| rule.tool == name && rule.content.is_none());
    let mut tools = session_tools(config);
    tools.retain(|tool| {
        let name = tool.spec().name;
        is_wanted(&name) && !is_denied(&name)
    });
    tools
}

/// What the engine is told about the place it works in.
struct Workplace<'a> {
    cwd: &'a Path,
    mode: PermissionMode,
    prompt: &'a SystemPrompt,
    tools: &'a [Arc<dyn Tool>],
    mcp: &'a [McpServerState],
}

fn engine_config(
    arguments: &Arguments,
    environment: &Environment,
    layers: &Layers,
    catalog: &Arc<Catalog>,
    opened: &Opened,
    workplace: &Workplace<'_>,
) -> SessionConfig {
    let flags = &arguments.model;
    let named = flags.model.clone().or_else(|| environment.get("ANTHROPIC_MODEL"));
    let named = named.or_else(|| layers.strongest(|settings| settings.model.clone()));
    let resolve = |name: &str| catalog.resolve(name).to_owned();
    let specs: Vec<_> = workplace.tools.iter().map(|tool| tool.spec()).collect();
    let cwd = workplace.cwd.display().to_string();
    SessionConfig {
        session_id: opened.id.clone(),
        seed: seed::words(),
        model: resolve(named.as_deref().unwrap_or(DEFAULT_MODEL)),
        fallback_models: flags.fallback_model.iter().take(3).map(|name| resolve(name)).collect(),
        catalog: Arc::clone(catalog),
        system: workplace.prompt.blocks(),
        init: init(environment, workplace, &specs),
        tools: specs.into(),
        mode: workplace.mode,
        has_approver: arguments.permission.permission_prompt_tool.as_deref() == Some("stdio"),
        thinking: thinking(arguments, environment),
        effort: flags.effort.clone().or_else(|| environment.get("CLAUDE_CODE_EFFORT_LEVEL")),
        betas: flags.betas.clone(),
        extra_body: Map::new(),
        limits: Limits {
            max_turns: flags
                .max_turns
                .or_else(|| environment.number("CLAUDE_CODE_MAX_TURNS"))
                .filter(|n| *n > 0),
            max_budget_usd: flags.max_budget_usd,
            max_output_tokens: environment.number("CLAUDE_CODE_MAX_OUTPUT_TOKENS"),
            max_retries: environment
                .number::<u32>("CLAUDE_CODE_MAX_RETRIES")
                .map_or(10, |n| n.min(15)),
            parallel_calls: environment
                .number("CLAUDE_CODE_MAX_TOOL_USE_CONCURRENCY")
                .unwrap_or(10)
                .max(1),
            stop_hook_blocks: environment.number("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP").unwrap_or(8),
        },
        echo: Echo {
            partial_messages: arguments.wants_partial_messages(),
            prompts: arguments.format.replay_user_messages,
            session_state: environment.is_on("CLAUDE_CODE_SDK_READS_SESSION_STATE"),
        },
        origin: Origin {
            git_branch: git::branch(workplace.cwd).unwrap_or_default(),
            version: PROTOCOL_LEVEL.to_owned(),
            entrypoint: environment
                .get("CLAUDE_CODE_ENTRYPOINT")
                .unwrap_or_else(|| "cli".to_owned()),
            transcript_path: opened.transcript.path(),
            cwd,
        },
        hooked: Vec::new(),
    }
}

fn init(
    environment: &Environment,
    workplace: &Workplace<'_>,
    specs: &[tillerman_protocol::tool::ToolSpec],
) -> Init {
    Init {
        cwd: workplace.cwd.display().to_string(),
        tools: specs.iter().map(|spec| spec.name.clone()).collect(),
        mcp_servers: workplace.mcp.to_vec(),
        slash_commands: COMMANDS.iter().map(|(name, _)| (*name).to_owned()).collect(),
        api_key_source: Router::key_source(environment).to_owned(),
        claude_code_version: PROTOCOL_LEVEL.to_owned(),
        tillerman_version: env!("CARGO_PKG_VERSION").to_owned(),
        output_style: "default".to_owned(),
        ..Init::default()
    }
}

fn thinking(arguments: &Arguments, environment: &Environment) -> Thinking {
    let flags = &arguments.model;
    let budget =
        |tokens: u32| if tokens == 0 { Thinking::Disabled } else { Thinking::Budget(tokens) };
    match (flags.thinking.as_deref(), flags.max_thinking_tokens) {
        (Some("disabled"), _) => Thinking::Disabled,
        (Some(_), None) => Thinking::Adaptive,
        (_, Some(tokens)) => budget(tokens),
        (None, None) => environment.number("MAX_THINKING_TOKENS").map_or(Thinking::Unset, budget),
    }
}

fn catalog_with_overrides(environment: &Environment) -> Catalog {
    let mut catalog = catalog::catalog();
    for (alias, model) in &mut catalog.aliases {
        let variable = format!("ANTHROPIC_DEFAULT_{}_MODEL", alias.to_uppercase());
        if let Some(chosen) = environment.get(&variable) {
            *model = chosen;
        }
    }
    catalog
}

fn greeting(catalog: &Catalog, environment: &Environment) -> Map<String, Value> {
    let commands: Vec<Value> = COMMANDS
        .iter()
        .map(|(name, about)| json!({"name": name, "description": about, "argumentHint": "", "builtin": true}))
        .collect();
    let models: Vec<Value> = catalog
        .aliases
        .iter()
        .filter_map(|(alias, id)| {
            let profile = catalog.profile(id)?;
            Some(json!({
                "value": alias,
                "resolvedModel": id,
                "displayName": profile.display_name,
                "description": profile.description,
                "supportsEffort": true,
            }))
        })
        .collect();
    let source = Router::key_source(environment);
    let answer = json!({
        "commands": commands,
        "agents": [],
        "models": models,
        "output_style": "default",
        "available_output_styles": ["default"],
        "account": {"tokenSource": source, "apiKeySource": source, "apiProvider": "firstParty"},
        "pid": std::process::id(),
        "claude_code_version": PROTOCOL_LEVEL,
        "tillerman_version": env!("CARGO_PKG_VERSION"),
        "hook_on_failure_supported": true,
        "hooks_applied": true,
        "capabilities": [],
    });
    answer.as_object().cloned().unwrap_or_default()
}
