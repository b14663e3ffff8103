//! A run that was started.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use futures_util::StreamExt as _;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::connection::Controls;
use crate::error::{Error, ErrorKind};
use crate::message::{Answer, Message, Prompt};
use crate::query::{Query, query, query_that_stays_open};
use crate::run::outage::Outages;
use crate::run::plan::RunPlan;

/// Runs have numbers that no process of the system has.
static NEXT: AtomicU64 = AtomicU64::new(900_000);

/// A run that was started. Dropping it ends the run without a word.
#[derive(Debug)]
pub struct Run {
    pid: u64,
    controls: Controls,
    over: Arc<AtomicBool>,
    kill: CancellationToken,
    _task: JoinSet<()>,
}

/// Something that happened in a run.
#[derive(Debug)]
#[non_exhaustive]
pub enum RunEvent {
    /// The session said something.
    Message(Box<Message>),
    /// Something failed. What ended the run is the last event before its exit.
    Error(Error),
}

impl Run {
    /// Starts a run. Returns at once; must be called inside a tokio runtime.
    #[must_use]
    pub fn start(plan: RunPlan) -> Self {
        let kill = CancellationToken::new();
        let RunPlan { options, prompt, outages, stays_open, on_event, on_exit, on_api_outage } =
            plan;
        let options = options.cancel_with(kill.clone());
        let query = if stays_open {
            query_that_stays_open(prompt, options)
        } else {
            query(prompt, options)
        };
        let controls = query.controls();
        let over = Arc::new(AtomicBool::new(false));
        let mut task = JoinSet::new();
        let done = Arc::clone(&over);
        task.spawn(async move {
            let tell = |event: Result<Message, Error>| {
                if let Some(callback) = &on_event {
                    callback(event_of(event));
                }
            };
            let end = attend(query, &outages, |message| tell(Ok(message))).await;
            done.store(true, Ordering::Release);
            match end {
                End::Done | End::Killed => on_exit.iter().for_each(|callback| callback(0)),
                End::Failed(error) => {
                    tell(Err(error));
                    on_exit.iter().for_each(|callback| callback(1));
                }
                End::Outage => on_api_outage.iter().for_each(|callback| callback()),
            }
        });
        let pid = NEXT.fetch_add(1, Ordering::Relaxed);
        Self { pid, controls, over, kill, _task: task }
    }

    /// The run's number, counting from 900000.
    #[must_use]
    pub const fn pid(&self) -> u64 {
        self.pid
    }

    /// Tells the running session something. Whether there was still one to tell.
    pub async fn send_message(&self, message: impl Into<Prompt>) -> bool {
        let is_over = self.over.load(Ordering::Acquire) || self.kill.is_cancelled();
        !is_over && self.controls.send(message).await.is_ok()
    }

    /// Steers the session.
    #[must_use]
    pub fn controls(&self) -> Controls {
        self.controls.clone()
    }

    /// Ends the run now; its exit code is 0.
    pub fn kill(&self) {
        self.kill.cancel();
    }
}

/// How a run ended.
enum End {
    Done,
    Killed,
    Failed(Error),
    Outage,
}

fn event_of(event: Result<Message, Error>) -> RunEvent {
    match event {
        Ok(message) => RunEvent::Message(Box::new(message)),
        Err(error) => RunEvent::Error(error),
    }
}

/// Reads to the end, or to the first failure.
async fn attend(mut query: Query, outages: &Outages, tell: impl Fn(Message)) -> End {
    while let Some(message) = query.next().await {
        let failed = match message {
            Ok(message) => {
                let failed = failure_of(&message, outages);
                tell(message);
                failed
            }
            Err(error) if error.kind() == ErrorKind::Cancelled => return End::Killed,
            Err(error) => Some(error),
        };
        if let Some(error) = failed {
            return if outages.failed(&error) { End::Outage } else { End::Failed(error) };
        }
    }
    End::Done
}

fn failure_of(message: &Message, outages: &Outages) -> Option<Error> {
    let result = message.as_result()?;
    let failed = Answer::of(result.clone()).err();
    if failed.is_none() {
        outages.worked();
    }
    failed
}
