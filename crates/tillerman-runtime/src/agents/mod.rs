//! Agents: sessions that sessions start, with one budget and one host for the whole tree.
//!
//! Modules are listed in reading order.

mod setup;

mod order;
mod roster;

mod belongings;
mod book;
mod given_tree;
mod purse;
mod switchboard;
mod task_board;
mod tree;

mod child;
mod launch;
mod models;
mod outcome;
mod relay;
mod skills;
mod tally;

mod delivery;
mod desk;
mod main_agent;
mod main_part;
mod message;

mod built_in;

pub(crate) use child::offers;
pub(crate) use delivery::Unheard;
pub(crate) use desk::Agents;
pub(crate) use given_tree::TreeAnswer;
pub(crate) use launch::{Caller, Former, Opening};
pub(crate) use purse::Granting;
pub use setup::{AgentLimits, AgentSetup, Chosen, MainAgent};
pub(crate) use tally::Tally;
pub(crate) use tree::Tree;
