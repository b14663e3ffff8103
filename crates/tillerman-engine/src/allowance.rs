//! What a session and its agents may still use: dollars, tokens, turns and time.

use tillerman_protocol::Moment;

use crate::calls::TimerId;
use crate::effect::Effect;
use crate::pool::{Share, Shortage};
use crate::round::{Ending, Stage};
use crate::session::Session;

/// The shares of a budget at which the model is told how much is left.
const MARKS: [u64; 3] = [50, 80, 95];

/// The moment at which all work ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline {
    /// When it was set, so that it can be said how much of the time has passed.
    pub set_at: Moment,
    /// When it is reached.
    pub at: Moment,
}

/// What was used beside the session's own books, and what the model knows about it.
#[derive(Debug, Default)]
pub(crate) struct Spending {
    /// What was used before the conversation started over.
    pub(crate) before: Share,
    /// What other agents had used when the newest request was granted.
    elsewhere: Share,
    /// The marks the model was told of, for each budget.
    told: [u64; 5],
    timer: Option<TimerId>,
}

impl Session {
    /// Everything used so far by all agents, as far as this one knows.
    pub(crate) fn used(&self) -> Share {
        let settled = self.spending.before.plus(self.spending.elsewhere).plus(self.ledger.total());
        // Calls start while their response goes on, which is entered when it has ended.
        match self.round.as_ref().map(|round| &round.stage) {
            Some(Stage::Responding(response)) => {
                let tokens = response.usage.input_total() + response.usage.output_tokens;
                settled.plus(Share { tokens, ..Share::default() })
            }
            _ => settled,
        }
    }

    /// Takes note of what the whole tree had used when a request was granted. The books of the
    /// session at the root cover everybody anyway.
    pub(crate) fn note_tree(&mut self, spent: Share) {
        if self.config.agent.is_some() {
            self.spending.elsewhere = spent.minus(self.ledger.total());
        }
    }

    /// The budget that forbids another request.
    pub(crate) fn exhausted(&self) -> Option<Ending> {
        let limits = &self.config.limits;
        if limits.deadline.is_some_and(|deadline| self.now >= deadline.at) {
            return Some(Ending::Deadline);
        }
        limits.pooled().shortage(self.used()).map(Ending::of_shortage)
    }

    /// The limit that forbids another turn. A turn that has begun may repeat its request.
    pub(crate) fn limit_reached(&self) -> Option<Ending> {
        let limits = &self.config.limits;
        let turns = self.round.as_ref().map_or(0, |round| round.turns);
        if limits.max_turns.is_some_and(|most| turns >= most) {
            return Some(Ending::MaxTurns);
        }
        let short = || limits.pooled().shortage_for_turn(self.used()).map(Ending::of_shortage);
        self.exhausted().or_else(short)
    }

    /// What the next request takes of the turns: a repetition takes none.
    pub(crate) fn turns_of_request(&self) -> u64 {
        u64::from(self.round.as_ref().is_some_and(|round| !round.turn_entered))
    }

