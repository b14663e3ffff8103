//! Commands that go on after their call has ended.

use std::fs::File as StdFile;
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tillerman_ports::model::BoxFuture;
use tillerman_ports::{BackgroundTask, Bounds, TaskRefused, ToolCall};
use tillerman_protocol::content::Content;
use tillerman_protocol::task::{TaskEnd, TaskKind, TaskStatus};
use tillerman_protocol::tool::{ToolFailure, ToolOutcome, ToolOutput};
use tokio::fs::File;
use tokio::io::AsyncWriteExt as _;
use tokio_util::sync::CancellationToken;

use super::directory::starting_directory;
use super::foreground::Run;
use super::meaning::{Meaning, meaning};
use super::run::{Ending, Job, Sink, run};
use super::tool::{Params, why_not_started};
use super::tree::CallMark;
use crate::blocking::interrupted;
use crate::files::make_private_directory;
use crate::session::Session;
use crate::tasks::{Running, Task};

const DESCRIPTION_CHARS: usize = 80;

/// Hands a command to the session and returns at once. The command starts when the session takes
/// it up, so that a refused one has had no effect.
pub(super) fn start(session: &Arc<Session>, params: &Params, call: &ToolCall) -> ToolOutcome {
    if call.cancel.is_cancelled() {
        return Err(interrupted());
    }
    let directory = starting_directory(session)?;
    let limits = session.config().limits;
    let (task, output) = open(session, about(params), CancellationToken::new())
        .map_err(|why| ToolFailure::new(format!("The command was not run: {why}")))?;
    let timeout =
        params.timeout.unwrap_or(limits.background_timeout).min(limits.max_background_timeout);
    let environment = call.environment.clone();
    let order = Order {
        session: Arc::clone(session),
        directory,
        timeout,
        environment,
        bounds: call.bounds,
    };
    let work = work(order, Arc::clone(&task), output);
    hand_over(session, call, &task, TaskKind::LocalBash, Box::pin(work))
        .map_err(|refused| ToolFailure::new(format!("The command was not run: {refused}.")))?;
    Ok(told(&task, "The command runs in the background", Value::Null))
}

/// What a task is about.
#[derive(Clone, Copy, Debug)]
pub(super) struct About<'a> {
    pub(super) command: &'a str,
    pub(super) description: Option<&'a str>,
}

/// Makes a task and the file for its output.
pub(super) fn open(
    session: &Session,
    about: About<'_>,
    cancel: CancellationToken,
) -> Result<(Arc<Task>, Output), String> {
    let config = session.config();
    let task = session.tasks().open(about.command, &describe(about), cancel, |id| {
        config.scratch_directory.join("tasks").join(format!("{id}.output"))
    });
    match create(&task.output_file) {
        Ok(file) => Ok((task, Output::new(file, config.limits.output_bytes))),
        Err(error) => {
            session.tasks().forget(&task.id);
            let path = task.output_file.display();
            Err(format!("its output file {path} could not be made ({error})."))
        }
    }
}

/// Why a command leaves the foreground.
#[derive(Clone, Copy, Debug)]
pub(super) enum Departure {
    /// Somebody wants its call to go on.
    Wanted,
    /// It has had this long.
    Overdue(Duration),
}

/// Has a command that runs go on as a task. One that the session does not take ends here.
pub(super) fn take_over(
    session: &Session,
    call: &ToolCall,
    task: &Arc<Task>,
    running: Run,
    departure: Departure,
) -> ToolOutcome {
    let limits = session.config().limits;
    let timeout = limits.max_timeout + limits.max_background_timeout;
    let work = see_out(Arc::clone(task), running, timeout);
    hand_over(session, call, task, TaskKind::LocalBash, Box::pin(work)).map_err(|refused| {
        ToolFailure::new(format!(
            "The command was stopped: it was to go on in the background, but {refused}."
        ))
    })?;
    Ok(match departure {
        Departure::Wanted => told(
            task,
            "Somebody moved the command to the background, where it goes on",
            json!({"backgroundedByUser": true}),
        ),
        Departure::Overdue(time) => told(
            task,
            &format!(
                "The command did not end within {} ms and goes on in the background",
                time.as_millis()
            ),
            json!({"timedOutAfterMs": time.as_millis() as u64}),
        ),
    })
}

/// Has the session take a task over; one that it does not take was never there.
pub(super) fn hand_over(
    session: &Session,
    call: &ToolCall,
    task: &Arc<Task>,
    kind: TaskKind,
    work: BoxFuture<TaskEnd>,
) -> Result<(), TaskRefused> {
    let handed = BackgroundTask {
        id: task.id.clone(),
        tool_use_id: call.tool_use_id.clone(),
        kind,
        description: task.description.clone(),
        output_file: task.output_file.display().to_string(),
        cancel: task.cancel.clone(),
        work,
    };
    call.tasks.take(handed).inspect_err(|_| {
        session.tasks().forget(&task.id);
        // A file nobody was told about; where it stays behind it does no harm.
        std::fs::remove_file(&task.output_file).ok();
    })
}

fn told(task: &Task, what: &str, more: Value) -> ToolOutput {
    let (id, output) = (&task.id, task.output_file.display());
    let text = format!(
        "{what} as task {id}. Its output goes to {output}. You will be told when it ends; until \
         then TaskOutput shows what it has printed and TaskStop ends it."
    );
    let mut structured = json!({
        "stdout": "",
        "stderr": "",
        "interrupted": false,
        "isImage": false,
        "noOutputExpected": false,
        "backgroundTaskId": id,
    });
    if let (Value::Object(structured), Value::Object(more)) = (&mut structured, more) {
        structured.extend(more);
    }
    ToolOutput::new(Content::Text(text), Some(structured))
}

