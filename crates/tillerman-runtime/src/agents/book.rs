//! Every agent of a session, those at work and those that have ended.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tillerman_protocol::TaskId;
use tillerman_protocol::frame::TaskUsage;
use tillerman_protocol::task::TaskEnd;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::agents::switchboard::Line;
use crate::session_task::Inbound;

/// How many agents are remembered; beyond that those that ended longest ago are forgotten.
const REMEMBERED: usize = 1_000;

/// One agent.
#[derive(Debug)]
pub(crate) struct Agent {
    pub(crate) id: TaskId,
    /// The name it can be called by, beside its id.
    pub(crate) name: Option<String>,
    /// What kind of agent it is.
    pub(crate) kind: String,
    pub(crate) description: String,
    pub(crate) prompt: String,
    /// The model it began with.
    pub(crate) model: String,
    pub(crate) depth: u32,
    /// Its transcript; empty when none is kept.
    pub(crate) output_file: String,
    /// Ends it.
    pub(crate) cancel: CancellationToken,
    pub(crate) line: Line,
    /// Its name in the team, if it is a teammate.
    pub(crate) seat: Option<String>,
    /// Whether it was ended because its time was over.
    overdue: AtomicBool,
    progress: watch::Sender<Progress>,
}

/// How far an agent has come.
#[derive(Clone, Debug, Default)]
pub(crate) struct Progress {
    /// What it said last.
    pub(crate) said: String,
    pub(crate) usage: TaskUsage,
    pub(crate) ended: Option<TaskEnd>,
    /// What hosts are told in the place of its report.
    pub(crate) outcome: Option<serde_json::Value>,
}

/// What is known about an agent before it begins.
#[derive(Debug)]
pub(crate) struct Introduction {
    pub(crate) id: TaskId,
    pub(crate) name: Option<String>,
    pub(crate) kind: String,
    pub(crate) description: String,
    pub(crate) prompt: String,
    pub(crate) model: String,
    pub(crate) depth: u32,
    pub(crate) output_file: String,
    pub(crate) seat: Option<String>,
}

impl Agent {
    pub(crate) fn new(introduction: Introduction, line: Line) -> Arc<Self> {
        Arc::new(Self {
            id: introduction.id,
            name: introduction.name,
            kind: introduction.kind,
            description: introduction.description,
            prompt: introduction.prompt,
            model: introduction.model,
            depth: introduction.depth,
            output_file: introduction.output_file,
            cancel: CancellationToken::new(),
            line,
            seat: introduction.seat,
            overdue: AtomicBool::new(false),
            progress: watch::Sender::default(),
        })
    }

    pub(crate) fn progress(&self) -> Progress {
        self.progress.borrow().clone()
    }

    pub(crate) fn is_at_work(&self) -> bool {
        self.progress.borrow().ended.is_none()
    }

    /// Ends it because its time is over.
    pub(crate) fn give_up(&self) {
        if self.is_at_work() {
            self.overdue.store(true, Ordering::Relaxed);
            self.cancel.cancel();
        }
    }

    pub(crate) fn is_overdue(&self) -> bool {
        self.overdue.load(Ordering::Relaxed)
    }

    pub(crate) fn advance(&self, change: impl FnOnce(&mut Progress)) {
        self.progress.send_modify(change);
    }

    /// Waits for its end.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub(crate) async fn wait(&self) -> Progress {
        let mut progress = self.progress.subscribe();
        // The sender lives in the agent itself, so it cannot be gone.
        let ended = progress.wait_for(|progress| progress.ended.is_some()).await;
        ended.map_or_else(|_| Progress::default(), |progress| progress.clone())
    }
}

/// The agents of one session.
#[derive(Debug, Default)]
pub(crate) struct Book(Mutex<Vec<Arc<Agent>>>);

impl Book {
    /// Enters an agent, in place of an earlier run of the same one.
    pub(crate) fn enter(&self, agent: Arc<Agent>) {
        let mut agents = self.agents();
        agents.retain(|held| held.id != agent.id);
        agents.push(agent);
        if agents.len() > REMEMBERED
            && let Some(oldest) = agents.iter().position(|agent| !agent.is_at_work())
        {
            agents.remove(oldest);
        }
    }

    /// The agent of this id, or else the newest of this name.
    pub(crate) fn find(&self, name: &str) -> Option<Arc<Agent>> {
        let agents = self.agents();
        let by_id = agents.iter().find(|agent| agent.id.as_str() == name);
        let by_name = || agents.iter().rev().find(|agent| agent.name.as_deref() == Some(name));
        by_id.or_else(by_name).cloned()
    }

    pub(crate) fn at_work(&self) -> usize {
        self.agents().iter().filter(|agent| agent.is_at_work()).count()
    }

    /// Tells everybody at work that the host cannot answer any more.
    pub(crate) fn close(&self) {
        for agent in self.agents().iter().filter(|agent| agent.is_at_work()) {
            if agent.line.try_send(Inbound::Closed).is_err() {
                tracing::warn!("the agent {} is too busy to hear that the host left", agent.id);
            }
        }
    }

    fn agents(&self) -> MutexGuard<'_, Vec<Arc<Agent>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
