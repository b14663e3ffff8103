//! Pages that servers have people open: which of them are not done with yet.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// Pages of one server that are remembered; older ones are hardly done with any more.
const MOST: usize = 100;

/// Pages that people were asked to open, by the ids of the questions. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct OpenPages(Arc<Mutex<VecDeque<String>>>);

impl OpenPages {
    /// Somebody is asked to open one.
    pub(crate) fn put(&self, id: &str) {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if open.len() == MOST {
            open.pop_front();
        }
        open.push_back(id.to_owned());
    }

    /// Takes one out that is done with; false when nobody was asked, or it was done with before.
    pub(crate) fn take(&self, id: &str) -> bool {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = open.iter().position(|held| held == id);
        place.and_then(|place| open.remove(place)).is_some()
    }
}
