//! Watching a command that is started for it, or one that runs in the background already.

use std::io::{self, SeekFrom};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tillerman_ports::{Bounds, TaskDesk};
use tillerman_protocol::task::TaskEnd;
use tokio::fs::File;
use tokio::io::{AsyncReadExt as _, AsyncSeekExt as _};
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;

use super::super::background::{Output, close, exit_code};
use super::super::run::{Job, Sink, run};
use super::super::tool::why_not_started;
use super::super::tree::CallMark;
use super::feed::Feed;
use super::over::Over;
use crate::session::Session;
use crate::tasks::{Running, Task};

const CHUNK: usize = 64 * 1024;

/// A watch that is about to begin.
pub(super) struct Watch {
    pub(super) session: Arc<Session>,
    pub(super) desk: Arc<dyn TaskDesk>,
    pub(super) task: Arc<Task>,
    pub(super) output: Output,
    /// How long it may take.
    pub(super) deadline: Duration,
}

/// What a command needs beside that.
pub(super) struct Surroundings {
    pub(super) directory: PathBuf,
    pub(super) environment: Vec<(String, String)>,
    pub(super) bounds: Bounds,
}

/// A task that runs already, and how much of its output is known.
pub(super) struct Watched {
    pub(super) task: Arc<Task>,
    pub(super) seen: u64,
}

/// Takes lines in for the session, and everything for the file.
struct Listener {
    file: Output,
    feed: Feed,
}

impl Sink for Listener {
    async fn push(&mut self, piece: &[u8]) {
        self.feed.push(piece);
        self.file.push(piece).await;
    }

    fn is_over_limit(&self) -> bool {
        self.file.is_over_limit() || self.feed.is_flooded()
    }
}

/// Runs a command and tells the session what it prints.
pub(super) async fn run_and_watch(watch: Watch, around: Surroundings) -> TaskEnd {
    let Watch { session, desk, task, output, deadline } = watch;
    let running = Running::new(Arc::clone(&task));
    let limits = session.config().limits.monitor;
    let feed = Feed::new(limits);
    let never = CancellationToken::new();
    let job = Job {
        mark: CallMark::new(),
        config: session.config(),
        command: &task.command,
        directory: &around.directory,
        timeout: deadline,
        overdue: &never,
        cancel: &task.cancel,
        environment: &around.environment,
        bounds: around.bounds,
    };
    let listener = Listener { file: output, feed: feed.clone() };
    let following = async {
        let finished = run(job, listener).await;
        feed.end();
        finished
    };
    let (finished, rest) = tokio::join!(following, feed.speak(&task.id, &*desk, &task.cancel));
    let (over, code) = match finished {
        Ok(finished) => {
            close(finished.sink.file, &finished.violations).await;
            let over = Over::of_command(&task, &finished.ending, deadline, &feed, &limits);
            (over, exit_code(&finished.ending))
        }
        Err(error) => (Over::Failed(why_not_started(&error)), None),
    };
    let end = over.tell(&task, rest);
    running.end(end.clone(), code);
    end
}

/// Tells the session what a task prints from now on.
pub(super) async fn follow(watch: Watch, watched: Watched) -> TaskEnd {
    let Watch { session, desk, task, output, deadline } = watch;
    let running = Running::new(Arc::clone(&task));
    let feed = Feed::new(session.config().limits.monitor);
    let mut listener = Listener { file: output, feed: feed.clone() };
    let following = async {
        let over = read_on(&session, &task, watched, deadline, &mut listener).await;
        feed.end();
        over
    };
    let (over, rest) = tokio::join!(following, feed.speak(&task.id, &*desk, &task.cancel));
    close(listener.file, &[]).await;
    let over = over.unwrap_or_else(|error| {
        Over::Failed(format!("The output of the task could not be read: {error}."))
    });
    let end = over.tell(&task, rest);
    running.end(end.clone(), None);
    end
}

async fn read_on(
    session: &Session,
    task: &Task,
    watched: Watched,
    deadline: Duration,
    listener: &mut Listener,
) -> io::Result<Over> {
    let limits = session.config().limits.monitor;
    let deadline_at = Instant::now() + deadline;
    let mut file = File::open(&watched.task.output_file).await?;
    file.seek(SeekFrom::Start(watched.seen)).await?;
    let mut buffer = vec![0; CHUNK];
    loop {
        // Looked at before the file: what a task printed before its end is there by then.
        let ended = watched.task.ended();
        loop {
            let read = file.read(&mut buffer).await?;
            listener.push(&buffer[..read]).await;
            if listener.is_over_limit() {
                let left_out = listener.feed.untold();
                return Ok(Over::Flooded { patience: limits.patience, left_out });
            }
            if read == 0 {
                break;
            }
        }
        if let Some(ended) = ended {
            return Ok(Over::Ended(format!("What it watched is over: {}", ended.end.summary)));
        }
        tokio::select! {
            biased;
            () = task.cancel.cancelled() => return Ok(Over::Stopped),
            () = sleep_until(deadline_at) => return Ok(Over::Deadline(deadline)),
            () = watched.task.wait() => {}
            () = sleep(limits.batch) => {}
        }
    }
}
