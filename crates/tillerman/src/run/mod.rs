//! Agents as processes of a host: a number, messages in, an exit code out.
//!
//! [`Run`] is a session under the rules of a supervisor. It starts at once and says what happens
//! through callbacks: [`on_event`](RunPlan::on_event) for messages and errors,
//! [`on_exit`](RunPlan::on_exit) once at the end, [`on_api_outage`](RunPlan::on_api_outage) in its
//! place when the provider has failed too often in a row.

mod handle;
mod outage;
mod plan;

pub use handle::{Run, RunEvent};
pub use outage::Outages;
pub use plan::{PromptParts, RunPlan};
