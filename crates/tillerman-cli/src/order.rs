//! From the command line to the order of a session.

use std::collections::BTreeMap;
use std::io::IsTerminal as _;
use std::path::PathBuf;

use serde_json::Value;
use tillerman_assembly::{
    Approver, ConversationOrder, Environment, ExtensionOrder, FrameOrder, JsonSource, LimitOrder,
    ModelOrder, Parts, PermissionOrder, Preparation, Resume, SessionOrder, SettingSource,
    StartFailure, TextSource, ThinkingMode, WithoutCredentials,
};
use tillerman_host::OWNER_VARIABLE;
use tillerman_policy::split_rules;
use tillerman_protocol::agent::AgentDefinition;
use tillerman_protocol::permission::PermissionMode;
use tillerman_protocol::{EntryId, SessionId};

use crate::arguments::{
    Arguments, ExtensionArguments, ModelArguments, OutputFormat, PreparationArguments,
    SessionArguments,
};
use crate::environment;

/// The order that a command line gives, for the directory and the environment of this process.
pub(crate) fn order(arguments: &Arguments) -> Result<SessionOrder, StartFailure> {
    order_in(environment::working_directory()?, environment::capture(), arguments)
}

/// The order that a command line gives, for another directory and environment.
pub(crate) fn order_in(
    cwd: PathBuf,
    environment: Environment,
    arguments: &Arguments,
) -> Result<SessionOrder, StartFailure> {
    let format = &arguments.format;
    Ok(SessionOrder {
        cwd,
        // A host says whose session it starts; settings of files have no say in it.
        owner: environment.get(OWNER_VARIABLE).filter(|owner| !owner.is_empty()),
        environment,
        session: ConversationOrder {
            mirror: format.copies.session_mirror,
            ..conversation(&arguments.session)
        },
        model: ModelOrder {
            json_schema: format.json_schema.as_deref().map(schema).transpose()?,
            without_credentials: match format.output_format {
                OutputFormat::Text => WithoutCredentials::Rehearse,
                OutputFormat::Json | OutputFormat::StreamJson => WithoutCredentials::Fail,
            },
            ..model(&arguments.model)
        },
        limits: limits(&arguments.model),
        permission: permission(arguments),
        extension: extension(&arguments.extension)?,
        frames: FrameOrder {
            partial_messages: wants_partial_messages(arguments),
            prompts: format.replay_user_messages,
            hook_events: format.copies.include_hook_events,
        },
        parts: Parts { stage_program: std::env::current_exe().ok(), ..Parts::default() },
    })
}

/// Reads the list that `--setting-sources` takes.
pub(crate) fn sources(list: &str) -> Result<Vec<SettingSource>, StartFailure> {
    let source = |name: &str| {
        SettingSource::parse(name.trim()).ok_or_else(|| {
            StartFailure::usage(format!(
                "{name} is not a settings source; use user, project or local"
            ))
        })
    };
    list.split(',').filter(|name| !name.is_empty()).map(source).collect()
}

/// Raw events are also what makes text appear as it is written.
fn wants_partial_messages(arguments: &Arguments) -> bool {
    let format = &arguments.format;
    let live = format.output_format == OutputFormat::Text && std::io::stdout().is_terminal();
    format.include_partial_messages || live
}

fn conversation(flags: &SessionArguments) -> ConversationOrder {
    let named = flags.resume.as_ref().map(|id| Resume::Session(SessionId::new(id)));
    ConversationOrder {
        resume: named.or_else(|| flags.go_on.then_some(Resume::Newest)),
        id: flags.session_id.as_ref().map(SessionId::new),
        fork: flags.fork_session,
        resume_at: flags.resume_session_at.as_ref().map(EntryId::new),
        resume_drops: flags.resume_drops_turn.as_ref().map(EntryId::new),
        no_persistence: flags.no_session_persistence,
        mirror: false,
        directories: flags.add_dir.iter().map(PathBuf::from).collect(),
    }
}