pub(super) fn about(params: &Params) -> About<'_> {
    About { command: &params.command, description: params.description.as_deref() }
}

fn describe(about: About<'_>) -> String {
    let given = about.description.map(str::trim).filter(|text| !text.is_empty());
    let text = given.unwrap_or(about.command);
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(DESCRIPTION_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

fn create(path: &Path) -> io::Result<StdFile> {
    if let Some(directory) = path.parent() {
        make_private_directory(directory)?;
    }
    StdFile::options().write(true).create_new(true).mode(0o600).open(path)
}

/// What a command needs beside its task.
struct Order {
    session: Arc<Session>,
    directory: PathBuf,
    timeout: Duration,
    environment: Vec<(String, String)>,
    bounds: Bounds,
}

async fn work(order: Order, task: Arc<Task>, output: Output) -> TaskEnd {
    let running = Running::new(Arc::clone(&task));
    let never = CancellationToken::new();
    let job = Job {
        mark: CallMark::new(),
        config: order.session.config(),
        command: &task.command,
        directory: &order.directory,
        timeout: order.timeout,
        overdue: &never,
        cancel: &task.cancel,
        environment: &order.environment,
        bounds: order.bounds,
    };
    let (end, exit_code) = match run(job, output).await {
        Ok(finished) => {
            close(finished.sink, &finished.violations).await;
            (end(&task, &finished.ending, order.timeout), exit_code(&finished.ending))
        }
        Err(error) => (failed(&task, &why_not_started(&error)), None),
    };
    running.end(end.clone(), exit_code);
    end
}

/// Follows a command that has left the foreground to its end.
async fn see_out(task: Arc<Task>, command: Run, timeout: Duration) -> TaskEnd {
    let running = Running::new(Arc::clone(&task));
    let (end, exit_code) = match command.await {
        Ok(finished) => {
            if let Some(output) = finished.sink.into_file().await {
                close(output, &finished.violations).await;
            }
            (end(&task, &finished.ending, timeout), exit_code(&finished.ending))
        }
        Err(error) => (failed(&task, &why_not_started(&error)), None),
    };
    running.end(end.clone(), exit_code);
    end
}

/// Ends an output, with what the sandbox refused.
pub(super) async fn close(mut output: Output, violations: &[String]) {
    for violation in violations {
        output.push(format!("\n[The sandbox: {violation}]\n").as_bytes()).await;
    }
    output.close().await;
}

fn end(task: &Task, ending: &Ending, timeout: Duration) -> TaskEnd {
    let name = &task.description;
    match ending {
        Ending::Exited(status) if status.success() => TaskEnd::new(
            TaskStatus::Completed,
            format!("The background command \"{name}\" ended with exit code 0."),
        ),
        Ending::Exited(status) => failed(task, &how(&task.command, *status)),
        Ending::TimedOut => failed(
            task,
            &format!("It did not end within {} ms and was stopped.", timeout.as_millis()),
        ),
        Ending::TooMuchOutput => failed(task, "It wrote too much and was stopped."),
        Ending::Lost(error) => failed(task, &format!("How it ended is not known ({error}).")),
        Ending::Cancelled => TaskEnd::new(
            TaskStatus::Stopped,
            format!("The background command \"{name}\" was stopped."),
        ),
    }
}

/// How a command ended by itself, in a few words.
pub(super) fn how(command: &str, status: ExitStatus) -> String {
    match meaning(command, status) {
        Meaning::Failure(what) => what,
        Meaning::Answer(answer) => format!("Exit code 1: {answer}"),
        Meaning::Success => "Exit code 0".to_owned(),
    }
}

fn failed(task: &Task, why: &str) -> TaskEnd {
    let summary = format!("The background command \"{}\" failed: {why}", task.description);
    TaskEnd::new(TaskStatus::Failed, summary)
}

/// The code with which a command ended by itself.
pub(super) fn exit_code(ending: &Ending) -> Option<i32> {
    match ending {
        Ending::Exited(status) => status.code(),
        _ => None,
    }
}

/// A file that takes the output as it comes.
pub(super) struct Output {
    file: File,
    total: u64,
    most: u64,
    broken: bool,
}

impl Output {
    fn new(file: StdFile, most: u64) -> Self {
        Self { file: File::from_std(file), total: 0, most, broken: false }
    }

    async fn close(&mut self) {
        if !self.broken
            && let Err(error) = self.file.flush().await
        {
            self.give_up(&error).await;
        }
    }

    /// Says in the file itself, as far as that still works, that something is missing.
    async fn give_up(&mut self, error: &io::Error) {
        self.broken = true;
        let note = format!("\n[The rest of the output could not be saved: {error}.]\n");
        self.file.write_all(note.as_bytes()).await.ok();
        self.file.flush().await.ok();
    }
}

impl Sink for Output {
    async fn push(&mut self, piece: &[u8]) {
        self.total += piece.len() as u64;
        if self.broken {
            return;
        }
        // Flushed at once, because others read the file while the command runs.
        let written = match self.file.write_all(piece).await {
            Ok(()) => self.file.flush().await,
            failed => failed,
        };
        if let Err(error) = written {
            self.give_up(&error).await;
        }
    }

    fn is_over_limit(&self) -> bool {
        self.total > self.most
    }
}
