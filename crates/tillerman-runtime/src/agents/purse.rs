//! The budget that all agents of a session share, as each of them reaches it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tillerman_engine::{Grant, Pool, Ticket};
use tokio::sync::oneshot;

/// The shared budget.
#[derive(Debug)]
pub(crate) struct Purse(Mutex<Contents>);

#[derive(Debug)]
struct Contents {
    pool: Pool,
    waiting: HashMap<Ticket, oneshot::Sender<Grant>>,
}

/// What was set aside for one request; it goes back when this is dropped unsettled.
#[derive(Debug)]
pub(crate) struct Reservation {
    purse: Arc<Purse>,
    ticket: Option<Ticket>,
}

/// What came of asking for money.
#[derive(Debug)]
pub(crate) enum Asked {
    Answered(Grant),
    Waiting(oneshot::Receiver<Grant>),
}

impl Purse {
    pub(crate) fn new(budget: Option<f64>, spent: f64) -> Arc<Self> {
        let pool = Pool::new(budget, spent);
        Arc::new(Self(Mutex::new(Contents { pool, waiting: HashMap::new() })))
    }

    /// Sets money aside, at once or when others have settled.
    pub(crate) fn ask(self: &Arc<Self>, usd: f64) -> (Reservation, Asked) {
        let mut contents = self.contents();
        let (ticket, answer) = contents.pool.ask(usd);
        let asked = match answer {
            Some(grant) => Asked::Answered(grant),
            None => {
                let (sender, receiver) = oneshot::channel();
                contents.waiting.insert(ticket, sender);
                Asked::Waiting(receiver)
            }
        };
        (Reservation { purse: Arc::clone(self), ticket: Some(ticket) }, asked)
    }

    fn settle(&self, ticket: Ticket, usd: f64) {
        let mut contents = self.contents();
        contents.waiting.remove(&ticket);
        for (answered, grant) in contents.pool.settle(ticket, usd) {
            if let Some(waiting) = contents.waiting.remove(&answered) {
                // Whoever does not listen any more gives its reservation back itself.
                waiting.send(grant).ok();
            }
        }
    }

    fn contents(&self) -> MutexGuard<'_, Contents> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reservation {
    /// The request has ended and cost this much.
    pub(crate) fn settle(mut self, usd: f64) {
        if let Some(ticket) = self.ticket.take() {
            self.purse.settle(ticket, usd);
        }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket.take() {
            self.purse.settle(ticket, 0.0);
        }
    }
}
