//! What all conversations of a host share.

use std::fmt;
use std::sync::Arc;

use tillerman_protocol::Moment;
use tokio::sync::{broadcast, watch};

use crate::launch::Launcher;
use crate::live::feed::News;
use crate::metrics::Metrics;
use crate::settings::HostSettings;
use crate::store::Store;
use crate::wire::FileProblem;

/// Tells the time.
pub(crate) type Now = Arc<dyn Fn() -> Moment + Send + Sync>;

/// What all conversations of a host share.
pub(crate) struct Shared {
    pub(crate) store: Store,
    pub(crate) launcher: Arc<dyn Launcher>,
    pub(crate) settings: HostSettings,
    pub(crate) metrics: Metrics,
    pub(crate) news: broadcast::Sender<News>,
    pub(crate) now: Now,
    /// What is wrong with the files of projects and agents.
    pub(crate) problems: watch::Sender<Arc<Vec<FileProblem>>>,
    /// The user whose agents remember things where they do without a host.
    pub(crate) first_owner: String,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("store", &self.store).finish_non_exhaustive()
    }
}

impl Shared {
    pub(crate) fn now(&self) -> Moment {
        (self.now)()
    }

    /// An owner as sessions are told; nothing for the first.
    pub(crate) fn further_owner(&self, owner: &str) -> Option<String> {
        (owner != self.first_owner).then(|| owner.to_owned())
    }

    /// Tells everybody who watches. Nobody may.
    pub(crate) fn tell(&self, news: News) {
        drop(self.news.send(news));
    }
}

/// A new id: a random UUID. Without randomness there is none, and no two may be alike, so that
/// the caller refuses.
pub(crate) fn new_id() -> Option<String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).ok()?;
    Some(uuid::Builder::from_random_bytes(bytes).into_uuid().to_string())
}
