//! What happens in sessions, for listeners that must not get in the way.
//!
//! Subscribers of an [`EventBus`] hear three things: a prompt was put together
//! ([`Event::PromptRendered`]), a tool was used ([`Event::ToolInvoked`], once per call), a round
//! is over ([`Event::PromptExecuted`]). One that panics is left out of that event; the run goes on.

mod bus;
mod watch;

pub use bus::{Event, EventBus, PromptExecuted, PromptRendered, Subscription, ToolInvoked};
pub(crate) use watch::Watch;
