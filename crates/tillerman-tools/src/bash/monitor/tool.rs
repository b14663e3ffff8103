//! The call that has a command watched.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tillerman_ports::model::BoxFuture;
use tillerman_ports::{Tool, ToolCall};
use tillerman_protocol::content::Content;
use tillerman_protocol::task::{TaskEnd, TaskKind};
use tillerman_protocol::tool::{Access, ToolFailure, ToolOutcome, ToolOutput, ToolSpec};
use tokio_util::sync::CancellationToken;

use super::super::background::{About, hand_over, open};
use super::super::directory::starting_directory;
use super::super::tool::check_command;
use super::watch::{Surroundings, Watch, Watched, follow, run_and_watch};
use crate::blocking::interrupted;
use crate::config::MonitorLimits;
use crate::input::Fields;
use crate::session::Session;
use crate::tasks::Task;

const NAME: &str = "Monitor";
/// A watch without a deadline ends with the session, which does not last that long.
const FOR_EVER: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// Watches commands.
#[derive(Debug)]
pub(crate) struct Monitor {
    session: Arc<Session>,
}

impl Monitor {
    pub(crate) fn new(session: Arc<Session>) -> Self {
        Self { session }
    }
}

/// What the model asked for.
#[derive(Debug)]
struct Params {
    subject: Subject,
    description: Option<String>,
    timeout: Option<Duration>,
    is_persistent: bool,
}

/// What is to be watched.
#[derive(Debug)]
enum Subject {
    Command(String),
    Task(String),
}

impl Params {
    fn parse(input: &Value) -> Result<Self, String> {
        let fields = Fields::of(NAME, input)?;
        let command = fields.optional_text("command")?;
        let subject = match (command, fields.optional_text("task_id")?) {
            (Some(command), None) => {
                check_command(NAME, command)?;
                Subject::Command(command.to_owned())
            }
            (None, Some(task)) => Subject::Task(task.to_owned()),
            (Some(_), Some(_)) => {
                return Err(format!(
                    "{NAME}: give either command or task_id: a command is run to be watched, a \
                     task runs already."
                ));
            }
            (None, None) => {
                return Err(format!(
                    "{NAME}: command is required: the shell command to watch, or task_id for a \
                     command that runs in the background already."
                ));
            }
        };
        fields.optional_flag("dangerouslyDisableSandbox")?;
        let timeout = fields.optional_whole("timeout_ms")?.filter(|timeout| *timeout > 0);
        Ok(Self {
            subject,
            description: fields.optional_text("description")?.map(str::to_owned),
            timeout: timeout.map(Duration::from_millis),
            is_persistent: fields.optional_flag("persistent")?.unwrap_or(false),
        })
    }

    /// How long the watch may take.
    fn deadline(&self, limits: &MonitorLimits) -> Duration {
        match self.is_persistent {
            true => FOR_EVER,
            false => self.timeout.unwrap_or(limits.deadline).min(limits.max_deadline),
        }
    }

    /// A watch that ends by itself is waited for; one that does not would keep the session for ever.
    const fn kind(&self) -> TaskKind {
        if self.is_persistent { TaskKind::LocalBash } else { TaskKind::Watch }
    }
}

impl Tool for Monitor {
    fn spec(&self) -> ToolSpec {
        let limits = self.session.config().limits.monitor;
        ToolSpec {
            name: NAME.to_owned(),
            description: description(&limits),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "description": {
                        "type": "string",
                        "description": "What is watched, in a few words for the user.",
                    },
                    "command": {"type": "string", "description": "The command line for bash."},
                    "task_id": {
                        "type": "string",
                        "description": "In the place of a command: a task of Bash that runs in \
                                        the background. It is watched from now on.",
                    },
                    "timeout_ms": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": limits.max_deadline.as_millis() as u64,
                        "default": limits.deadline.as_millis() as u64,
                        "description": "After how many milliseconds the watch ends.",
                    },
                    "persistent": {
                        "type": "boolean",
                        "default": false,
                        "description": "Watch until TaskStop or the end of the session.",
                    },
                },
                "required": ["description"],
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
            start(&session, &params, &call)
        })
    }
}

