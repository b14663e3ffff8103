//! Enters what hooks asked models into the books of the session and its tree.

use tillerman_engine::{Bill, Input, ResponseId};
use tillerman_ports::HookBill;

use crate::session_task::SessionTask;

/// Stands for responses that are no part of a conversation.
const BESIDE: ResponseId = ResponseId(0);

impl SessionTask {
    /// Nothing was set aside for these: a hook has to answer before the session goes on, and waiting
    /// for its turn could have it wait for the very request that waits for it.
    pub(crate) async fn enter_hook_bills(&mut self, bills: Vec<HookBill>) {
        for HookBill { model, usage, api_ms } in bills {
            let usd = self.engine.config().catalog.cost(&model, &usage);
            let bill = Bill { response: BESIDE, model, usage, usd, api_ms, turns: 0 };
            if let Some(agents) = &self.agents {
                agents.tree().purse.charge(bill.share());
                if agents.own().is_some() {
                    agents.tree().bill(bill.clone()).await;
                }
            }
            self.feed(Input::BilledElsewhere(Box::new(bill))).await;
        }
    }
}
