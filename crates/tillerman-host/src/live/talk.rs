//! A conversation: one task owns its row, its messages, its cards and its run.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::{broadcast, mpsc};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::launch::RunEnd;
use crate::live::committing::Stuck;
use crate::live::feed::Envelope;
use crate::live::model_meter::ModelMeter;
use crate::live::order::{Attached, Order, Refusal};
use crate::live::run::Run;
use crate::live::shared::Shared;
use crate::store::{ConversationRow, MessageRow, MessageState};
use crate::wire::{Conversation, ConversationState};

/// Events that a client may lag behind before it has to start over from its cursor.
const FEED: usize = 1_024;
/// Frames that are taken in together.
const TOGETHER: usize = 128;
/// How long a conversation that nobody needs stays in memory.
const LINGER: Duration = Duration::from_secs(30);
/// How long a session that says no more may take to end.
const LAST_STEP: Duration = Duration::from_secs(5);

/// A conversation.
#[derive(Debug)]
pub(crate) struct Talk {
    pub(crate) shared: Arc<Shared>,
    pub(crate) row: ConversationRow,
    pub(crate) feed: broadcast::Sender<Envelope>,
    pub(crate) run: Option<Run>,
    pub(crate) work: JoinSet<RunEnd>,
    /// Small things on the side that nobody waits for.
    pub(crate) errands: JoinSet<()>,
    /// Messages that no run has answered, oldest first.
    pub(crate) messages: Vec<(MessageRow, MessageState)>,
    pub(crate) trouble: Trouble,
    pub(crate) stuck: Stuck,
    pub(crate) meter: ModelMeter,
    /// What a session that starts afresh has to be told of the conversation so far.
    pub(crate) retelling: Option<String>,
    pub(crate) is_draining: bool,
    /// The state that is stored.
    pub(crate) kept_state: ConversationState,
    /// What watchers were last told.
    pub(crate) told: Conversation,
    is_over: bool,
}

/// What went wrong lately and what is planned about it.
#[derive(Debug, Default)]
pub(crate) struct Trouble {
    /// Times in a row that a run broke.
    pub(crate) restarts: u32,
    pub(crate) last_restart: Option<Instant>,
    /// When the run is started again.
    pub(crate) restart_at: Option<Instant>,
    /// Looks in vain at a provider that is out of order.
    pub(crate) looks: u32,
    /// When to look again.
    pub(crate) look_at: Option<Instant>,
    /// A stale session was healed already in this life.
    pub(crate) is_healed: bool,
    /// The store refused and clients were told.
    pub(crate) is_full: bool,
}

/// What happened to a conversation.
enum Step {
    Told(Option<Order>),
    Heard(usize),
    Ended(RunEnd),
    Due,
}

impl Talk {
    pub(crate) fn new(shared: Arc<Shared>, row: ConversationRow) -> Self {
        let (feed, _) = broadcast::channel(FEED);
        Self {
            shared,
            kept_state: row.shown.state,
            told: row.shown.clone(),
            row,
            feed,
            run: None,
            work: JoinSet::new(),
            errands: JoinSet::new(),
            messages: Vec::new(),
            trouble: Trouble::default(),
            stuck: Stuck::default(),
            meter: ModelMeter::default(),
            retelling: None,
            is_draining: false,
            is_over: false,
        }
    }

    /// Lives until nobody needs the conversation, and returns what came too late.
    pub(crate) async fn live(mut self, mut orders: mpsc::Receiver<Order>) -> Vec<Order> {
        self.load_messages().await;
        let mut frames = Vec::with_capacity(TOGETHER);
        let mut idle_since = Instant::now();
        while !self.is_over {
            let due = self.next_deadline().unwrap_or(idle_since + LINGER);
            let step = tokio::select! {
                biased;
                order = orders.recv() => Step::Told(order),
                count = receive(&mut self.run, &mut frames), if self.stuck.changes.is_empty() => {
                    Step::Heard(count)
                }
                Some(ended) = self.work.join_next() => Step::Ended(ended.unwrap_or_else(|error| broken(&error))),
                () = tokio::time::sleep_until(due) => Step::Due,
            };
            match step {
                Step::Told(Some(order)) => self.told(order).await,
                Step::Told(None) => return Vec::new(),
                Step::Heard(0) => self.wait_for_end().await,
                Step::Heard(_) => self.hear(std::mem::take(&mut frames)).await,
                Step::Ended(end) => {
                    self.hear_rest().await;
                    self.run_ended(end).await;
                }
                Step::Due if self.is_needed() => {
                    self.due().await;
                    idle_since = Instant::now();
                }
                Step::Due if idle_since.elapsed() >= LINGER => return leftovers(orders),
                Step::Due => {}
            }
            while self.errands.try_join_next().is_some() {}
        }
        Vec::new()
    }

