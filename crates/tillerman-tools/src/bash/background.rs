//! Commands that go on after their call has ended.

use std::fs::File as StdFile;
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tillerman_ports::{BackgroundTask, Bounds, ToolCall};
use tillerman_protocol::content::Content;
use tillerman_protocol::task::{TaskEnd, TaskKind, TaskStatus};
use tillerman_protocol::tool::{ToolFailure, ToolOutcome, ToolOutput};
use tokio::fs::File;
use tokio::io::AsyncWriteExt as _;

use super::directory::starting_directory;
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
    let description = describe(params);
    let task = session.tasks().open(&params.command, &description, |id| {
        session.config().scratch_directory.join("tasks").join(format!("{id}.output"))
    });
    let file = create(&task.output_file).map_err(|error| {
        session.tasks().forget(&task.id);
        ToolFailure::new(format!(
            "The command was not run: its output file {} could not be made ({error}).",
            task.output_file.display()
        ))
    })?;
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
    let work = work(order, Arc::clone(&task), Output::new(file, limits.output_bytes));
    let handed = BackgroundTask {
        id: task.id.clone(),
        tool_use_id: call.tool_use_id.clone(),
        kind: TaskKind::LocalBash,
        description,
        output_file: task.output_file.display().to_string(),
        cancel: task.cancel.clone(),
        work: Box::pin(work),
    };
    call.tasks.take(handed).map_err(|refused| {
        session.tasks().forget(&task.id);
        // An empty file nobody was told about; where it stays behind it does no harm.
        std::fs::remove_file(&task.output_file).ok();
        ToolFailure::new(format!("The command was not run: {refused}."))
    })?;
    Ok(started(&task))
}

fn started(task: &Task) -> ToolOutput {
    let (id, output) = (&task.id, task.output_file.display());
    let text = format!(
        "The command runs in the background as task {id}. Its output goes to {output}. You will be \
         told when it ends; until then TaskOutput shows what it has printed and TaskStop ends it."
    );
    let structured = json!({
        "stdout": "",
        "stderr": "",
        "interrupted": false,
        "isImage": false,
        "noOutputExpected": false,
        "backgroundTaskId": id,
    });
    ToolOutput::new(Content::Text(text), Some(structured))
}

fn describe(params: &Params) -> String {
    let given = params.description.as_deref().map(str::trim).filter(|text| !text.is_empty());
    let text = given.unwrap_or(&params.command);
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
    let job = Job {
        mark: CallMark::new(),
        config: order.session.config(),
        command: &task.command,
        directory: &order.directory,
        timeout: order.timeout,
        cancel: &task.cancel,
        environment: &order.environment,
        bounds: order.bounds,
    };
    let (end, exit_code) = match run(job, output).await {
        Ok(mut finished) => {
            for violation in &finished.violations {
                finished.sink.push(format!("\n[The sandbox: {violation}]\n").as_bytes()).await;
            }
            finished.sink.close().await;
            (end(&task, &finished.ending, order.timeout), exit_code(&finished.ending))
        }
        Err(error) => (failed(&task, &why_not_started(&error)), None),
    };
    running.end(end.clone(), exit_code);
    end
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

fn how(command: &str, status: ExitStatus) -> String {
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

fn exit_code(ending: &Ending) -> Option<i32> {
    match ending {
        Ending::Exited(status) => status.code(),
        _ => None,
    }
}

/// A file that takes the output as it comes.
struct Output {
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
