//! Pages that were fetched a short while ago.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

const FRESH: Duration = Duration::from_secs(15 * 60);
const MOST_BYTES: usize = 32 << 20;

/// A page ready to be read.
#[derive(Debug)]
pub(super) struct CachedPage {
    /// The status the server sent.
    pub(super) code: u16,
    /// The status in words.
    pub(super) code_text: String,
    /// How many bytes came.
    pub(super) bytes: usize,
    /// The text.
    pub(super) text: String,
}

/// Fetched pages by their URL.
#[derive(Debug, Default)]
pub(super) struct Cache {
    pages: Mutex<HashMap<String, (Instant, Arc<CachedPage>)>>,
}

impl Cache {
    pub(super) fn get(&self, url: &str) -> Option<Arc<CachedPage>> {
        let mut pages = self.pages();
        pages.retain(|_, (fetched, _)| fetched.elapsed() < FRESH);
        pages.get(url).map(|(_, page)| Arc::clone(page))
    }

    /// Keeps a page and forgets the oldest ones when there are too many.
    pub(super) fn put(&self, url: &str, page: Arc<CachedPage>) {
        let mut pages = self.pages();
        pages.insert(url.to_owned(), (Instant::now(), page));
        while pages.values().map(|(_, page)| page.text.len()).sum::<usize>() > MOST_BYTES {
            let oldest = pages.iter().min_by_key(|(_, (fetched, _))| *fetched);
            let Some(url) = oldest.map(|(url, _)| url.clone()) else { break };
            pages.remove(&url);
        }
    }

    fn pages(&self) -> MutexGuard<'_, HashMap<String, (Instant, Arc<CachedPage>)>> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
