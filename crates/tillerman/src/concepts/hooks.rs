//! Hooks: how to have a say at every point.
//!
//! A hook is an async closure that runs at an event. The type of its argument chooses the event and
//! what it may answer, so that a hook cannot answer what its event does not understand:
//!
//! ```
//! use tillerman::Options;
//! use tillerman::callback::{PostToolUse, Stop, StopAnswer, ToolReview};
//!
//! let options = Options::new()
//!     .hook("Write|Edit", |call: PostToolUse| async move {
//!         println!("{} took {} ms", call.tool_name, call.duration_ms);
//!         ToolReview::pass().with_context("Run the formatter before you go on.")
//!     })
//!     .hook("", |stop: Stop| async move {
//!         if stop.stop_hook_active || stop.last_assistant_message.contains("tested") {
//!             StopAnswer::pass()
//!         } else {
//!             StopAnswer::go_on("Say how you tested it.")
//!         }
//!     });
//! # drop(options);
//! ```
//!
//! The first argument says which events of that kind: tool names separated by `|`, a pattern, or
//! nothing for all; [`HookMatcher`](crate::callback::HookMatcher) also takes a timeout. Events
//! without a type here are heard with [`hook_raw`](crate::Options::hook_raw).
//!
//! # What failing hooks do
//!
//! A `PreToolUse` hook that panics or does not answer in time has not allowed the call, which is
//! denied. Any other hook that fails has no opinion, unless it was registered with
//! [`block_on_failure`](crate::callback::HookMatcher::block_on_failure). Either way the run goes on,
//! and a panic arrives as [`Message::CallbackFailed`](crate::Message::CallbackFailed).