fn model(flags: &ModelArguments) -> ModelOrder {
    let source = |text: Option<&String>, file: Option<&String>| {
        let text = text.cloned().map(TextSource::Text);
        text.or_else(|| file.map(|path| TextSource::File(PathBuf::from(path))))
    };
    ModelOrder {
        model: flags.model.clone(),
        fallback: flags.fallback_model.clone(),
        system_prompt: source(flags.system_prompt.as_ref(), flags.system_prompt_file.as_ref()),
        append_system_prompt: source(
            flags.append_system_prompt.as_ref(),
            flags.append_system_prompt_file.as_ref(),
        ),
        effort: flags.effort.clone().filter(|effort| is_effort(effort)),
        thinking: flags.thinking.as_deref().map(|mode| match mode {
            "disabled" => ThinkingMode::Disabled,
            "enabled" => ThinkingMode::Enabled,
            _ => ThinkingMode::Adaptive,
        }),
        max_thinking_tokens: flags.max_thinking_tokens,
        thinking_display: flags.thinking_display.clone(),
        betas: flags.betas.clone(),
        ..ModelOrder::default()
    }
}

/// Whether there is such an effort; a host that is newer than this program may know another.
fn is_effort(name: &str) -> bool {
    let is_known = ["low", "medium", "high", "xhigh", "max"].contains(&name);
    if !is_known {
        tracing::warn!("{name} is not an effort (low, medium, high, xhigh, max) and was left out");
    }
    is_known
}

fn limits(flags: &ModelArguments) -> LimitOrder {
    LimitOrder {
        max_turns: flags.max_turns,
        max_budget_usd: flags.max_budget_usd,
        max_total_tokens: flags.max_total_tokens,
        max_total_turns: flags.max_total_turns,
        max_duration: flags
            .max_duration
            .map(|seconds| std::time::Duration::from_secs(u64::from(seconds))),
        task_budget: flags.task_budget,
        autocompact: flags.autocompact,
    }
}

fn permission(arguments: &Arguments) -> PermissionOrder {
    let flags = &arguments.permission;
    let skip = flags.dangerously_skip_permissions.then_some(PermissionMode::BypassPermissions);
    let tools = flags
        .tools
        .as_ref()
        .map(|lists| lists.iter().flat_map(|list| split_rules(list)).collect::<Vec<String>>());
    PermissionOrder {
        tools: tools.filter(|names| *names != ["default"]),
        allow: flags.allowed_tools.clone(),
        deny: flags.disallowed_tools.clone(),
        mode: flags.permission_mode.or(skip),
        may_bypass: flags.allow_dangerously_skip_permissions,
        approver: match flags.permission_prompt_tool.as_deref() {
            _ if arguments.extension.host.asks_nobody() => Approver::Nobody,
            Some("stdio") => Approver::Host,
            Some(tool) if tool.starts_with("mcp__") => Approver::Tool(tool.to_owned()),
            _ => Approver::Nobody,
        },
        guard: flags.protection.guard.clone(),
        strict_environment: flags.protection.strict_environment,
    }
}

fn extension(flags: &ExtensionArguments) -> Result<ExtensionOrder, StartFailure> {
    let paths = |names: &[String]| names.iter().map(PathBuf::from).collect::<Vec<_>>();
    let managed = flags.host.managed()?;
    Ok(ExtensionOrder {
        settings: flags.settings.as_deref().map(JsonSource::read),
        setting_sources: flags.setting_sources.as_deref().map(sources).transpose()?,
        managed_settings: managed.directory,
        host_policy: managed.policy,
        mcp_config: flags.mcp_config.iter().map(|text| JsonSource::read(text)).collect(),
        strict_mcp_config: flags.strict_mcp_config,
        plugins: paths(&flags.plugin_dir),
        plugins_without_servers: paths(&flags.plugin_dir_no_mcp),
        disable_slash_commands: flags.disable_slash_commands,
        agents: flags.agents.as_deref().map(agents).transpose()?.unwrap_or_default(),
        agent: flags.agent.clone(),
        preparation: preparation(&flags.preparation),
    })
}

fn preparation(flags: &PreparationArguments) -> Option<Preparation> {
    if flags.maintenance {
        return Some(Preparation::Maintenance);
    }
    (flags.init || flags.init_only).then_some(Preparation::Init)
}

fn agents(text: &str) -> Result<Vec<AgentDefinition>, StartFailure> {
    let by_name: BTreeMap<String, AgentDefinition> =
        serde_json::from_str(text).map_err(|error| {
            StartFailure::usage(format!(
                "--agents cannot be read: {error}. It must be a JSON object with a definition \
             (description, prompt, …) by name."
            ))
        })?;
    let named = |(name, definition)| AgentDefinition { name, ..definition };
    Ok(by_name.into_iter().map(named).collect())
}

fn schema(text: &str) -> Result<Value, StartFailure> {
    serde_json::from_str(text)
        .map_err(|error| StartFailure::usage(format!("--json-schema: it is not JSON: {error}")))
}