    /// Whether anything is under way or anybody looks.
    fn is_needed(&self) -> bool {
        self.run.is_some() || self.feed.receiver_count() > 0 || self.next_deadline().is_some()
    }

    async fn told(&mut self, order: Order) {
        match order {
            Order::Say { message, by, reply } => self.say(message, by, reply).await,
            Order::TakeBack { message_id, reply } => self.take_back(message_id, reply).await,
            Order::Interrupt { by, reply } => self.interrupt(by, reply).await,
            Order::Answer { id, request, by, reply } => {
                self.answer_card(id, *request, by, reply).await;
            }
            Order::Expire { id } => self.expire_card(id).await,
            Order::Change { patch, reply } => {
                let answer = self.change(patch).await;
                drop(reply.send(answer));
            }
            Order::Ask { body, reply } => self.ask(body, reply).await,
            Order::Greet { reply } => self.greet(reply).await,
            Order::Rewind { request, by, reply } => self.rewind(request, by, reply).await,
            Order::Attach { reply } => {
                // Whoever comes now has not heard that nothing can be stored.
                self.trouble.is_full = false;
                let attached =
                    Attached { last_seq: self.row.last_seq, events: self.feed.subscribe() };
                drop(reply.send(Ok(attached)));
            }
            Order::WakeUp => self.wake_up().await,
            Order::Delete { reply } => {
                let answer = self.delete().await;
                self.is_over = answer.is_ok();
                drop(reply.send(answer));
            }
            Order::Drain { reply } => {
                self.drain().await;
                self.is_over = true;
                drop(reply.send(Ok(())));
            }
        }
    }

    async fn load_messages(&mut self) {
        let id = self.row.shown.id.clone();
        let loaded = self.shared.store.read(move |db| MessageRow::unanswered(db, &id)).await;
        let state = |is_taken| if is_taken { MessageState::Taken } else { MessageState::Waiting };
        match loaded {
            Ok(rows) => {
                self.messages =
                    rows.into_iter().map(|(row, is_taken)| (row, state(is_taken))).collect();
            }
            Err(error) => tracing::error!(%error, "messages could not be read"),
        }
    }

    async fn delete(&mut self) -> Result<(), Refusal> {
        let id = self.row.shown.id.clone();
        let found = self.shared.store.write(move |db| ConversationRow::delete(db, &id)).await?;
        if let Some(run) = &mut self.run {
            run.is_leaving = true;
            run.stop.cancel();
        }
        if !found {
            return Err(Refusal::unknown("conversation"));
        }
        self.shared.tell(crate::live::feed::News::deleted(&self.row.shown.id));
        Ok(())
    }

    /// Ends the run so that it can go on after the next start.
    async fn drain(&mut self) {
        self.is_draining = true;
        let Some(run) = &mut self.run else { return };
        run.is_leaving = true;
        run.stop.cancel();
        let longest = self.shared.settings.timeouts.drain;
        let ending = async {
            while self.work.join_next().await.is_some() {}
            self.hear_rest().await;
        };
        if tokio::time::timeout(longest, ending).await.is_err() {
            tracing::warn!("a run did not end in time and was cut off; its transcript is whole");
        }
    }

    /// Takes in what a session that has ended still had to say; all of it has come.
    async fn hear_rest(&mut self) {
        loop {
            let mut frames = Vec::new();
            while frames.len() < TOGETHER
                && let Some(run) = &mut self.run
                && let Ok(frame) = run.outbound.try_recv()
            {
                frames.push(frame);
            }
            if frames.is_empty() {
                return;
            }
            self.hear(frames).await;
        }
    }

    /// The session says no more; its end is near.
    async fn wait_for_end(&mut self) {
        let ended = tokio::time::timeout(LAST_STEP, self.work.join_next()).await;
        let end = match ended {
            Ok(Some(ended)) => ended.unwrap_or_else(|error| broken(&error)),
            Ok(None) | Err(_) => {
                self.work.abort_all();
                let message = "It closed its output and did not end, so it was cut off.";
                RunEnd { message: message.to_owned(), ..RunEnd::default() }
            }
        };
        self.run_ended(end).await;
    }
}

/// Frames of the run; pending for ever when there is none, zero when there are no more.
async fn receive(run: &mut Option<Run>, frames: &mut Vec<Value>) -> usize {
    match run {
        Some(run) => run.outbound.recv_many(frames, TOGETHER).await,
        None => std::future::pending().await,
    }
}

/// What came in the last moment is for the next task: whatever this one began would end with it.
fn leftovers(mut orders: mpsc::Receiver<Order>) -> Vec<Order> {
    orders.close();
    let mut late = Vec::new();
    while let Ok(order) = orders.try_recv() {
        late.push(order);
    }
    late
}

fn broken(error: &tokio::task::JoinError) -> RunEnd {
    let message = if error.is_panic() { "The session broke." } else { "The session was ended." };
    RunEnd { message: message.to_owned(), ..RunEnd::default() }
}
