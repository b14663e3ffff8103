//! The directory of conversations at work: starts their tasks, finds them, watches their cards.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::task::{Id, JoinSet};
use tokio::time::MissedTickBehavior;
use tracing::Instrument as _;

use crate::live::order::{Order, Refusal, RefusalKind, Reply};
use crate::live::shared::Shared;
use crate::live::talk::Talk;
use crate::store::{ConversationRow, StoredApproval};

const QUESTIONS_IN_FLIGHT: usize = 256;
const ORDERS_IN_FLIGHT: usize = 64;
/// How long a conversation may take to answer.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often cards are looked at whose time may be over.
const SWEEP: Duration = Duration::from_secs(1);

/// The way to conversations. Clones lead to the same ones.
#[derive(Clone, Debug)]
pub(crate) struct Directory {
    questions: mpsc::Sender<Question>,
}

#[derive(Debug)]
enum Question {
    Reach { id: String, reply: Reply<mpsc::Sender<Order>> },
    WakeAll,
    Drain { reply: oneshot::Sender<()> },
}

impl Directory {
    /// The directory and the task that keeps it.
    pub(crate) fn new(shared: Arc<Shared>) -> (Self, impl Future<Output = ()> + Send) {
        let (questions, asked) = mpsc::channel(QUESTIONS_IN_FLIGHT);
        let keeper = Keeper {
            shared,
            talks: HashMap::new(),
            names: HashMap::new(),
            work: JoinSet::new(),
            is_leaving: false,
        };
        (Self { questions }, keeper.keep(asked))
    }

    /// Tells a conversation to do something and waits for its answer.
    pub(crate) async fn ask<T>(
        &self,
        id: &str,
        order: impl FnOnce(Reply<T>) -> Order,
    ) -> Result<T, Refusal> {
        let (reply, answer) = oneshot::channel();
        self.send(id, order(reply)).await?;
        match tokio::time::timeout(PATIENCE, answer).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) | Err(_) => Err(silent()),
        }
    }

    /// Tells a conversation to do something.
    pub(crate) async fn send(&self, id: &str, order: Order) -> Result<(), Refusal> {
        let mut order = order;
        // A task that had nothing to do may leave just now; the second attempt starts another.
        for _ in 0..2 {
            let talk = self.reach(id).await?;
            match tokio::time::timeout(PATIENCE, talk.send(order)).await {
                Ok(Ok(())) => return Ok(()),
                Ok(Err(returned)) => order = returned.0,
                Err(_) => return Err(silent()),
            }
        }
        Err(silent())
    }

    async fn reach(&self, id: &str) -> Result<mpsc::Sender<Order>, Refusal> {
        let (reply, answer) = oneshot::channel();
        let question = Question::Reach { id: id.to_owned(), reply };
        self.questions.send(question).await.map_err(|_| leaving())?;
        match tokio::time::timeout(PATIENCE, answer).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) | Err(_) => Err(silent()),
        }
    }

    /// Has every conversation go on that was at work when the host ended.
    pub(crate) async fn wake_all(&self) {
        drop(self.questions.send(Question::WakeAll).await);
    }

    /// Has every run end and waits for that.
    pub(crate) async fn drain(&self, longest: Duration) {
        let (reply, drained) = oneshot::channel();
        drop(self.questions.send(Question::Drain { reply }).await);
        if tokio::time::timeout(longest, drained).await.is_err() {
            tracing::warn!("some runs did not end in time; they go on after the next start");
        }
    }
}

fn silent() -> Refusal {
    Refusal::new(
        RefusalKind::Unavailable,
        "The conversation does not answer. Try again in a moment.",
    )
}

fn leaving() -> Refusal {
    Refusal::new(RefusalKind::Unavailable, "The host is shutting down.")
}

struct Keeper {
    shared: Arc<Shared>,
    talks: HashMap<String, (Id, mpsc::Sender<Order>)>,
    names: HashMap<Id, String>,
    work: JoinSet<Vec<Order>>,
    is_leaving: bool,
}

