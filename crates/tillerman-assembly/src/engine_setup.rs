//! What the engine is told: model, limits, frames, and the place it works in.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tillerman_engine::{
    Books, Deadline, Echo, Limits, Origin, SessionConfig, StructuredOutputConfig,
};
use tillerman_ports::{Clock as _, Contents, Tool};
use tillerman_protocol::Moment;
use tillerman_protocol::catalog::Catalog;
use tillerman_protocol::frame::Init;
use tillerman_protocol::model::Thinking;
use tillerman_protocol::permission::PermissionMode;
use tillerman_protocol::tool::ToolSpec;
use tillerman_runtime::SystemPrompt;

use crate::clock::SystemClock;
use crate::compaction_setup::compaction;
use crate::environment::Environment;
use crate::opening::Opened;
use crate::order::{Approver, ModelOrder, SessionOrder, ThinkingMode};
use crate::{git, seed};

/// The level of the stream-json protocol that is spoken.
pub const PROTOCOL_LEVEL: &str = "2.1.325";
/// The beta feature under which a provider tells models of their token budget.
const TASK_BUDGET_BETA: &str = "task-budgets-2026-03-13";

/// Whether somebody answers questions about permission, and questions of the model.
pub(crate) fn has_approver(order: &SessionOrder) -> bool {
    order.permission.approver == Approver::Host
}

/// The tool of a server that answers questions about permission.
pub(crate) fn approver_tool(order: &SessionOrder) -> Option<String> {
    match &order.permission.approver {
        Approver::Tool(tool) => Some(tool.clone()),
        Approver::Nobody | Approver::Host => None,
    }
}

/// What the engine is told about the place it works in.
pub(crate) struct Workplace<'a> {
    pub(crate) cwd: &'a Path,
    pub(crate) mode: PermissionMode,
    pub(crate) prompt: &'a SystemPrompt,
    pub(crate) tools: &'a [Arc<dyn Tool>],
    pub(crate) has_checkpoints: bool,
    pub(crate) key_source: &'a str,
    pub(crate) model: &'a str,
    pub(crate) compact_window: Option<u64>,
    pub(crate) structured_output: Option<StructuredOutputConfig>,
    pub(crate) contents: &'a Contents,
}

/// The moment so much later than now.
fn deadline(after: Duration) -> Deadline {
    let set_at = SystemClock.now();
    let after = i64::try_from(after.as_millis()).unwrap_or(i64::MAX);
    let at = Moment::from_millis(set_at.as_millis().saturating_add(after));
    Deadline { set_at, at }
}

/// Everything the engine is started with.
pub(crate) fn engine_config(
    order: &SessionOrder,
    environment: &Environment,
    catalog: &Arc<Catalog>,
    opened: &Opened,
    workplace: &Workplace<'_>,
) -> SessionConfig {
    let (flags, bounds) = (&order.model, &order.limits);
    let resolve = |name: &str| catalog.resolve(name).to_owned();
    let mut specs: Vec<_> = workplace.tools.iter().map(|tool| tool.spec()).collect();
    if workplace.contents.skill_tool.is_none() {
        specs.retain(|spec| spec.name != "Skill");
    }
    let cwd = workplace.cwd.display().to_string();
    SessionConfig {
        session_id: opened.id.clone(),
        seed: seed::words(),
        model: workplace.model.to_owned(),
        fallback_models: flags.fallback.iter().take(3).map(|name| resolve(name)).collect(),
        catalog: Arc::clone(catalog),
        system: workplace.prompt.blocks(),
        init: init(order, workplace, &specs),
        tools: specs.into(),
        mode: workplace.mode,
        has_approver: has_approver(order) || approver_tool(order).is_some(),
        thinking: thinking(order, environment),
        effort: flags.effort.clone().or_else(|| environment.get("CLAUDE_CODE_EFFORT_LEVEL")),
        betas: betas(flags, bounds.task_budget),
        extra_body: extra_body(flags, bounds.task_budget),
        limits: Limits {
            max_turns: bounds
                .max_turns
                .or_else(|| environment.number("CLAUDE_CODE_MAX_TURNS"))
                .filter(|n| *n > 0),
            max_budget_usd: bounds.max_budget_usd,
            max_total_tokens: bounds.max_total_tokens,
            max_total_turns: bounds.max_total_turns,
            deadline: bounds.max_duration.map(deadline),
            task_budget: bounds.task_budget.filter(|tokens| *tokens > 0),
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
            partial_messages: order.frames.partial_messages,
            prompts: order.frames.prompts,
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
        checkpoints: workplace.has_checkpoints,
        agent: None,
        books: Books::Own,
        compaction: compaction(order, environment, workplace.compact_window),
        structured_output: workplace.structured_output.clone(),
    }
}

fn init(order: &SessionOrder, workplace: &Workplace<'_>, specs: &[ToolSpec]) -> Init {
    let betas = &order.model.betas;
    let beside = |path: &PathBuf| workplace.cwd.join(path).display().to_string();
    let mut extra = workplace.contents.init.extra.clone();
    if !betas.is_empty() {
        extra.insert("betas".to_owned(), json!(betas));
    }
    Init {
        extra,
        additional_directories: order.session.directories.iter().map(beside).collect(),
        cwd: workplace.cwd.display().to_string(),
        tools: specs.iter().map(|spec| spec.name.clone()).collect(),
        api_key_source: workplace.key_source.to_owned(),
        claude_code_version: PROTOCOL_LEVEL.to_owned(),
        tillerman_version: env!("CARGO_PKG_VERSION").to_owned(),
        ..workplace.contents.init.clone()
    }
}

/// The beta features that are asked for, with the one that a task budget needs.
fn betas(flags: &ModelOrder, task_budget: Option<u64>) -> Vec<String> {
    let needed = task_budget.filter(|tokens| *tokens > 0).map(|_| TASK_BUDGET_BETA.to_owned());
    flags.betas.iter().cloned().chain(needed).collect()
}

/// What the provider is told beyond the usual fields of a request.
fn extra_body(flags: &ModelOrder, task_budget: Option<u64>) -> Map<String, Value> {
    let budget = task_budget.filter(|tokens| *tokens > 0).map(|total| {
        let budget = json!({"task_budget": {"type": "tokens", "total": total}});
        ("output_config".to_owned(), budget)
    });
    let display = flags
        .thinking_display
        .as_ref()
        .map(|display| ("thinking".to_owned(), json!({"display": display})));
    budget.into_iter().chain(display).collect()
}

fn thinking(order: &SessionOrder, environment: &Environment) -> Thinking {
    let flags = &order.model;
    let budget =
        |tokens: u32| if tokens == 0 { Thinking::Disabled } else { Thinking::Budget(tokens) };
    if environment.is_on("CLAUDE_CODE_DISABLE_THINKING") {
        return Thinking::Disabled;
    }
    match (flags.thinking, flags.max_thinking_tokens) {
        (Some(ThinkingMode::Disabled), _) => Thinking::Disabled,
        (Some(_), None) => Thinking::Adaptive,
        (_, Some(tokens)) => budget(tokens),
        (None, None) => environment.number("MAX_THINKING_TOKENS").map_or(Thinking::Unset, budget),
    }
}
