//! The line to hooks for work that runs beside the session's own task, such as a call or a question
//! of a server.

use tillerman_engine::{HookOutcome, Input};
use tillerman_protocol::hook::HookDetail;
use tokio::sync::{mpsc, oneshot};

use crate::hook_desk::RunKey;
use crate::session_task::SessionTask;
use crate::work::Report;

/// Something that hooks are to hear.
#[derive(Debug)]
pub(crate) struct HookCall {
    detail: HookDetail,
    /// Who waits for what they say.
    reply: Option<HookReply>,
}

/// Where the outcome of a run goes.
pub(crate) type HookReply = oneshot::Sender<HookOutcome>;

/// Reaches the hooks of a session from outside its task.
#[derive(Clone, Debug)]
pub(crate) struct HookLine(mpsc::Sender<Report>);

impl HookLine {
    pub(crate) const fn new(reporter: mpsc::Sender<Report>) -> Self {
        Self(reporter)
    }

    /// Has hooks look at something and waits for what they say together. Handlers and callbacks
    /// have time limits of their own, so an outcome always comes; from a session that is over, one
    /// without an opinion.
    pub(crate) async fn ask(&self, detail: HookDetail) -> HookOutcome {
        let (reply, outcome) = oneshot::channel();
        self.send(HookCall { detail, reply: Some(reply) }).await;
        outcome.await.unwrap_or_default()
    }

    /// Has hooks told of something.
    pub(crate) async fn tell(&self, detail: HookDetail) {
        self.send(HookCall { detail, reply: None }).await;
    }

    async fn send(&self, call: HookCall) {
        if self.0.send(Report::HookCalled(Box::new(call))).await.is_err() {
            tracing::debug!("a session that is over runs no hooks");
        }
    }
}

impl SessionTask {
    /// The line to this session's hooks.
    pub(crate) fn hook_line(&self) -> HookLine {
        HookLine::new(self.work.reporter())
    }

    /// Whether anybody listens to this event.
    pub(crate) fn hears(&self, detail: &HookDetail) -> bool {
        detail.event().is_some_and(|event| self.hooks.events().contains(&event))
    }

    /// Runs hooks for whoever called.
    pub(crate) async fn hook_called(&mut self, call: HookCall) {
        let HookCall { detail, reply } = call;
        if !self.hears(&detail) {
            // Dropping the reply says that nobody has an opinion.
            return;
        }
        let input = self.engine.hook_input(detail);
        match reply {
            None => self.tell_hooks(input).await,
            Some(reply) => {
                let key = self.hooks.for_caller();
                self.hook_room.callers.insert(key, reply);
                self.start_hooks(key, input).await;
            }
        }
        self.work_off().await;
    }

    /// Passes an outcome to whoever called; what hooks say beside their answer is for the engine.
    pub(crate) fn answer_caller(&mut self, key: RunKey, outcome: HookOutcome) -> Option<Input> {
        let reply = self.hook_room.callers.remove(&key)?;
        let spoken = spoken(&outcome);
        // Whoever called may have given up meanwhile.
        drop(reply.send(outcome));
        spoken
    }
}

/// What hooks say beside their answer, as the engine hears it.
pub(crate) fn spoken(outcome: &HookOutcome) -> Option<Input> {
    let outcome = Box::new(HookOutcome {
        halt: outcome.halt.clone(),
        context: outcome.context.clone(),
        messages: outcome.messages.clone(),
        title: outcome.title.clone(),
        ..HookOutcome::default()
    });
    (*outcome != HookOutcome::default()).then_some(Input::HooksSpoke { outcome, wakes: false })
}
