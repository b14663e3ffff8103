//! `run_shell_command`: one of a few commands, without a shell.

use std::ffi::OsString;
use std::sync::Arc;

use serde_json::{Value, json};
use tillerman_ports::ToolCall;
use tillerman_protocol::tool::{Access, ToolOutcome};

use crate::config::DesktopConfig;
use crate::plan::{Field, FieldKind, Need, Plan, answered, failed, text};
use crate::program::{Job, Manner, find};
use crate::tools::arguments;

pub(crate) const PLAN: Plan = Plan {
    name: "run_shell_command",
    description: "Runs one of a few commands (ls, pwd, date, echo, cat, grep unless the user chose \
                  others) in the user's workspace, for at most 10 seconds. There is no shell: \
                  pipes, redirections, wildcards and variables mean nothing.",
    access: Access::Mutating,
    fields: &[
        Field {
            name: "command",
            kind: FieldKind::Text,
            need: Need::Required,
            meaning: "the command's name alone",
        },
        Field {
            name: "args",
            kind: FieldKind::Texts,
            need: Need::Optional,
            meaning: "its arguments, each by itself",
        },
    ],
    run: |config, call| Box::pin(run(config, call)),
};

async fn run(config: Arc<DesktopConfig>, call: ToolCall) -> ToolOutcome {
    let name = text(&call.input, "command").unwrap_or_default();
    let arguments = call.input.get("args").and_then(Value::as_array).into_iter().flatten();
    let arguments: Vec<&str> = arguments.filter_map(Value::as_str).collect();
    if !config.commands().iter().any(|allowed| allowed == name) {
        return failed(format!(
            "{name:?} was not run: it is not among the commands that may be ({}). There is no \
             shell, so command holds a name alone and args the rest.",
            config.commands().join(", ")
        ));
    }
    if let Err(problem) = arguments::check(config.root(), name, &arguments) {
        return failed(problem);
    }
    let Some(program) = find(&config, name) else {
        return failed(format!("{name} was not run: it is not installed on this machine."));
    };
    let mut environment = config.plain_environment();
    environment.extend(call.environment.iter().map(|(name, value)| (name.into(), value.into())));
    let job = Job {
        program,
        arguments: arguments.iter().map(OsString::from).collect(),
        directory: config.root().to_path_buf(),
        environment,
        input: Vec::new(),
        manner: Manner::Listen,
        time: config.limits().time,
        bytes: config.limits().bytes,
    };
    match job.run(&call.cancel).await {
        Ok(ran) => answered(&json!({
            "command": name,
            "exit_code": ran.status.code(),
            "stdout": String::from_utf8_lossy(&ran.output),
            "stderr": ran.complaints,
        })),
        Err(error) => failed(error),
    }
}
