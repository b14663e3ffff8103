//! A session as its host sees it: frames in, frames out, on a clock that only moves when nothing else does.

#[cfg(test)]
mod agent_stage;
#[cfg(test)]
mod handlers;
#[cfg(test)]
mod model;
#[cfg(test)]
mod secrets;
#[cfg(test)]
mod servers;
#[cfg(test)]
mod shelf;
#[cfg(test)]
mod stage;
#[cfg(test)]
mod tools;

#[cfg(test)]
mod agents;
#[cfg(test)]
mod agents_background;
#[cfg(test)]
mod agents_bounds;
#[cfg(test)]
mod agents_main;
#[cfg(test)]
mod agents_messages;
#[cfg(test)]
mod agents_skills;
#[cfg(test)]
mod background;
#[cfg(test)]
mod budgets;
#[cfg(test)]
mod checkpoints;
#[cfg(test)]
mod controls;
#[cfg(test)]
mod crashes;
#[cfg(test)]
mod crowd;
#[cfg(test)]
mod departures;
#[cfg(test)]
mod endings;
#[cfg(test)]
mod handshake;
#[cfg(test)]
mod hook_edges;
#[cfg(test)]
mod hook_failures;
#[cfg(test)]
mod hook_handlers;
#[cfg(test)]
mod hook_moments;
#[cfg(test)]
mod hook_news;
#[cfg(test)]
mod hooks;
#[cfg(test)]
mod inquiries;
#[cfg(test)]
mod interrupts;
#[cfg(test)]
mod invocations;
#[cfg(test)]
mod live_settings;
#[cfg(test)]
mod malformed;
#[cfg(test)]
mod mcp;
#[cfg(test)]
mod observers;
#[cfg(test)]
mod permissions;
#[cfg(test)]
mod plans;
#[cfg(test)]
mod retries;
#[cfg(test)]
mod rounds;
#[cfg(test)]
mod storage;
#[cfg(test)]
mod tool_search;
