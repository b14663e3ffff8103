//! One budget for a whole tree of agents: set aside before a request, settled after it.

use std::collections::{BTreeMap, VecDeque};

/// Names one request's share of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket(u64);

/// Whether a request may be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grant {
    /// It may.
    Granted,
    /// The budget is spent.
    Refused,
}

/// What all agents of a session may spend together.
///
/// A request is granted when everything spent, everything set aside and its own estimate fit into
/// the budget. One that does not fit waits until it is alone; then it is granted as long as
/// anything is left. So the agents together exceed the budget by one response at most, and near
/// its end they take turns instead of racing each other.
#[derive(Clone, Debug, Default)]
pub struct Pool {
    budget: Option<f64>,
    spent: f64,
    held: BTreeMap<Ticket, f64>,
    waiting: VecDeque<(Ticket, f64)>,
    tickets: u64,
}

impl Pool {
    /// A pool of which some was spent before; without a budget everything is granted.
    #[must_use]
    pub fn new(budget: Option<f64>, spent: f64) -> Self {
        Self { budget, spent, ..Self::default() }
    }

    /// Dollars spent so far.
    #[must_use]
    pub const fn spent(&self) -> f64 {
        self.spent
    }

    /// Dollars set aside for requests that are under way.
    #[must_use]
    pub fn held(&self) -> f64 {
        self.held.values().fold(0.0, |sum, usd| sum + usd)
    }

    /// How many requests are under way.
    #[must_use]
    pub fn under_way(&self) -> usize {
        self.held.len()
    }

    /// Asks for this many dollars. Without an answer the request waits; a later settlement names it.
    pub fn ask(&mut self, usd: f64) -> (Ticket, Option<Grant>) {
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        self.waiting.push_back((ticket, usd));
        let answered = self.serve();
        let own = answered.into_iter().find(|(answered, _)| *answered == ticket);
        (ticket, own.map(|(_, grant)| grant))
    }

    /// A request has ended and cost this much. Returns the requests that are answered by that.
    pub fn settle(&mut self, ticket: Ticket, usd: f64) -> Vec<(Ticket, Grant)> {
        self.held.remove(&ticket);
        self.waiting.retain(|(waiting, _)| *waiting != ticket);
        self.spent += usd;
        self.serve()
    }

    /// A request is not made after all.
    pub fn withdraw(&mut self, ticket: Ticket) -> Vec<(Ticket, Grant)> {
        self.settle(ticket, 0.0)
    }

    /// Answers from the front only: whoever waits longest is not overtaken by smaller requests.
    fn serve(&mut self) -> Vec<(Ticket, Grant)> {
        let mut answered = Vec::new();
        while let Some((ticket, usd)) = self.waiting.front().copied() {
            let grant = match self.budget {
                Some(budget) if self.spent >= budget => Grant::Refused,
                Some(budget)
                    if !self.held.is_empty() && self.spent + self.held() + usd > budget =>
                {
                    break;
                }
                _ => Grant::Granted,
            };
            self.waiting.pop_front();
            if grant == Grant::Granted {
                self.held.insert(ticket, usd);
            }
            answered.push((ticket, grant));
        }
        answered
    }
}
