//! Handlers of every kind, run for real: children, sockets on loopback, scripted models and tools.

#[cfg(test)]
mod bench;

#[cfg(test)]
mod agents;
#[cfg(test)]
mod background;
#[cfg(test)]
mod commands;
#[cfg(test)]
mod exit_codes;
#[cfg(test)]
mod mcp_tools;
#[cfg(test)]
mod misconduct;
#[cfg(test)]
mod prompts;
#[cfg(test)]
mod web;
