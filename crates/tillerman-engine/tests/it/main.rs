//! The engine, seen from outside: golden transcripts and simulated sessions.

#[cfg(test)]
mod golden;
#[cfg(test)]
mod simulation;
#[cfg(test)]
mod trees;
