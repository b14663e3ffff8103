//! Gates hold a reply until the test opens them.

use std::sync::Arc;

use tokio::sync::watch;

use crate::deadline::within;

/// Holds a reply until the test opens it. Clones are the same gate.
#[derive(Clone, Debug)]
pub struct Gate {
    state: Arc<watch::Sender<State>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    open: bool,
    reached: bool,
}

impl Gate {
    /// A closed gate.
    #[must_use]
    pub fn new() -> Self {
        Self { state: Arc::new(watch::Sender::new(State::default())) }
    }

    /// Lets everything through that waits now or arrives later.
    pub fn open(&self) {
        self.state.send_modify(|state| state.open = true);
    }

    /// Waits until a reply has arrived at the gate.
    ///
    /// # Panics
    /// When none arrives within ten seconds.
    ///
    /// # Cancel safety
    /// Nothing is lost when the future is dropped.
    pub async fn reached(&self) {
        self.until("a reply to arrive at the gate", |state| state.reached).await;
    }

    /// Arrives at the gate and stays until it is open.
    pub(crate) async fn pass(&self) {
        self.state.send_modify(|state| state.reached = true);
        let mut changes = self.state.subscribe();
        // The sender is alive as long as `self` is, so the wait can only end by the gate opening.
        drop(changes.wait_for(|state| state.open).await);
    }

    async fn until(&self, what: &str, condition: impl Fn(&State) -> bool) {
        let mut changes = self.state.subscribe();
        drop(within(what, changes.wait_for(|state| condition(state))).await);
    }
}

impl Default for Gate {
    fn default() -> Self {
        Self::new()
    }
}