impl Keeper {
    async fn keep(mut self, mut asked: mpsc::Receiver<Question>) {
        let mut sweep = tokio::time::interval(SWEEP);
        sweep.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                question = asked.recv() => match question {
                    Some(Question::Reach { id, reply }) => {
                        let found = self.find(&id).await;
                        drop(reply.send(found));
                    }
                    Some(Question::WakeAll) => self.wake_all().await,
                    Some(Question::Drain { reply }) => {
                        self.drain().await;
                        if reply.send(()).is_err() {
                            tracing::debug!("nobody waited until all runs had ended");
                        }
                    }
                    None => return,
                },
                Some(ended) = self.work.join_next_with_id() => {
                    let (id, late) = match ended {
                        Ok(ended) => ended,
                        Err(error) => {
                            tracing::error!(%error, "the task of a conversation broke");
                            (error.id(), Vec::new())
                        }
                    };
                    if let Some(name) = self.forget(id) {
                        self.pass_on(&name, late).await;
                    }
                }
                _ = sweep.tick() => self.expire().await,
            }
        }
    }

    fn forget(&mut self, id: Id) -> Option<String> {
        let name = self.names.remove(&id)?;
        if self.talks.get(&name).is_some_and(|(held, _)| *held == id) {
            self.talks.remove(&name);
        }
        Some(name)
    }

    /// Hands what came just as a task left to the next one.
    async fn pass_on(&mut self, name: &str, late: Vec<Order>) {
        if late.is_empty() {
            return;
        }
        let Ok(talk) = self.find(name).await else { return };
        for order in late {
            // Whoever waits for one that finds no room hears that the conversation does not answer.
            drop(talk.try_send(order));
        }
    }

    async fn find(&mut self, id: &str) -> Result<mpsc::Sender<Order>, Refusal> {
        if self.is_leaving {
            return Err(leaving());
        }
        if let Some((_, talk)) = self.talks.get(id).filter(|(_, talk)| !talk.is_closed()) {
            return Ok(talk.clone());
        }
        let wanted = id.to_owned();
        let row = self.shared.store.read(move |db| ConversationRow::find(db, &wanted)).await?;
        let Some(row) = row else { return Err(Refusal::unknown("conversation")) };
        let (orders, given) = mpsc::channel(ORDERS_IN_FLIGHT);
        let talk = Talk::new(Arc::clone(&self.shared), row);
        // Whatever is said meanwhile is said about this conversation.
        let span = tracing::error_span!("conversation", conversation = id);
        let task = self.work.spawn(talk.live(given).instrument(span));
        self.names.insert(task.id(), id.to_owned());
        self.talks.insert(id.to_owned(), (task.id(), orders.clone()));
        Ok(orders)
    }

    async fn wake_all(&mut self) {
        let unfinished = self.shared.store.read(ConversationRow::unfinished).await;
        for id in unfinished.unwrap_or_default() {
            if let Ok(talk) = self.find(&id).await {
                drop(talk.send(Order::WakeUp).await);
            }
        }
    }

    async fn expire(&mut self) {
        let now = self.shared.now();
        let overdue = self.shared.store.read(move |db| StoredApproval::overdue(db, now)).await;
        for (card, conversation) in overdue.unwrap_or_default() {
            if let Ok(talk) = self.find(&conversation).await {
                // One that is too busy now is told at the next look.
                drop(talk.try_send(Order::Expire { id: card }));
            }
        }
    }

    async fn drain(&mut self) {
        self.is_leaving = true;
        let mut drained = Vec::new();
        for (_, talk) in self.talks.values() {
            let (reply, done) = oneshot::channel();
            if talk.send(Order::Drain { reply }).await.is_ok() {
                drained.push(done);
            }
        }
        for done in drained {
            // A task that ended instead of answering is drained as well.
            drop(done.await);
        }
    }
}
