//! Hooks that agents and skills bring along, and where they hold.

use std::sync::Arc;

use tillerman_engine::Input;
use tillerman_ports::Library;
use tillerman_protocol::agent::AgentDefinition;
use tillerman_protocol::hook::{HookEvent, HookScope, HookSection, HookSource};

use crate::session_task::SessionTask;

/// What works by a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Worker {
    /// An agent below a session.
    Agent,
    /// The session itself.
    Session,
}

/// The hooks of a definition, as they hold for whatever works by it.
pub(crate) fn of_agent(definition: &AgentDefinition, worker: Worker) -> Option<HookSource> {
    let mut section = HookSection::read(definition.hooks.as_ref()?);
    let stops = section.groups.iter_mut().filter(|group| group.event == HookEvent::Stop);
    for group in stops.filter(|_| worker == Worker::Agent) {
        // An agent that stops reports to its parent; a matcher would be compared with its kind,
        // which whoever wrote it for Stop did not mean.
        group.event = HookEvent::SubagentStop;
        group.matcher = None;
    }
    (!section.is_empty()).then(|| HookSource {
        origin: format!("the agent {}", definition.name),
        scope: HookScope::Agent,
        section,
        variables: Vec::new(),
    })
}

impl SessionTask {
    /// Has the hooks of a skill that is used now hold for the rest of the session.
    pub(crate) fn bring_hooks(&mut self, library: &Arc<dyn Library>, skill: &str) {
        let Some(source) = library.hooks(skill) else { return };
        self.bring(&source);
    }

    /// Has the hooks of the definition by which the session itself works hold.
    pub(crate) fn bring_hooks_of(&mut self, definition: &AgentDefinition) {
        if let Some(source) = of_agent(definition, Worker::Session) {
            self.bring(&source);
        }
    }

    fn bring(&mut self, source: &HookSource) {
        let remarks = self.hooks.bring(source);
        self.hook_room.remark_later(remarks);
        self.pending.push_back(Input::HooksRegistered(self.hooks.events()));
        self.watch_files();
    }
}
