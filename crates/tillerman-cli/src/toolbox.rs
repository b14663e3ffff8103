//! The tools of a session: made for its directories, chosen by the command line.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tillerman_config::Layers;
use tillerman_policy::{Policy, split_rules};
use tillerman_ports::{Library, Tool};
use tillerman_tools::{Audience, ToolConfig, ToolLimits, WebConfig, session_tools, skill_tool};

use crate::arguments::Arguments;
use crate::engine_setup::has_approver;
use crate::environment::Environment;
use crate::library::FileLibrary;
use crate::opening::Opened;

/// The tools that exist in this session.
pub(crate) fn tools(
    arguments: &Arguments,
    environment: &Environment,
    layers: &Layers,
    cwd: &Path,
    policy: &Policy,
    opened: &Opened,
    web: WebConfig,
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
        audience: if has_approver(arguments) { Audience::Present } else { Audience::Absent },
        web,
    };
    let mut tools = session_tools(config);
    let exists = existing(arguments, policy);
    tools.retain(|tool| exists(&tool.spec().name));
    tools
}

/// The tool for skills. It is there before the first skill is, which may come while running.
pub(crate) fn skill_tool_of(
    arguments: &Arguments,
    library: &Arc<FileLibrary>,
    policy: &Policy,
) -> Option<Arc<dyn Tool>> {
    let shared: Arc<dyn Library> = Arc::<FileLibrary>::clone(library);
    let tool = skill_tool(shared, &library.listing());
    existing(arguments, policy)(&tool.spec().name).then_some(tool)
}

/// Which tools exist: those that are wanted and not denied altogether.
fn existing(arguments: &Arguments, policy: &Policy) -> impl Fn(&str) -> bool {
    let wanted: Option<Vec<String>> = arguments.permission.tools.as_ref().and_then(|lists| {
        let names: Vec<String> = lists.iter().flat_map(|list| split_rules(list)).collect();
        (names != ["default"]).then_some(names)
    });
    let denied = policy.deny.iter().filter(|rule| rule.content().is_none());
    let denied: Vec<String> = denied.map(|rule| rule.tool().to_owned()).collect();
    move |name| {
        let is_wanted = wanted.as_ref().is_none_or(|names| names.iter().any(|it| it == name));
        is_wanted && !denied.iter().any(|it| it == name)
    }
}
