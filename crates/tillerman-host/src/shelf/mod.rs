//! The shelf: projects, personas, skills and agents that people keep as files, read at the start
//! and whenever they change.

mod head;
mod scan;
mod sync;
mod watch;

pub(crate) use watch::{Shelf, guarded};
