//! What happened in a conversation: as a list, as a stream, and for sockets.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{Path, State};
use axum::response::sse::{Event as SseEvent, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use http::HeaderMap;
use http::header::ACCEPT;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tillerman_protocol::Moment;
use tokio::sync::broadcast::error::RecvError;

use crate::api::conversations::find;
use crate::api::endpoint::Query;
use crate::api::error::ApiError;
use crate::api::routes::ApiState;
use crate::live::{Attached, Envelope, Order};
use crate::store::{NewEvent, Store, StoreError};

const PAGE: usize = 500;
const LARGEST_PAGE: usize = 2_000;
/// Events that are read at once when a client catches up.
const CATCHING_UP: usize = 200;
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Which events are wanted.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct EventQuery {
    /// Only those with a greater number.
    after: u64,
    /// How many.
    limit: Option<usize>,
}

/// Some events.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct EventList {
    events: Vec<Numbered>,
    /// The number of the newest event of the conversation.
    last_seq: u64,
}

/// An event with its number.
#[derive(Debug, Serialize, JsonSchema)]
struct Numbered {
    seq: u64,
    #[schemars(with = "String")]
    at: Moment,
    #[schemars(with = "crate::wire::Event")]
    event: Box<RawValue>,
}

pub(crate) async fn events(
    State(state): State<Arc<ApiState>>,
    Path(id): Path<String>,
    Query(query): Query<EventQuery>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let accepts = headers.get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if accepts.contains("text/event-stream") {
        let resumed = headers.get("last-event-id").and_then(|id| id.to_str().ok()?.parse().ok());
        return stream(&state, id, resumed.unwrap_or(query.after)).await;
    }
    let last_seq = find(&state, &id).await?.last_seq;
    let limit = query.limit.unwrap_or(PAGE).clamp(1, LARGEST_PAGE);
    let after = query.after;
    let events = state.shared.store.read(move |db| NewEvent::after(db, &id, after, limit)).await?;
    let events = events
        .into_iter()
        .map(|event| Numbered { seq: event.seq, at: event.at, event: event.raw() })
        .collect();
    Ok(Json(EventList { events, last_seq }).into_response())
}

async fn stream(state: &Arc<ApiState>, id: String, after: u64) -> Result<Response, ApiError> {
    let follower = Follower::start(state, id, after).await?;
    let store = state.shared.store.clone();
    let leaving = state.leaving.clone();
    let events = futures_util::stream::unfold(Some(follower), move |follower| {
        let (store, leaving) = (store.clone(), leaving.clone());
        async move {
            let mut follower = follower?;
            loop {
                let next = tokio::select! {
                    next = follower.next(&store) => next,
                    () = leaving.cancelled() => return None,
                };
                match next {
                    Followed::Event(envelope) => {
                        let event = SseEvent::default().data(envelope.text.as_str());
                        let event = match envelope.seq {
                            Some(seq) => event.id(seq.to_string()),
                            None => event,
                        };
                        return Some((Ok::<_, Infallible>(event), Some(follower)));
                    }
                    Followed::CaughtUp(_) => {}
                    Followed::Lagged | Followed::Gone | Followed::Failed(_) => return None,
                }
            }
        }
    });
    let keep_alive = KeepAlive::new().interval(KEEP_ALIVE);
    Ok(Sse::new(events).keep_alive(keep_alive).into_response())
}

/// A client's place in a conversation: first what is stored, then what happens, no event twice and
/// none left out.
#[derive(Debug)]
pub(crate) struct Follower {
    conversation: String,
    cursor: u64,
    until: u64,
    is_caught_up: bool,
    page: VecDeque<Envelope>,
    attached: Attached,
}

/// What comes next for a client.
#[derive(Debug)]
pub(crate) enum Followed {
    /// An event.
    Event(Envelope),
    /// Everything that was stored has been sent.
    CaughtUp(u64),
    /// The client was too slow.
    Lagged,
    /// The conversation is gone.
    Gone,
    /// The store refused.
    Failed(StoreError),
}

impl Follower {
    pub(crate) async fn start(
        state: &ApiState,
        conversation: String,
        after: u64,
    ) -> Result<Self, ApiError> {
        let attached = state.directory.ask(&conversation, |reply| Order::Attach { reply }).await?;
        let until = attached.last_seq;
        let cursor = after.min(until);
        let page = VecDeque::new();
        Ok(Self { conversation, cursor, until, is_caught_up: false, page, attached })
    }

    /// What comes next. Nothing is lost when the wait is given up.
    pub(crate) async fn next(&mut self, store: &Store) -> Followed {
        loop {
            if let Some(envelope) = self.page.pop_front() {
                self.cursor = envelope.seq.unwrap_or(self.cursor);
                return Followed::Event(envelope);
            }
            if self.cursor < self.until {
                match self.read_page(store).await {
                    Ok(page) if page.is_empty() => self.cursor = self.until,
                    Ok(page) => self.page = page,
                    Err(error) => return Followed::Failed(error),
                }
                continue;
            }
            if !self.is_caught_up {
                self.is_caught_up = true;
                return Followed::CaughtUp(self.cursor);
            }
            match self.attached.events.recv().await {
                Ok(envelope) => match envelope.seq {
                    Some(seq) if seq <= self.cursor => {}
                    Some(seq) => {
                        self.cursor = seq;
                        return Followed::Event(envelope);
                    }
                    None => return Followed::Event(envelope),
                },
                Err(RecvError::Lagged(_)) => return Followed::Lagged,
                Err(RecvError::Closed) => return Followed::Gone,
            }
        }
    }

    async fn read_page(&self, store: &Store) -> Result<VecDeque<Envelope>, StoreError> {
        let (id, after) = (self.conversation.clone(), self.cursor);
        let most = usize::try_from(self.until - after).unwrap_or(CATCHING_UP).min(CATCHING_UP);
        let events = store.read(move |db| NewEvent::after(db, &id, after, most)).await?;
        Ok(events.iter().map(|event| Envelope::stored(&self.conversation, event)).collect())
    }
}
