//! Ending a round in the middle: on request, at its deadline, or with the session.

use crate::effect::{Effect, Sync};
use crate::round::{Ending, Stage};
use crate::session::Session;
use crate::settle::Breaker;

impl Session {
    /// Ends the round that is under way; what was complete is kept.
    pub(crate) fn interrupt(&mut self) {
        if self.round.is_none() {
            return self.give_up_beginning();
        }
        let while_working = self.abandon_work(Breaker::Person);
        self.mark_interruption(while_working);
        self.finish(Ending::Aborted { while_working });
    }

    /// Ends the round that is under way because its time is over.
    pub(crate) fn cut_short(&mut self) {
        if self.round.is_some() {
            self.abandon_work(Breaker::Deadline);
            self.finish(Ending::Deadline);
        }
    }

    /// Gives up whatever the round waits for. True when calls were under way.
    fn abandon_work(&mut self, breaker: Breaker) -> bool {
        let Some(round) = self.round.as_mut() else { return false };
        let while_working = !round.calls.unsettled().is_empty();
        let stage = std::mem::replace(&mut round.stage, Stage::Between);
        match stage {
            Stage::Expanding(run, prompts) | Stage::Submitting(run, prompts) => {
                self.effects.push(Effect::CancelHooks { run });
                self.drop_prompts(&prompts);
            }
            Stage::BatchHooks(run)
            | Stage::Stopping(run)
            | Stage::Resting(run)
            | Stage::Switching(run, _)
            | Stage::Failing(run, _) => {
                self.effects.push(Effect::CancelHooks { run });
            }
            Stage::BackingOff(timer) => self.effects.push(Effect::CancelTimer { timer }),
            Stage::Reserving(response) => self.effects.push(Effect::CancelReserve { response }),
            Stage::Responding(response) => {
                self.effects.push(Effect::CancelModel { response: response.id });
                self.keep_partial_text(&response);
                self.settle_accounts(&response);
            }
            Stage::Compacting(compaction) => self.interrupt_compaction(&compaction),
            Stage::Working | Stage::Between => {}
        }
        self.abandon_calls(breaker);
        self.hand_over_results();
        while_working
    }

    /// Ends the session at once; what was used until now is stored.
    pub(crate) fn shut_down(&mut self) {
        self.disarm_deadline();
        if let Some(mut round) = self.round.take() {
            match std::mem::replace(&mut round.stage, Stage::Between) {
                Stage::Responding(response) => {
                    self.effects.push(Effect::CancelModel { response: response.id });
                    let turns = u64::from(!round.turn_entered);
                    self.enter_costs(&round.model, &response, turns);
                }
                Stage::BackingOff(timer) => self.effects.push(Effect::CancelTimer { timer }),
                Stage::Reserving(response) => self.effects.push(Effect::CancelReserve { response }),
                Stage::Expanding(run, _)
                | Stage::Submitting(run, _)
                | Stage::BatchHooks(run)
                | Stage::Stopping(run)
                | Stage::Resting(run)
                | Stage::Switching(run, _)
                | Stage::Failing(run, _) => self.effects.push(Effect::CancelHooks { run }),
                Stage::Compacting(compaction) => {
                    self.cancel_compaction(&compaction);
                    if let Some(response) = compaction.response() {
                        self.enter_costs(&round.model, response, 0);
                    }
                }
                Stage::Working | Stage::Between => {}
            }
            for call in round.calls.iter() {
                self.cancel_work(call);
            }
            self.append_costs();
        }
        self.effects.push(Effect::Sync(Sync::Finish));
        self.end();
    }
}
