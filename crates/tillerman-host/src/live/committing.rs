//! Storing what happened and then telling clients, in that order.

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use crate::live::feed::{Envelope, News};
use crate::live::talk::Talk;
use crate::store::{
    AuditNote, ConversationRow, MessageRow, MessageState, NewEvent, StoreError, StoredApproval,
    UsageRow,
};
use crate::wire::{ConversationState, Event, RunState};

/// How long to wait before a store that refused is asked again.
const RETRY: Duration = Duration::from_secs(1);
/// How often it is asked before the run is ended.
const MOST_RETRIES: u32 = 600;
/// How much of one event a search can find.
const MOST_WORDS: usize = 32 * 1024;

/// Everything that one step changes; it is stored together or not at all.
#[derive(Clone, Debug, Default)]
pub(crate) struct Change {
    pub(crate) items: Vec<Item>,
    pub(crate) new_message: Option<MessageRow>,
    pub(crate) messages: Vec<(String, MessageState)>,
    /// New places in the queue.
    pub(crate) places: Vec<(String, u32)>,
    pub(crate) new_card: Option<Box<StoredApproval>>,
    pub(crate) usage: Vec<UsageRow>,
    pub(crate) audit: Vec<AuditNote>,
}

/// Changes that the store refused, and when it is asked again.
#[derive(Debug, Default)]
pub(crate) struct Stuck {
    pub(crate) changes: VecDeque<Change>,
    pub(crate) retry_at: Option<Instant>,
    retries: u32,
}

/// Something for clients.
#[derive(Clone, Debug)]
pub(crate) enum Item {
    /// Stored and numbered.
    Stored(Event),
    /// Shown to whoever looks just now.
    Live(Value),
}

impl Change {
    pub(crate) fn event(event: Event) -> Self {
        Self { items: vec![Item::Stored(event)], ..Self::default() }
    }

    /// News about the run.
    pub(crate) fn run(state: RunState, message: impl Into<String>) -> Self {
        Self::event(Event::Run { state, message: message.into() })
    }

    pub(crate) fn push(&mut self, event: Event) {
        self.items.push(Item::Stored(event));
    }

    fn is_empty(&self) -> bool {
        self.items.is_empty() && self.messages.is_empty() && self.usage.is_empty()
    }
}

impl Talk {
    /// Stores a change, after everything that waits to be stored, then tells clients.
    pub(crate) async fn commit(&mut self, change: Change) -> Result<(), StoreError> {
        self.catch_up().await?;
        self.store(change).await
    }

    async fn store(&mut self, change: Change) -> Result<(), StoreError> {
        let (at, began) = (self.shared.now(), Instant::now());
        let mut row = self.row.clone();
        row.shown.updated_at = at;
        let mut events = Vec::new();
        let mut shown = Vec::with_capacity(change.items.len());
        for item in &change.items {
            match item {
                Item::Stored(event) => {
                    row.last_seq += 1;
                    let body = serde_json::to_string(event).unwrap_or_default();
                    let event = NewEvent { seq: row.last_seq, at, body, words: words(event) };
                    shown.push(Envelope::stored(&row.shown.id, &event));
                    events.push(event);
                }
                Item::Live(frame) => {
                    let event = Event::Frame { frame: frame.clone() };
                    let event = serde_json::to_string(&event).unwrap_or_default();
                    shown.push(Envelope::live(&row.shown.id, at, event));
                }
            }
        }
        let is_live_only = !change.items.is_empty() && events.is_empty() && change.is_only_shown();
        if !is_live_only {
            let count = events.len() as u64;
            row = self.shared.store.write(move |db| change.write(db, &row, &events)).await?;
            self.shared.metrics.stored_in(began.elapsed());
            self.shared.metrics.events.fetch_add(count, std::sync::atomic::Ordering::Relaxed);
        }
        self.row = row;
        self.kept_state = self.row.shown.state;
        for mut envelope in shown {
            envelope.since = Some(began);
            // Nobody may look just now.
            drop(self.feed.send(envelope));
        }
        self.tell_changes();
        Ok(())
    }

    /// Watchers hear of a conversation when something about it changed beside its time.
    fn tell_changes(&mut self) {
        self.told.updated_at = self.row.shown.updated_at;
        if self.told != self.row.shown {
            self.told = self.row.shown.clone();
            self.shared.tell(News::conversation(&self.shown()));
        }
    }

