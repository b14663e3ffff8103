//! What hooks are told although nobody waits for their answer.

use serde_json::Map;
use tillerman_protocol::hook::{Effort, HookBase, HookDetail, HookInput, ModelSwitch};
use tillerman_protocol::permission::PermissionUpdate;

use crate::calls::{Call, CallId, HookRunId};
use crate::effect::Effect;
use crate::input::Prompt;
use crate::session::Session;

impl Session {
    /// Asks for the hooks of an event to be run.
    pub(crate) fn run_hooks(&mut self, detail: HookDetail) -> HookRunId {
        let run = HookRunId(self.next());
        let input = Box::new(self.hook_input(detail));
        self.effects.push(Effect::RunHooks { run, input });
        run
    }

    /// Has hooks told of an event that goes on without them.
    pub(crate) fn tell_hooks(&mut self, detail: HookDetail) {
        if detail.event().is_some_and(|event| self.is_hooked(event)) {
            let input = Box::new(self.hook_input(detail));
            self.effects.push(Effect::TellHooks { input });
        }
    }

    /// What hooks are told about an event, as things stand now.
    pub fn hook_input(&mut self, detail: HookDetail) -> HookInput {
        let ids = &mut self.ids;
        let named = |round: &mut crate::round::Round| {
            round.prompt_id.get_or_insert_with(|| ids.entry_id().to_string()).clone()
        };
        let prompt_id = self.round.as_deref_mut().map(named);
        let agent = self.config.agent.as_ref();
        let base = HookBase {
            session_id: self.config.session_id.clone(),
            transcript_path: self.config.origin.transcript_path.clone(),
            cwd: self.config.origin.cwd.clone(),
            prompt_id,
            permission_mode: Some(self.choices.mode),
            effort: self.config.effort.clone().map(|level| Effort { level }),
            agent_id: agent.map(|agent| agent.id.clone()),
            agent_type: agent.map(|agent| agent.kind.clone()),
        };
        HookInput { base, detail }
    }

    /// Gives a round the id of the prompt that opens it, for everything hooks hear of it.
    pub(crate) fn name_round(&mut self, prompts: &[Prompt]) {
        let uuid = prompts.iter().find_map(|prompt| prompt.uuid.as_ref()).map(ToString::to_string);
        self.with_round(|round| round.prompt_id = round.prompt_id.take().or(uuid));
    }

    /// Has another model answer from the next round on; `None` means the default.
    pub(crate) fn choose_model(&mut self, model: Option<String>, source: &str) {
        let to_model = model.clone().unwrap_or_else(|| self.config.model.clone());
        let from_model = std::mem::replace(&mut self.choices.model, to_model.clone());
        if from_model != to_model {
            self.tell_hooks(HookDetail::PostModelSwitch(ModelSwitch {
                from_model,
                to_model,
                requested_model: model,
                source: source.to_owned(),
                extra: Map::new(),
            }));
        }
    }

    /// Tells hooks that somebody is asked for permission.
    pub(crate) fn notice_question(&mut self, tool: &str) {
        self.tell_hooks(HookDetail::Notification {
            message: format!("Permission is needed to use {tool}"),
            title: None,
            notification_type: "permission_prompt".to_owned(),
        });
    }

    /// Tells hooks that a call was denied.
    pub(crate) fn notice_denial(&mut self, id: CallId, reason: &str) {
        let Some(call) = self.call(id) else { return };
        let detail = HookDetail::PermissionDenied {
            tool_name: call.name.clone(),
            tool_input: call.input.clone(),
            tool_use_id: call.tool_use_id.clone(),
            reason: reason.to_owned(),
        };
        self.tell_hooks(detail);
    }

    /// Tells hooks that a running call was interrupted.
    pub(crate) fn notice_interruption(&mut self, call: &Call, error: &str) {
        self.tell_hooks(HookDetail::PostToolUseFailure {
            tool_name: call.name.clone(),
            tool_input: call.input.clone(),
            tool_use_id: call.tool_use_id.clone(),
            error: error.to_owned(),
            is_interrupt: true,
            duration_ms: self.now.millis_since(call.started_at),
        });
    }

    /// Tells hooks of directories that a permission update adds.
    pub(crate) fn notice_directories(&mut self, updates: &[PermissionUpdate]) {
        for update in updates {
            let PermissionUpdate::AddDirectories { directories, .. } = update else { continue };
            for directory in directories {
                let (directory, source) = (directory.clone(), "permission_update".to_owned());
                self.tell_hooks(HookDetail::DirectoryAdded { directory, source });
            }
        }
    }
}
