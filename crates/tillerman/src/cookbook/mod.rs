//! Recipes: one task each, whole programs to copy.
//!
//! | recipe | what it does |
//! |---|---|
//! | [`stream_text`] | shows an answer as it is written |
//! | [`ask_for_a_type`] | gets an answer as a Rust value |
//! | [`ask_the_person`] | answers the agent's questions |
//! | [`approve_by_rule`] | decides about calls by a rule of the house |
//! | [`audit_calls`] | writes down everything an agent does |
//! | [`work_on_a_copy`] | lets an agent change a copy of a directory |
//! | [`hand_work_on`] | defines agents that others can hand work to |
//! | [`share_a_budget`] | runs many sessions under one budget |
//! | [`supervise_a_run`] | treats an agent like a process |
//! | [`keep_sessions_in_sqlite`] | keeps conversations in a database |
//!
//! Every recipe is run as a test, offline. Larger programs are in the folder `examples`.

pub mod approve_by_rule;
pub mod ask_for_a_type;
pub mod ask_the_person;
pub mod audit_calls;
pub mod hand_work_on;
pub mod keep_sessions_in_sqlite;
pub mod share_a_budget;
pub mod stream_text;
pub mod supervise_a_run;
pub mod work_on_a_copy;
