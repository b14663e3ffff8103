//! Permissions: who decides what the agent may do.
//!
//! Every call goes the same way, whoever makes it, subagents included. The first who decides ends it:
//!
//! 1. [`guard`](crate::Options::guard)ed files are never written, in any mode.
//! 2. [`PreToolUse`](crate::callback::PreToolUse) hooks may deny, ask, allow or change the input.
//! 3. [`disallowed_tools`](crate::Options::disallowed_tools) and deny rules of settings.
//! 4. Ask rules.
//! 5. The [`permission_mode`](crate::Options::permission_mode).
//! 6. [`allowed_tools`](crate::Options::allowed_tools), allow rules of settings, or a hook's `allow`.
//! 7. [`can_use_tool`](crate::Options::can_use_tool).
//! 8. With nobody to ask, the call is denied, and a `permission_denied` message says so.
//!
//! Three options look alike and are not: [`tools`](crate::Options::tools) says what exists,
//! `allowed_tools` what needs no question, `disallowed_tools` what is refused.
//!
//! Shell commands are taken apart and every part is judged; what cannot be understood is asked
//! about. So `Bash(git status)` allows that and not `git status; rm -rf .`.
//!
//! ```
//! use tillerman::{Options, Permission, PermissionMode};
//!
//! let options = Options::new()
//!     .permission_mode(PermissionMode::AcceptEdits)
//!     .allowed_tools(["Bash(cargo test *)", "Bash(git diff *)"])
//!     .disallowed_tools(["WebFetch"])
//!     .guard("Cargo.lock")
//!     .can_use_tool(|call| async move {
//!         println!("{}: {}", call.tool_name, call.input);
//!         Permission::deny("ask me again when I am back")
//!     });
//! # drop(options);
//! ```
//!
//! A callback that answers [`Permission::allow`](crate::Permission::allow) runs the call as it is,
//! [`allow_with`](crate::Permission::allow_with) with another input, and
//! [`and_remember`](crate::Permission::and_remember) makes the next question unnecessary. One that
//! panics has denied.
