//! The tools of a session: made for its directories, chosen by the order.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tillerman_config::Layers;
use tillerman_policy::{ALLOWED_VARIABLES, Policy};
use tillerman_ports::{Confiner, Library, Tool};
use tillerman_tools::{Audience, ToolConfig, ToolLimits, WebConfig, session_tools, skill_tool};

use crate::engine_setup::has_approver;
use crate::environment::Environment;
use crate::library::FileLibrary;
use crate::opening::Opened;
use crate::order::SessionOrder;

/// What tools are given to work with.
pub(crate) struct Outfit {
    /// The environment of children.
    pub(crate) variables: Vec<(OsString, OsString)>,
    /// How they reach the web.
    pub(crate) web: WebConfig,
    /// Where large outputs go.
    pub(crate) scratch: PathBuf,
    /// What confines them.
    pub(crate) confiner: Option<Arc<dyn Confiner>>,
}

/// The environment of children: never credentials, and only what agents need where the host says so.
pub(crate) fn variables(
    order: &SessionOrder,
    environment: &Environment,
    layers: &Layers,
) -> Vec<(OsString, OsString)> {
    let mut variables = environment.for_children();
    if order.permission.strict_environment {
        let is_needed =
            |name: &OsString| name.to_str().is_some_and(|name| ALLOWED_VARIABLES.contains(&name));
        variables.retain(|(name, value)| is_needed(name) && !value.is_empty());
    }
    let set = layers.variables().into_iter().filter(|(name, _)| environment.passes_on(name));
    variables.extend(set.map(|(name, value)| (name.into(), value.into())));
    variables
}

/// Where outputs go that are too large for a conversation.
pub(crate) fn scratch_directory(environment: &Environment, opened: &Opened) -> PathBuf {
    let transcript = opened.transcript.path();
    if transcript.is_empty() {
        environment.temp_dir().join(format!("tillerman-{}", opened.id))
    } else {
        tillerman_store::tool_results_dir(Path::new(&transcript))
    }
}

/// What the tools of this session, and of each of its agents, are made with.
pub(crate) fn tool_config(
    order: &SessionOrder,
    environment: &Environment,
    cwd: &Path,
    policy: &Policy,
    outfit: Outfit,
) -> ToolConfig {
    let millis = |name: &str, otherwise: Duration| environment.millis(name).unwrap_or(otherwise);
    let usual = ToolLimits::default();
    ToolConfig {
        cwd: cwd.to_path_buf(),
        working_directories: policy.directories.clone(),
        scratch_directory: outfit.scratch,
        environment: outfit.variables,
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
        audience: if has_approver(order) { Audience::Present } else { Audience::Absent },
        web: outfit.web,
        confiner: outfit.confiner,
    }
}

/// The tools that exist in this session.
pub(crate) fn tools(
    order: &SessionOrder,
    policy: &Policy,
    config: ToolConfig,
) -> Vec<Arc<dyn Tool>> {
    let mut tools = session_tools(config);
    tools.retain(|tool| exists(order, policy, &tool.spec().name));
    tools
}

/// The tool for skills. It is there before the first skill is, which may come while running.
pub(crate) fn skill_tool_of(
    order: &SessionOrder,
    library: &Arc<FileLibrary>,
    policy: &Policy,
) -> Option<Arc<dyn Tool>> {
    let shared: Arc<dyn Library> = Arc::<FileLibrary>::clone(library);
    let tool = skill_tool(shared, &library.listing());
    exists(order, policy, &tool.spec().name).then_some(tool)
}

/// Adds the tools that the caller hands in, each in place of one that has its name.
pub(crate) fn add_parts(tools: &mut Vec<Arc<dyn Tool>>, order: &SessionOrder, policy: &Policy) {
    for part in &order.parts.tools {
        let name = part.spec().name;
        tools.retain(|tool| tool.spec().name != name);
        if !is_denied(policy, &name) {
            tools.push(Arc::clone(part));
        }
    }
}

/// Whether the order and the rules let a tool exist.
pub(crate) fn exists(order: &SessionOrder, policy: &Policy, name: &str) -> bool {
    is_wanted(order, name) && !is_denied(policy, name)
}

/// Whether the order lets a tool exist.
pub(crate) fn is_wanted(order: &SessionOrder, name: &str) -> bool {
    let wanted = order.permission.tools.as_ref();
    wanted.is_none_or(|names| names.iter().any(|wanted| wanted == name))
}

fn is_denied(policy: &Policy, name: &str) -> bool {
    let whole = policy.deny.iter().filter(|rule| rule.content().is_none());
    // Who may not run commands may not watch any.
    let is_about = |tool: &str| tool == name || (tool == "Bash" && name == "Monitor");
    whole.into_iter().any(|rule| is_about(rule.tool()))
}