/// Hands the watch to the session and returns at once. The command starts when the session takes
/// it up, so that a refused one has had no effect.
fn start(session: &Arc<Session>, params: &Params, call: &ToolCall) -> ToolOutcome {
    if call.cancel.is_cancelled() {
        return Err(interrupted());
    }
    let failed = |why: String| ToolFailure::new(format!("Nothing is watched: {why}"));
    let watched = match &params.subject {
        Subject::Command(_) => None,
        Subject::Task(id) => Some(running_task(session, id).map_err(failed)?),
    };
    let command = match (&params.subject, &watched) {
        (Subject::Command(command), _) => command,
        (Subject::Task(id), None) => id,
        (Subject::Task(_), Some(watched)) => &watched.task.command,
    };
    let about = About { command, description: params.description.as_deref() };
    let directory = starting_directory(session)?;
    let (task, output) = open(session, about, CancellationToken::new()).map_err(failed)?;
    let watch = Watch {
        session: Arc::clone(session),
        desk: Arc::clone(&call.tasks),
        task: Arc::clone(&task),
        output,
        deadline: params.deadline(&session.config().limits.monitor),
    };
    let work: BoxFuture<TaskEnd> = match watched {
        Some(watched) => Box::pin(follow(watch, watched)),
        None => {
            let environment = call.environment.clone();
            let around = Surroundings { directory, environment, bounds: call.bounds };
            Box::pin(run_and_watch(watch, around))
        }
    };
    hand_over(session, call, &task, params.kind(), work)
        .map_err(|refused| failed(format!("{refused}.")))?;
    Ok(told(&task, params, session))
}

/// The task to watch, with as much of its output as there is.
fn running_task(session: &Session, id: &str) -> Result<Watched, String> {
    let task = session.tasks().find(id)?;
    if let Some(ended) = task.ended() {
        return Err(format!("Task {id} has already ended. {}", ended.end.summary));
    }
    let seen = std::fs::metadata(&task.output_file).map_or(0, |metadata| metadata.len());
    Ok(Watched { task, seen })
}

fn told(task: &Task, params: &Params, session: &Session) -> ToolOutput {
    let deadline = params.deadline(&session.config().limits.monitor);
    let until = if params.is_persistent {
        "until you stop it or the session ends".to_owned()
    } else {
        format!("for {} ms at most", deadline.as_millis())
    };
    let (id, output) = (&task.id, task.output_file.display());
    let text = format!(
        "Watched as task {id} {until}. You will be told each line it prints, and when it ends; do \
         not wait for it. All of its output goes to {output}. TaskStop ends it."
    );
    let timeout_ms = if params.is_persistent { 0 } else { deadline.as_millis() as u64 };
    let structured = json!({
        "taskId": id,
        "timeoutMs": timeout_ms,
        "persistent": params.is_persistent,
        "description": task.description,
        "outputFile": task.output_file.to_string_lossy(),
    });
    ToolOutput::new(Content::Text(text), Some(structured))
}

fn description(limits: &MonitorLimits) -> String {
    format!(
        "Watches what a command prints. The call returns at once with a task id; from then on you \
         are told each line as it comes, also when you have ended your turn, so there is no need \
         to wait, sleep or look. Use it for logs, builds, servers and for conditions (a loop that \
         checks, and prints when something has changed). Each line costs a turn: have the command \
         print only what matters (`tail -n 0 -F log | grep --line-buffered ERROR`), and let it print \
         failures as well as successes, since silence tells nothing. Lines that come together are \
         told together; a command that keeps printing too much is stopped. It ends with its command, \
         with TaskStop, or after {} seconds unless timeout_ms says otherwise (at most {}); you are \
         told and can start it again. With task_id it watches a command that Bash runs in the \
         background. The command is subject to the same rules as those of Bash.",
        limits.deadline.as_secs(),
        limits.max_deadline.as_secs()
    )
}
