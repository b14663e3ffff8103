//! Teams: a session that leads, agents with names that keep working for it, and their mail.
//!
//! Modules are listed in reading order.

mod setup;

mod mailroom;
mod words;

mod mail_desk;
mod waking;

pub(crate) use mailroom::{LEAD, Team};
pub use setup::TeamSetup;
pub(crate) use words::{Word, introduction, with_team_tools};
