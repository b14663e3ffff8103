//! What a handler owes for the models that it asked, however it ends.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use tillerman_ports::HookBill;
use tillerman_protocol::stream::{StreamEvent, Usage};

/// The bills of one run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tab(Arc<Mutex<Vec<HookBill>>>);

/// A response that is coming in; it is entered when this is dropped, also in the middle.
#[derive(Debug)]
pub(crate) struct OpenBill {
    tab: Tab,
    model: String,
    asked_at: Instant,
    usage: Option<Usage>,
}

impl Tab {
    /// Begins the bill of a request.
    pub(crate) fn open(&self, model: &str) -> OpenBill {
        let (tab, model) = (self.clone(), model.to_owned());
        OpenBill { tab, model, asked_at: Instant::now(), usage: None }
    }

    /// Everything that was entered so far.
    pub(crate) fn take(&self) -> Vec<HookBill> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl OpenBill {
    /// Takes note of what an event says about tokens.
    pub(crate) fn hear(&mut self, event: &StreamEvent) {
        match event {
            StreamEvent::MessageStart { message } => self.usage = Some(message.usage.clone()),
            StreamEvent::MessageDelta { usage, .. } => {
                self.usage.get_or_insert_default().update(usage);
            }
            _ => {}
        }
    }
}

impl Drop for OpenBill {
    fn drop(&mut self) {
        let Some(usage) = self.usage.take() else { return };
        let api_ms = u64::try_from(self.asked_at.elapsed().as_millis()).unwrap_or(u64::MAX);
        let bill = HookBill { model: std::mem::take(&mut self.model), usage, api_ms };
        self.tab.0.lock().unwrap_or_else(PoisonError::into_inner).push(bill);
    }
}