    /// Why no further call of a tool may start. Delivering an output uses nothing more.
    pub(crate) fn call_forbidden(&self, tool: &str) -> Option<&'static str> {
        let output = self.config.structured_output.as_ref();
        if output.is_some_and(|output| output.tool.name == tool) {
            return None;
        }
        let limits = &self.config.limits;
        if limits.deadline.is_some_and(|deadline| self.now >= deadline.at) {
            return Some("Deadline exceeded");
        }
        let spent = limits.max_total_tokens.is_some_and(|most| self.used().tokens >= most);
        spent.then_some("Token budget exhausted")
    }

    /// What the model has to be told about its budgets now: each mark once.
    pub(crate) fn budget_news(&mut self) -> Vec<String> {
        let limits = &self.config.limits;
        let used = self.used();
        let dollars = limits.max_budget_usd.map(|most| {
            let left = (most - used.usd).max(0.0);
            (percent_of_dollars(used.usd, most), format!("${left:.2} of ${most} are left"))
        });
        let tokens = |most: u64| {
            let left = most.saturating_sub(used.tokens);
            (percent(used.tokens, most), format!("{left} of {most} tokens are left"))
        };
        let time = limits.deadline.map(|deadline| {
            let whole = deadline.at.millis_since(deadline.set_at);
            let left = deadline.at.millis_since(self.now) / 1000;
            let passed = percent(self.now.millis_since(deadline.set_at), whole);
            (passed, format!("{left} seconds are left"))
        });
        let turns = limits.max_total_turns.map(|most| {
            let left = most.saturating_sub(used.turns);
            (percent(used.turns, most), format!("{left} of {most} turns are left"))
        });
        let total_tokens = limits.max_total_tokens.map(tokens);
        let states = [dollars, total_tokens, time, limits.task_budget.map(tokens), turns];
        let mut news = Vec::new();
        for (told, state) in self.spending.told.iter_mut().zip(states) {
            let Some((percent, left)) = state else { continue };
            let Some(mark) = MARKS.into_iter().rev().find(|mark| percent >= *mark) else {
                continue;
            };
            if *told < mark {
                *told = mark;
                news.push(format!("Budget notice: {left} for all of this work. {}", advice(mark)));
            }
        }
        news
    }

    /// The model has forgotten what it was told.
    pub(crate) const fn forget_budget_news(&mut self) {
        self.spending.told = [0; 5];
    }

    /// Has the round end when the deadline is reached, whatever it waits for then.
    pub(crate) fn arm_deadline(&mut self) {
        let Some(deadline) = self.config.limits.deadline else { return };
        if self.spending.timer.is_none() {
            let timer = TimerId(self.next());
            self.spending.timer = Some(timer);
            let after_ms = deadline.at.millis_since(self.now);
            self.effects.push(Effect::StartTimer { timer, after_ms });
        }
    }

    /// The round has ended before the deadline.
    pub(crate) fn disarm_deadline(&mut self) {
        if let Some(timer) = self.spending.timer.take() {
            self.effects.push(Effect::CancelTimer { timer });
        }
    }

    /// Whether the timer that fired was the deadline's; if so, the round has ended.
    pub(crate) fn deadline_fired(&mut self, timer: TimerId) -> bool {
        let is_deadline = self.spending.timer == Some(timer);
        if is_deadline {
            self.spending.timer = None;
            self.cut_short();
        }
        is_deadline
    }
}

impl Ending {
    /// How a round ends for want of something.
    pub(crate) const fn of_shortage(shortage: Shortage) -> Self {
        match shortage {
            Shortage::Dollars => Self::MaxBudget,
            Shortage::Tokens => Self::MaxTokens,
            Shortage::Turns => Self::MaxTotalTurns,
        }
    }

    /// What is used up, in a few words.
    pub(crate) const fn shortage_text(&self) -> &'static str {
        match self {
            Self::Deadline => "the deadline was reached",
            Self::MaxTokens => "the token budget is used up",
            Self::MaxTotalTurns => "the turns are used up",
            _ => "the budget is spent",
        }
    }
}

const fn advice(mark: u64) -> &'static str {
    match mark {
        95 => "Finish now: say what is done and what is left.",
        80 => "Bring the work to an end, the most important part first.",
        _ => "Plan the rest accordingly.",
    }
}

const fn percent(used: u64, most: u64) -> u64 {
    match used.saturating_mul(100).checked_div(most) {
        Some(percent) => percent,
        None => 100,
    }
}

fn percent_of_dollars(used: f64, most: f64) -> u64 {
    let reached = |mark: &u64| match mark {
        50 => used >= most * 0.5,
        80 => used >= most * 0.8,
        _ => used >= most * 0.95,
    };
    MARKS.into_iter().rev().find(reached).unwrap_or(0)
}
