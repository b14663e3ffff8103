//! How it all hangs together, in ten short chapters.
//!
//! 1. [`sessions`]: what a conversation is, and what is left of it
//! 2. [`turns`]: what happens between a prompt and its result
//! 3. [`permissions`]: who decides what the agent may do
//! 4. [`hooks`]: how to have a say at every point
//! 5. [`tools`]: what the agent can do, and how it learns more
//! 6. [`budgets`]: how to keep it from spending too much
//! 7. [`errors`]: what can go wrong, and what to do then
//! 8. [`cancellation`]: how to end things in good order
//! 9. [`transports`]: where the engine runs, and what that changes
//! 10. [`testing`]: how to know that your agent does what you think

pub mod sessions;
pub mod turns;

pub mod permissions;

pub mod hooks;
pub mod tools;

pub mod budgets;
pub mod cancellation;
pub mod errors;

pub mod transports;

pub mod testing;
