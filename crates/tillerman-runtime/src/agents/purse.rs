//! The budget that all agents of a session share, as each of them reaches it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tillerman_engine::{Budget, Grant, Pool, Share, Ticket};
use tokio::sync::oneshot;

/// The shared budget.
#[derive(Debug)]
pub(crate) struct Purse(Mutex<Contents>);

#[derive(Debug)]
struct Contents {
    pool: Pool,
    waiting: HashMap<Ticket, oneshot::Sender<Granting>>,
}

/// What was set aside for one request; it goes back when this is dropped unsettled.
#[derive(Debug)]
pub(crate) struct Reservation {
    purse: Arc<Purse>,
    ticket: Option<Ticket>,
}

/// An answer, with what all agents together had used by then.
pub(crate) type Granting = (Grant, Share);

/// What came of asking for a share.
#[derive(Debug)]
pub(crate) enum Asked {
    Answered(Granting),
    Waiting(oneshot::Receiver<Granting>),
}

impl Purse {
    pub(crate) fn new(budget: Budget, spent: Share) -> Arc<Self> {
        let pool = Pool::new(budget, spent);
        Arc::new(Self(Mutex::new(Contents { pool, waiting: HashMap::new() })))
    }

    /// Sets a share aside, at once or when others have settled.
    pub(crate) fn ask(self: &Arc<Self>, share: Share) -> (Reservation, Asked) {
        let mut contents = self.contents();
        let (ticket, answer) = contents.pool.ask(share);
        let asked = match answer {
            Some(grant) => Asked::Answered((grant, contents.pool.spent())),
            None => {
                let (sender, receiver) = oneshot::channel();
                contents.waiting.insert(ticket, sender);
                Asked::Waiting(receiver)
            }
        };
        (Reservation { purse: Arc::clone(self), ticket: Some(ticket) }, asked)
    }

    fn settle(&self, ticket: Ticket, share: Share) {
        let mut contents = self.contents();
        contents.waiting.remove(&ticket);
        let answered = contents.pool.settle(ticket, share);
        contents.tell(answered);
    }

    /// Enters what nothing was set aside for.
    pub(crate) fn charge(&self, share: Share) {
        let mut contents = self.contents();
        let answered = contents.pool.charge(share);
        contents.tell(answered);
    }

    fn contents(&self) -> MutexGuard<'_, Contents> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Contents {
    fn tell(&mut self, granted: Vec<(Ticket, Grant)>) {
        let spent = self.pool.spent();
        for (answered, grant) in granted {
            if let Some(waiting) = self.waiting.remove(&answered) {
                // Whoever does not listen any more gives its reservation back itself.
                waiting.send((grant, spent)).ok();
            }
        }
    }
}

impl Reservation {
    /// The request has ended and took this much.
    pub(crate) fn settle(mut self, share: Share) {
        if let Some(ticket) = self.ticket.take() {
            self.purse.settle(ticket, share);
        }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket.take() {
            self.purse.settle(ticket, Share::default());
        }
    }
}
