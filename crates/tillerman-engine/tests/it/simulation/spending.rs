//! Checks of money: the books agree with what the model reported, and the budget holds.

use tillerman_engine::{Effect, Input, ResponseId, SessionConfig};
use tillerman_protocol::model::ModelEvent;
use tillerman_protocol::stream::{StreamEvent, Usage};

use super::fault::{Checked, ensure};

/// Keeps its own books beside the session's.
#[derive(Debug, Default)]
pub(super) struct Spending {
    current: Option<Bill>,
    settled: f64,
}

#[derive(Debug)]
struct Bill {
    response: ResponseId,
    model: String,
    usage: Option<Usage>,
}

impl Spending {
    /// A process goes on from these totals.
    pub(super) const fn resume(settled: f64) -> Self {
        Self { current: None, settled }
    }

    pub(super) fn hear(&mut self, input: &Input, config: &SessionConfig) {
        let Input::ModelReported { response, event } = input else { return };
        let Some(bill) = self.current.as_mut().filter(|bill| bill.response == *response) else {
            return;
        };
        match event {
            ModelEvent::Stream(StreamEvent::MessageStart { message }) => {
                bill.usage.get_or_insert_with(|| message.usage.clone());
            }
            ModelEvent::Stream(StreamEvent::MessageDelta { usage, .. }) => {
                if let Some(held) = bill.usage.as_mut() {
                    held.update(usage);
                }
            }
            ModelEvent::Stream(StreamEvent::MessageStop) | ModelEvent::Failed(_) => {
                self.settle(config);
            }
            _ => {}
        }
    }

    /// Looks at an effect; `total` is what the session says it spent.
    pub(super) fn see(&mut self, effect: &Effect, total: f64, config: &SessionConfig) -> Checked {
        match effect {
            Effect::CancelModel { .. } => self.settle(config),
            Effect::CallModel { response, request } => {
                let model = request.model.clone();
                let bill = Bill { response: *response, model, usage: None };
                let busy = self.current.replace(bill);
                ensure(busy.is_none(), "one-response-at-a-time", || format!("{busy:?}"))?;
                self.check(total)?;
                let most = config.limits.max_budget_usd;
                ensure(most.is_none_or(|most| total < most), "the-budget-holds", || {
                    format!("a request after ${total} of {most:?}")
                })?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Compares the books; sums in another order may differ in the last digits.
    pub(super) fn check(&self, total: f64) -> Checked {
        ensure((self.settled - total).abs() < 1e-9, "the-books-agree", || {
            format!("${} was used, ${total} was entered", self.settled)
        })
    }

    fn settle(&mut self, config: &SessionConfig) {
        if let Some(Bill { model, usage: Some(usage), .. }) = self.current.take() {
            self.settled += config.catalog.cost(&model, &usage);
        }
    }
}
