//! The money of a tree: what may be spent, what was, and what is on its way to the root.

use std::collections::VecDeque;

use tillerman_engine::{Bill, Budget, Grant, Pool, Share, Ticket};

use super::forest::Checked;

/// The money of a tree.
pub(super) struct Till {
    pub(super) budget: Budget,
    pool: Pool,
    /// The dearest response so far.
    dearest: Share,
    /// Bills on their way to the root.
    bills: VecDeque<Bill>,
    /// Everything that was settled since the root began, with what it began with.
    settled: Share,
}

impl Till {
    pub(super) fn new(budget: Budget) -> Self {
        let dearest = Share::default();
        let (bills, settled) = (VecDeque::new(), Share::default());
        Self { budget, pool: Pool::default(), dearest, bills, settled }
    }

    /// A process begins in which so much was spent before.
    pub(super) fn open(&mut self, spent: Share) {
        self.settled = spent;
        self.pool = Pool::new(self.budget, spent);
        self.bills.clear();
    }

    pub(super) fn ask(&mut self, share: Share) -> (Ticket, Option<Grant>) {
        self.pool.ask(share)
    }

    /// What all together have spent.
    pub(super) fn spent(&self) -> Share {
        self.pool.spent()
    }

    /// A response was paid for.
    pub(super) fn pay(&mut self, share: Share) {
        self.dearest.usd = self.dearest.usd.max(share.usd);
        self.dearest.tokens = self.dearest.tokens.max(share.tokens);
        self.settled = self.settled.plus(share);
    }

    /// Gives back what was set aside; says who is answered now.
    pub(super) fn settle(&mut self, ticket: Ticket, share: Share) -> Vec<(Ticket, Grant)> {
        self.pool.settle(ticket, share)
    }

    pub(super) fn send(&mut self, bill: Bill) {
        self.bills.push_back(bill);
    }

    /// The next bill that reaches the root.
    pub(super) fn next_bill(&mut self) -> Option<Bill> {
        self.bills.pop_front()
    }

    /// What holds after every step: nobody spends too much, and a root that lives knows everything.
    pub(super) fn check(&self, known_to_root: Option<Share>) -> Checked {
        let (budget, spent) = (self.budget, self.pool.spent());
        let over = budget.usd.is_some_and(|most| spent.usd > most + self.dearest.usd + 1e-9);
        if over || budget.tokens.is_some_and(|most| spent.tokens > most + self.dearest.tokens) {
            return Err(format!("{spent:?} was spent of {budget:?}"));
        }
        // What a turn takes is known beforehand, so not even one is made too many.
        let promised = spent.plus(self.pool.held());
        if budget.turns.is_some_and(|most| promised.turns > most) {
            return Err(format!("{promised:?} was promised of {budget:?}"));
        }
        let Some(known) = known_to_root else { return Ok(()) };
        let pending = self.bills.iter().map(Bill::share).fold(Share::default(), Share::plus);
        let known = known.plus(pending);
        let differs = (known.usd - self.settled.usd).abs() > 1e-6;
        if differs || counted(known) != counted(self.settled) {
            return Err(format!("{:?} was settled, {known:?} is known", self.settled));
        }
        Ok(())
    }

    /// What holds at the end: nothing stays set aside.
    pub(super) fn check_end(&self) -> Checked {
        if self.pool.under_way() > 0 {
            return Err(format!("{:?} stays set aside", self.pool.held()));
        }
        Ok(())
    }
}

/// What has to agree exactly.
const fn counted(share: Share) -> (u64, u64) {
    (share.tokens, share.turns)
}
