//! A teammate that has done its work rests, unless hooks have it go on.

use tillerman_protocol::hook::{HookDetail, HookEvent};

use crate::hooks::HookOutcome;
use crate::input::Author;
use crate::round::{Ending, Stage};
use crate::session::Session;

impl Session {
    /// Ends the round; a teammate's hooks may object.
    pub(crate) fn try_to_rest(&mut self) {
        let seat = self.config.agent.as_ref().and_then(|agent| agent.seat.clone());
        match seat {
            Some(seat) if self.is_hooked(HookEvent::TeammateIdle) => {
                let (teammate_name, team_name) = (seat.name, seat.team);
                let run = self.run_hooks(HookDetail::TeammateIdle { teammate_name, team_name });
                self.set_stage(Stage::Resting(run));
            }
            _ => self.finish(Ending::Completed),
        }
    }

    pub(crate) fn rest_judged(&mut self, outcome: HookOutcome) {
        if !self.is_kept_working("TeammateIdle", outcome) {
            self.finish(Ending::Completed);
        }
    }

    /// Goes on with what a hook wants done first; not more often than the limit says.
    pub(crate) fn is_kept_working(&mut self, hook: &str, outcome: HookOutcome) -> bool {
        let Some(round) = self.round.as_mut() else { return true };
        let may_go_on = round.stop_blocks < self.config.limits.stop_hook_blocks;
        // A remark that is no objection is worth an answer all the same.
        let has_words = outcome.context.iter().any(|text| !text.trim().is_empty());
        let remarks = hook == "Stop" && outcome.block.is_none() && has_words;
        if remarks && outcome.halt.is_none() && may_go_on {
            round.stop_blocks += 1;
            round.context.extend(outcome.context);
            self.request();
            return true;
        }
        match outcome.block {
            Some(reason) if outcome.halt.is_none() && may_go_on => {
                round.stop_blocks += 1;
                round.context.extend(outcome.context);
                self.tell_aloud(&format!("{hook} hook feedback:\n{reason}"), Author::Engine);
                self.request();
                true
            }
            _ => false,
        }
    }
}