    /// The conversation as clients see it.
    pub(crate) fn shown(&self) -> crate::wire::Conversation {
        crate::api::shown(self.row.shown.clone(), &self.shared.settings)
    }

    /// Stores what a run brought. While the store refuses, the run waits: nothing is lost, nothing
    /// is shown that is not stored, and people can still look.
    pub(crate) async fn keep(&mut self, change: Change) {
        if change.is_empty() && self.row.shown.state == self.kept_state {
            return;
        }
        if !self.stuck.changes.is_empty() {
            return self.stuck.changes.push_back(change);
        }
        if let Err(error) = self.commit(change.clone()).await {
            self.tell_trouble(&error);
            self.stuck.changes.push_back(change);
            self.stuck.retry_at = Some(Instant::now() + RETRY);
        }
    }

    /// Asks a store again that refused.
    pub(crate) async fn retry(&mut self) {
        self.stuck.retries += 1;
        match self.catch_up().await {
            Ok(()) => self.stuck = Stuck::default(),
            Err(error) if self.stuck.retries < MOST_RETRIES => {
                self.tell_trouble(&error);
                self.stuck.retry_at = Some(Instant::now() + RETRY);
            }
            Err(_) => {
                tracing::error!("nothing could be stored for ten minutes; the run is ended");
                self.stuck = Stuck::default();
                if let Some(run) = &self.run {
                    run.stop.cancel();
                }
            }
        }
    }

    /// Stores what waits, in order.
    async fn catch_up(&mut self) -> Result<(), StoreError> {
        while let Some(change) = self.stuck.changes.front().cloned() {
            self.store(change).await?;
            self.stuck.changes.pop_front();
        }
        self.trouble.is_full = false;
        Ok(())
    }

    /// Tells whoever looks, once, since nothing can be stored.
    fn tell_trouble(&mut self, error: &StoreError) {
        if std::mem::replace(&mut self.trouble.is_full, true) {
            return;
        }
        tracing::error!(%error, "an event could not be stored; the run waits");
        let message = format!(
            "What happens cannot be stored ({error}), so the run waits. Make room on the disk; it \
             goes on by itself."
        );
        let event = Event::Run { state: RunState::Paused, message };
        let event = serde_json::to_string(&event).unwrap_or_default();
        drop(self.feed.send(Envelope::live(&self.row.shown.id, self.shared.now(), event)));
    }

    /// Stores a new state with a word about it.
    pub(crate) async fn enter(
        &mut self,
        state: ConversationState,
        run: RunState,
        message: impl Into<String>,
    ) {
        self.row.shown.state = state;
        self.keep(Change::run(run, message)).await;
    }
}

impl Change {
    /// Whether nothing of it is for the database.
    fn is_only_shown(&self) -> bool {
        self.new_message.is_none()
            && self.messages.is_empty()
            && self.places.is_empty()
            && self.new_card.is_none()
            && self.usage.is_empty()
            && self.audit.is_empty()
    }

    fn write(
        &self,
        db: &rusqlite::Connection,
        row: &ConversationRow,
        events: &[NewEvent],
    ) -> Result<ConversationRow, rusqlite::Error> {
        let id = &row.shown.id;
        if let Some(message) = &self.new_message {
            message.insert(db, id)?;
        }
        for (message, state) in &self.messages {
            MessageRow::advance(db, message, *state)?;
        }
        for (message, position) in &self.places {
            MessageRow::place(db, message, *position)?;
        }
        if let Some(card) = &self.new_card {
            card.insert(db)?;
        }
        for event in events {
            event.insert(db, id)?;
        }
        for usage in &self.usage {
            usage.insert(db)?;
        }
        for note in &self.audit {
            note.insert(db)?;
        }
        row.update(db)?;
        let stored = ConversationRow::find(db, id)?;
        stored.ok_or(rusqlite::Error::QueryReturnedNoRows)
    }
}

/// What a search can find in an event.
pub(crate) fn words(event: &Event) -> String {
    let mut words = match event {
        Event::User { text, .. } => text.clone(),
        Event::Frame { frame } if frame["type"] == "assistant" => said(frame),
        _ => String::new(),
    };
    if words.len() > MOST_WORDS {
        words.truncate(words.floor_char_boundary(MOST_WORDS));
    }
    words
}

/// What an assistant frame says.
pub(crate) fn said(frame: &Value) -> String {
    let blocks = frame["message"]["content"].as_array();
    let texts = blocks.into_iter().flatten().filter_map(|block| block["text"].as_str());
    texts.collect::<Vec<_>>().join("\n")
}
