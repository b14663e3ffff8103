//! All checks together, fed with every input and every effect of a session.

use std::collections::BTreeMap;

use tillerman_engine::{Activity, Effect, Input, Restored, Session};

use super::callbook::CallBook;
use super::fault::{Checked, Fault, ensure};
use super::flight::{Flight, Task};
use super::requests::Requests;
use super::rounds::Rounds;
use super::spending::Spending;
use super::transcript::Transcript;

/// Watches one session over all its processes.
#[derive(Debug, Default)]
pub(super) struct Watch {
    transcript: Transcript,
    calls: CallBook,
    requests: Requests,
    rounds: Rounds,
    spending: Spending,
    endings: BTreeMap<String, u64>,
    shut_down: bool,
}

impl Watch {
    pub(super) fn new(seed: u64) -> Self {
        Self { transcript: Transcript::new(seed), ..Self::default() }
    }

    /// Takes note of an input before the session hears it.
    pub(super) fn hear(&mut self, input: &Input, session: &Session) {
        self.shut_down |= matches!(input, Input::ShutDown);
        self.calls.hear(input);
        self.requests.hear(input);
        self.rounds.hear(input);
        self.spending.hear(input, session.config());
    }

    /// Checks an effect at the moment at which it is carried out.
    pub(super) fn see(&mut self, effect: &Effect, session: &Session) -> Checked {
        let config = session.config();
        self.rounds.see(effect)?;
        self.calls.see(effect, &config.limits)?;
        self.requests.see(effect, &config.limits, 1 + config.fallback_models.len())?;
        self.spending.see(effect, session.ledger().total_usd(), config)?;
        match effect {
            Effect::Append(entry) => self.transcript.append(entry),
            Effect::Emit(frame) => self.transcript.show(frame),
            _ => Ok(()),
        }
    }

    /// Checks what must hold between two steps.
    pub(super) fn check(&mut self, session: &Session, flight: &Flight) -> Checked {
        let activity = session.activity();
        self.rounds.check(activity, !flight.asks.is_empty())?;
        match activity {
            Activity::Running => return Ok(()),
            Activity::Idle => {
                flight.check_idle()?;
                self.calls.check_idle()?;
                self.transcript.check_idle(session)?;
            }
            Activity::Ended => {
                flight.check_ended()?;
                // The end itself asks a last time; before that there was a chance to obey.
                let asked = |task: &Task| matches!(task, Task::Stopped(2..));
                let over = self.shut_down || flight.tasks.values().all(asked);
                ensure(over, "closing-gives-tasks-time", || format!("{:?}", flight.tasks))?;
                self.transcript.check_ledger(session)?;
            }
        }
        self.spending.check(session.ledger().total_usd())
    }

    /// The process is gone; checks what a new one would start from.
    pub(super) fn restart(&mut self) -> Result<Restored, Fault> {
        let restored = self.transcript.restore()?;
        self.transcript.check_shown(&restored)?;
        self.requests.crash(restored.conversation.messages())?;
        let open = self.calls.open_calls();
        let known = restored.orphans.iter().all(|(id, _)| open.contains(id));
        ensure(known && open.len() == restored.orphans.len(), "open-calls-are-orphans", || {
            format!("{open:?} are open, {:?} are orphans", restored.orphans)
        })?;
        self.calls.crash();
        self.endings = self.endings();
        self.shut_down = false;
        self.rounds = Rounds::default();
        self.spending = Spending::resume(restored.ledger.total_usd());
        Ok(restored)
    }

    /// How often rounds ended in which way, over all processes.
    pub(super) fn endings(&self) -> BTreeMap<String, u64> {
        let mut endings = self.endings.clone();
        for (reason, count) in &self.rounds.endings {
            *endings.entry(reason.clone()).or_default() += count;
        }
        endings
    }
}
