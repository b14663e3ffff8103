//! Options that contradict each other, or that a transport cannot honour.

use tillerman_protocol::permission::PermissionMode;

use crate::error::{Error, ErrorKind, Result};
use crate::options::builder::Options;
use crate::options::session::Origin;
use crate::transport::Transport;

impl Options {
    /// Refuses what cannot work, before anything is started.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidOptions`] or [`ErrorKind::Unsupported`] with the option's name, and
    /// [`ErrorKind::Deadline`] or [`ErrorKind::MaxBudget`] when there is no time or money at all.
    pub(crate) fn check(&self, transport: &dyn Transport) -> Result<()> {
        self.check_permissions()?;
        self.check_session()?;
        self.check_limits()?;
        let program = &self.surroundings.program;
        let names_program = program.path.is_some() || program.runtime.is_some();
        if names_program && !transport.runs_programs() {
            let text = format!(
                "the {} transport runs no other program, so that `path_to_executable` and \
                 `executable` mean nothing to it; leave them out or use the subprocess transport",
                transport.name()
            );
            return Err(Error::new(ErrorKind::Unsupported, text));
        }
        if self.callbacks.stderr.is_some() && !transport.has_stderr() {
            let text = format!(
                "the {} transport has no standard error for `stderr`; leave it out, and hear the \
                 engine through a subscriber of `tracing` instead",
                transport.name()
            );
            return Err(Error::new(ErrorKind::Unsupported, text));
        }
        Ok(())
    }

    fn check_permissions(&self) -> Result<()> {
        let permission = &self.permission;
        if permission.prompt_tool.is_some() && self.callbacks.approves() {
            return Err(invalid(
                "`permission_prompt_tool` and `can_use_tool` both answer permission questions; \
                 choose one of them",
            ));
        }
        let bypasses = permission.mode == Some(PermissionMode::BypassPermissions);
        if bypasses && !permission.may_bypass {
            return Err(invalid(
                "the permission mode bypassPermissions runs everything without asking; say \
                 `allow_dangerously_skip_permissions` too if that is what you want",
            ));
        }
        Ok(())
    }

    fn check_session(&self) -> Result<()> {
        let session = &self.session;
        let is_new = session.origin == Origin::New;
        if is_new && session.fork {
            return Err(invalid("`fork_session` needs `resume` or `continue_conversation`"));
        }
        if is_new && session.resume_at.is_some() {
            return Err(invalid("`resume_session_at` needs `resume`"));
        }
        if !is_new && session.session_id.is_some() && !session.fork {
            return Err(invalid(
                "`session_id` names a new session; with `resume` it needs `fork_session`",
            ));
        }
        if session.store.is_some() && session.keeping.nothing {
            return Err(invalid(
                "`session_store` copies what is kept on disk; leave `no_session_persistence` out",
            ));
        }
        if session.store.is_some() && session.keeping.checkpoints {
            return Err(invalid(
                "copies of files are kept on this machine and not in a `session_store`; leave \
                 `enable_file_checkpointing` out",
            ));
        }
        Ok(())
    }

    fn check_limits(&self) -> Result<()> {
        let limits = &self.model.limits;
        if limits.max_turns == Some(0) {
            return Err(invalid("`max_turns` of zero allows no request at all; give at least 1"));
        }
        if limits.max_budget_usd.is_some_and(|dollars| !(dollars.is_finite() && dollars > 0.0)) {
            return Err(invalid("`max_budget_usd` must be a number of dollars above zero"));
        }
        if limits.deadline.is_some_and(|deadline| deadline.has_passed()) {
            let text = "the deadline has passed already; nothing was started; give a later one";
            return Err(Error::new(ErrorKind::Deadline, text));
        }
        if let Some(why) = limits.budget.as_ref().and_then(crate::budget::Budget::exhausted) {
            let text = format!("{why}; nothing was started; raise the budget");
            return Err(Error::new(ErrorKind::MaxBudget, text));
        }
        Ok(())
    }
}

fn invalid(text: &str) -> Error {
    Error::new(ErrorKind::InvalidOptions, format!("{text}; nothing was started"))
}
