//! A host in a world of its own, clients for it, and sessions that tests play.

mod http;
mod puppet;
mod shell;
mod world;

pub(crate) use http::{Answer, Call};
pub(crate) use puppet::{Puppet, Puppeteer};
pub(crate) use shell::Shell;
pub(crate) use world::{Socket, World, within};
