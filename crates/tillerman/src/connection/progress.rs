//! How far a session is: which prompts are unanswered, which agents work, whether it rests.

use std::collections::{HashMap, HashSet};

use tillerman_protocol::frame::{
    CommandLifecycle, Frame, ResultFrame, SessionState, SystemDetail, TaskStarted, TaskUpdated,
};
use tillerman_protocol::hook::HookBase;
use tillerman_protocol::{EntryId, SessionId, TaskId};

/// Kinds of tasks for which nobody waits: they may well run for ever.
const NOT_AWAITED: &str = "local_bash";

/// How far a session is.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    prompts: HashMap<EntryId, Prompted>,
    agents: HashSet<TaskId>,
    state: Option<SessionState>,
    has_result: bool,
    last_failed: bool,
    session: String,
    cwd: String,
}

/// What the engine knows of a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Prompted {
    Sent,
    Heard,
}

impl Progress {
    /// A prompt goes out.
    pub(crate) fn prompted(&mut self, id: EntryId) {
        self.prompts.insert(id, Prompted::Sent);
        if self.state.is_some() {
            self.state = Some(SessionState::Running);
        }
    }

    /// A frame came in.
    pub(crate) fn saw(&mut self, frame: &Frame) {
        match frame {
            Frame::Result(result) => self.ended(result),
            Frame::CommandLifecycle(progress) => self.heard(progress),
            Frame::System(frame) => match &frame.detail {
                SystemDetail::Init(init) => {
                    self.session = frame.session_id.as_str().to_owned();
                    self.cwd.clone_from(&init.cwd);
                }
                SystemDetail::SessionStateChanged { state, .. } => self.changed(*state),
                SystemDetail::TaskStarted(task) => self.task_began(task),
                SystemDetail::TaskNotification(task) => drop(self.agents.take(&task.task_id)),
                SystemDetail::TaskUpdated(task) => self.task_changed(task),
                _ => {}
            },
            _ => {}
        }
    }

    /// Whether nothing is left to wait for.
    pub(crate) fn is_done(&self) -> bool {
        let rests = match self.state {
            Some(state) => state == SessionState::Idle,
            // An engine that never says so rests after a result.
            None => self.has_result,
        };
        rests && self.prompts.is_empty() && self.agents.is_empty()
    }

    /// Whether all prompts are answered, so that only agents in the background keep it open.
    pub(crate) fn waits_for_agents(&self) -> bool {
        self.has_result && self.prompts.is_empty() && !self.is_done()
    }

    /// What hooks are told about the session, as far as it is known here.
    pub(crate) fn base(&self) -> HookBase {
        HookBase {
            session_id: SessionId::new(&self.session),
            transcript_path: String::new(),
            cwd: self.cwd.clone(),
            prompt_id: None,
            permission_mode: None,
            effort: None,
            agent_id: None,
            agent_type: None,
        }
    }

    /// Whether the last result was one of failure, so that a process may well exit with 1.
    pub(crate) const fn last_failed(&self) -> bool {
        self.last_failed
    }

    fn ended(&mut self, result: &ResultFrame) {
        self.has_result = true;
        self.last_failed = result.is_error;
        if result.user_message_uuids.is_empty() {
            // It does not say what it answers, which is then everything it can have heard of.
            self.prompts.clear();
        }
        for id in &result.user_message_uuids {
            self.prompts.remove(id);
        }
    }

    fn heard(&mut self, progress: &CommandLifecycle) {
        if progress.state == "completed" {
            self.prompts.remove(&progress.command_uuid);
        } else if let Some(prompt) = self.prompts.get_mut(&progress.command_uuid) {
            *prompt = Prompted::Heard;
        }
    }

    /// An engine that rests has dealt with every prompt it has heard.
    fn changed(&mut self, state: SessionState) {
        self.state = Some(state);
        if state == SessionState::Idle {
            self.prompts.retain(|_, prompt| *prompt == Prompted::Sent);
        }
    }

    fn task_began(&mut self, task: &TaskStarted) {
        if task.task_type.as_deref().is_some_and(|kind| kind != NOT_AWAITED) {
            self.agents.insert(task.task_id.clone());
        }
    }

    fn task_changed(&mut self, task: &TaskUpdated) {
        if matches!(task.patch.status.as_deref(), Some("completed" | "failed" | "killed")) {
            self.agents.remove(&task.task_id);
        }
    }
}
