//! One budget for a whole tree of agents: set aside before a request, settled after it.

use std::collections::{BTreeMap, VecDeque};

/// Names one request's share of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket(u64);

/// Dollars, tokens and turns, of one request or of many.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Share {
    /// Dollars.
    pub usd: f64,
    /// Tokens, read from a cache or not, taken in or given out.
    pub tokens: u64,
    /// Turns: requests that take a conversation further, repetitions not counted.
    pub turns: u64,
}

impl Share {
    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            usd: self.usd + other.usd,
            tokens: self.tokens.saturating_add(other.tokens),
            turns: self.turns.saturating_add(other.turns),
        }
    }

    /// What is left of it without the other; nothing is never less than nothing.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        let usd = (self.usd - other.usd).max(0.0);
        let tokens = self.tokens.saturating_sub(other.tokens);
        Self { usd, tokens, turns: self.turns.saturating_sub(other.turns) }
    }
}

/// What a pool holds; `None` means no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Budget {
    /// Dollars.
    pub usd: Option<f64>,
    /// Tokens.
    pub tokens: Option<u64>,
    /// Turns.
    pub turns: Option<u64>,
}

/// What there is nothing left of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shortage {
    /// Dollars.
    Dollars,
    /// Tokens.
    Tokens,
    /// Turns.
    Turns,
}

impl Budget {
    /// What is used up once this much is spent, so that nothing more may be asked of a model.
    #[must_use]
    pub fn shortage(&self, spent: Share) -> Option<Shortage> {
        if self.usd.is_some_and(|most| spent.usd >= most) {
            return Some(Shortage::Dollars);
        }
        self.tokens.is_some_and(|most| spent.tokens >= most).then_some(Shortage::Tokens)
    }

    /// What there is not enough of for another turn, once this much is spent.
    #[must_use]
    pub fn shortage_for_turn(&self, spent: Share) -> Option<Shortage> {
        let out_of_turns = self.turns.is_some_and(|most| spent.turns >= most);
        self.shortage(spent).or(out_of_turns.then_some(Shortage::Turns))
    }

    /// Summaries and repetitions take no turn, so they are made when none is left.
    fn shortage_for(&self, spent: Share, wanted: Share) -> Option<Shortage> {
        if wanted.turns > 0 { self.shortage_for_turn(spent) } else { self.shortage(spent) }
    }

    fn covers(&self, share: Share) -> bool {
        self.usd.is_none_or(|most| share.usd <= most)
            && self.tokens.is_none_or(|most| share.tokens <= most)
            && self.turns.is_none_or(|most| share.turns <= most)
    }
}

/// Whether a request may be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grant {
    /// It may.
    Granted,
    /// The budget is spent.
    Refused(Shortage),
}

/// What all agents of a session may spend together.
///
/// A request is granted when everything spent, everything set aside and its own estimate fit into
/// the budget. One that does not fit waits until it is alone; then it is granted as long as
/// anything is left. So the agents together exceed the budget by one response at most, and near
/// its end they take turns instead of racing each other.
#[derive(Clone, Debug, Default)]
pub struct Pool {
    budget: Budget,
    spent: Share,
    held: BTreeMap<Ticket, Share>,
    waiting: VecDeque<(Ticket, Share)>,
    tickets: u64,
}

impl Pool {
    /// A pool of which some was spent before; what has no limit is always granted.
    #[must_use]
    pub fn new(budget: Budget, spent: Share) -> Self {
        Self { budget, spent, ..Self::default() }
    }

    /// What was spent so far.
    #[must_use]
    pub const fn spent(&self) -> Share {
        self.spent
    }

    /// What is set aside for requests that are under way.
    #[must_use]
    pub fn held(&self) -> Share {
        self.held.values().fold(Share::default(), |sum, share| sum.plus(*share))
    }

    /// How many requests are under way.
    #[must_use]
    pub fn under_way(&self) -> usize {
        self.held.len()
    }

    /// Asks for a share. Without an answer the request waits; a later settlement names it.
    pub fn ask(&mut self, share: Share) -> (Ticket, Option<Grant>) {
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        self.waiting.push_back((ticket, share));
        let answered = self.serve();
        let own = answered.into_iter().find(|(answered, _)| *answered == ticket);
        (ticket, own.map(|(_, grant)| grant))
    }

    /// A request has ended and took this much. Returns the requests that are answered by that.
    pub fn settle(&mut self, ticket: Ticket, share: Share) -> Vec<(Ticket, Grant)> {
        self.held.remove(&ticket);
        self.waiting.retain(|(waiting, _)| *waiting != ticket);
        self.spent = self.spent.plus(share);
        self.serve()
    }

    /// Enters what nothing was set aside for. Returns the requests that are answered by that.
    pub fn charge(&mut self, share: Share) -> Vec<(Ticket, Grant)> {
        self.spent = self.spent.plus(share);
        self.serve()
    }

    /// A request is not made after all.
    pub fn withdraw(&mut self, ticket: Ticket) -> Vec<(Ticket, Grant)> {
        self.settle(ticket, Share::default())
    }

    /// Answers from the front only: whoever waits longest is not overtaken by smaller requests.
    fn serve(&mut self) -> Vec<(Ticket, Grant)> {
        let mut answered = Vec::new();
        while let Some((ticket, share)) = self.waiting.front().copied() {
            let all = self.spent.plus(self.held()).plus(share);
            let grant = match self.budget.shortage_for(self.spent, share) {
                Some(shortage) => Grant::Refused(shortage),
                None if !self.held.is_empty() && !self.budget.covers(all) => break,
                None => Grant::Granted,
            };
            self.waiting.pop_front();
            if grant == Grant::Granted {
                self.held.insert(ticket, share);
            }
            answered.push((ticket, grant));
        }
        answered
    }
}
