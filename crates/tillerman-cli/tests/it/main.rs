//! The binary from end to end, as hosts and people use it.

#[cfg(test)]
mod agents;
#[cfg(test)]
mod approved;
#[cfg(test)]
mod bad_input;
#[cfg(test)]
mod checkpoints;
#[cfg(test)]
mod commands;
#[cfg(test)]
mod doctor;
#[cfg(test)]
mod explain;
#[cfg(test)]
mod formats;
#[cfg(test)]
mod harness;
#[cfg(test)]
mod hook_table;
#[cfg(test)]
mod hooks;
#[cfg(test)]
mod host_flags;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod ipc;
#[cfg(test)]
mod kills;
#[cfg(test)]
mod lending;
#[cfg(test)]
mod logs;
#[cfg(test)]
mod long_runs;
#[cfg(test)]
mod mcp;
#[cfg(test)]
mod mcp_login;
#[cfg(test)]
mod mcp_sessions;
#[cfg(test)]
mod memory;
#[cfg(test)]
mod model_faults;
#[cfg(test)]
mod monitors;
#[cfg(test)]
mod persistence;
#[cfg(test)]
mod rehearsal;
#[cfg(test)]
mod repositories;
#[cfg(test)]
mod sandbox;
#[cfg(test)]
mod searches;
#[cfg(test)]
mod secrets;
#[cfg(test)]
mod serve;
#[cfg(test)]
mod serve_owners;
#[cfg(test)]
mod serve_storage;
#[cfg(test)]
mod served;
#[cfg(test)]
mod sessions;
#[cfg(test)]
mod settings;
#[cfg(test)]
mod signals;
#[cfg(test)]
mod small_disk;
#[cfg(test)]
mod structured_output;
#[cfg(test)]
mod teams;
#[cfg(test)]
mod tool_output;
#[cfg(test)]
mod traces;
#[cfg(test)]
mod trust;
#[cfg(test)]
mod units;
#[cfg(test)]
mod web;
