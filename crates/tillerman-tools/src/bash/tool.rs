//! The bash call: from the model's input to a command's outcome.

use std::error::Error as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tillerman_ports::model::BoxFuture;
use tillerman_ports::{Tool, ToolCall};
use tillerman_protocol::tool::{Access, ToolFailure, ToolOutcome, ToolSpec};

use super::run::StartCommandError;
use super::{background, foreground};
use crate::config::ToolLimits;
use crate::input::Fields;
use crate::session::Session;

const NAME: &str = "Bash";
/// Linux takes at most 128 KiB in one argument.
const COMMAND_BYTES: usize = 120_000;

/// Runs shell commands.
#[derive(Debug)]
pub(crate) struct Bash {
    session: Arc<Session>,
}

impl Bash {
    pub(crate) fn new(session: Arc<Session>) -> Self {
        Self { session }
    }
}

/// What the model asked for.
#[derive(Debug)]
pub(super) struct Params {
    pub(super) command: String,
    pub(super) description: Option<String>,
    pub(super) timeout: Option<Duration>,
    in_background: bool,
}

impl Params {
    fn parse(input: &Value) -> Result<Self, String> {
        let fields = Fields::of(NAME, input)?;
        let command = fields.required_text("command", "the shell command to run")?;
        check_command(NAME, command)?;
        fields.optional_flag("dangerouslyDisableSandbox")?;
        let timeout = fields.optional_whole("timeout")?.filter(|timeout| *timeout > 0);
        Ok(Self {
            command: command.to_owned(),
            description: fields.optional_text("description")?.map(str::to_owned),
            timeout: timeout.map(Duration::from_millis),
            in_background: fields.optional_flag("run_in_background")?.unwrap_or(false),
        })
    }
}

impl Tool for Bash {
    fn spec(&self) -> ToolSpec {
        let limits = self.session.config().limits;
        ToolSpec {
            name: NAME.to_owned(),
            description: description(&limits),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "command": {"type": "string", "description": "The command line for bash."},
                    "timeout": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": limits.max_background_timeout.as_millis() as u64,
                        "description": format!(
                            "How many milliseconds the command may take, at most {} unless it \
                             runs in the background.",
                            limits.max_timeout.as_millis()
                        ),
                    },
                    "description": {
                        "type": "string",
                        "description": "What the command does, in a few words for the user.",
                    },
                    "run_in_background": {
                        "type": "boolean",
                        "description": "Return at once and let the command go on.",
                    },
                    "dangerouslyDisableSandbox": {
                        "type": "boolean",
                        "description": "Ask to run outside the sandbox, where there is one. Only \
                                        for a command that failed because of it.",
                    },
                },
                "required": ["command"],
                "additionalProperties": false,
            }),
            access: Access::Mutating,
        }
    }

    fn check(&self, input: &Value) -> Result<(), String> {
        Params::parse(input).map(drop)
    }

    fn call(&self, call: ToolCall) -> BoxFuture<ToolOutcome> {
        let session = Arc::clone(&self.session);
        Box::pin(async move {
            let params = Params::parse(&call.input).map_err(ToolFailure::new)?;
            if params.in_background {
                background::start(&session, &params, &call)
            } else {
                foreground::attend(&session, &params, &call).await
            }
        })
    }

    fn directory(&self) -> Option<PathBuf> {
        Some(self.session.shell_directory())
    }
}

/// Whether a text is one that a shell can be given.
pub(super) fn check_command(tool: &str, command: &str) -> Result<(), String> {
    let problem = if command.trim().is_empty() {
        "command is empty; give the shell command to run."
    } else if command.contains('\0') {
        "command contains a NUL character, which no command can."
    } else if command.len() > COMMAND_BYTES {
        "command is too long for one argument. Write it to a file with Write and run that."
    } else {
        return Ok(());
    };
    Err(format!("{tool}: {problem}"))
}

pub(super) fn why_not_started(error: &StartCommandError) -> String {
    let source = error.source().map(|source| format!(" ({source})")).unwrap_or_default();
    format!("The command was not run: {error}{source}.")
}

fn description(limits: &ToolLimits) -> String {
    format!(
        "Runs a command with bash and returns what it prints, standard error included. Each call is a \
         shell of its own: the directory carries over to the next call while it stays inside the \
         working directories, variables do not. There is no input and no terminal, so use options \
         that ask nothing. A command has {} seconds unless timeout says otherwise (at most {} seconds); \
         then it goes on in the background, or is stopped if it sleeps, uses git or is too \
         intricate. What it leaves running is stopped when it ends. For servers, watchers \
         and other long work set run_in_background: the call returns at once with a task id, you are \
         told when the command ends, TaskOutput shows what it has printed and TaskStop ends it. Long \
         output is shortened and saved to a file. Quote paths with spaces. To find, read and change \
         files prefer Glob, Grep, Read, Edit and Write.",
        limits.default_timeout.as_secs(),
        limits.max_timeout.as_secs()
    )
}
