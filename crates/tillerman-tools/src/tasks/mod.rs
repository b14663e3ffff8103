//! What the session has left running, and the tools that look after it.

mod output;
mod registry;
mod stop;

pub(crate) use output::TaskOutput;
pub(crate) use registry::{Running, Task, Tasks};
pub(crate) use stop::TaskStop;
