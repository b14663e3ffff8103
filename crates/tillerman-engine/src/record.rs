//! What a session writes down and shows: every entry is appended before its frame is emitted.

use serde_json::{Map, Value, json};
use tillerman_protocol::content::{Block, Content, Message, Role, ToolResult};
use tillerman_protocol::frame::{
    AssistantFrame, AssistantMessage, CommandLifecycle, Frame, Init, SessionState,
    StreamEventFrame, SystemDetail, SystemFrame, UserFrame,
};
use tillerman_protocol::stream::{StreamEvent, Usage};
use tillerman_protocol::transcript::{AssistantEntry, Entry, Link, SystemEntry, UserEntry};
use tillerman_protocol::{EntryId, TaskId};

use crate::effect::Effect;
use crate::input::{Author, Prompt};
use crate::replay::{
    Interrupted, NEVER_RAN, ORIGIN, OUTCOME_UNKNOWN, TASK_STOPPED, TASKS, origin_of,
};
use crate::response::Response;
use crate::session::Session;

impl Session {
    /// Writes a prompt down and adds it to the conversation.
    pub(crate) fn record_prompt(&mut self, prompt: Prompt) -> EntryId {
        let uuid = prompt.uuid.clone().unwrap_or_else(|| self.ids.entry_id());
        let mode = self.choices.mode.as_str().to_owned();
        let mut entry = self.user_entry(uuid.clone(), None, prompt.content.clone());
        entry.permission_mode = Some(mode);
        entry.is_meta = (prompt.author == Author::Engine).then_some(true);
        if let Some(task) = &prompt.task {
            entry.extra.insert(ORIGIN.to_owned(), origin_of(std::slice::from_ref(task)));
            self.with_round(|round| round.tasks_heard_of += 1);
        }
        self.append(Entry::User(Box::new(entry)));
        let text = prompt.typed();
        if let Some(client_uuid) = prompt.uuid {
            self.with_round(|round| round.prompts.push(client_uuid.clone()));
            self.emit_lifecycle(client_uuid, "started");
        }
        let blocks = prompt.content.into_blocks();
        if prompt.author == Author::Person {
            self.with_round(|round| {
                round.prompt_text = Some(text);
                round.asked.extend(blocks.iter().cloned());
            });
        }
        if let Some(command) = prompt.command.filter(|command| !command.grants.is_empty()) {
            self.effects.push(Effect::Grant(command.grants));
        }
        self.conversation.say(blocks);
        uuid
    }

    /// Has the files kept as they are before anything is done about prompts.
    pub(crate) fn checkpoint(&mut self, messages: Vec<EntryId>) {
        if self.config.checkpoints {
            self.effects.push(Effect::Checkpoint { messages });
        }
    }

    /// Tells the model something in the user's place; hosts see it as synthetic when `shown`.
    pub(crate) fn tell(&mut self, text: &str, author: Author) -> EntryId {
        let content = Content::Blocks(vec![Block::text(text)]);
        let uuid = self.ids.entry_id();
        let mut entry = self.user_entry(uuid.clone(), None, content.clone());
        entry.is_meta = (author == Author::Engine).then_some(true);
        self.append(Entry::User(Box::new(entry)));
        self.conversation.say(content.into_blocks());
        uuid
    }

    /// Tells the model something and shows the host that it was told.
    pub(crate) fn tell_aloud(&mut self, text: &str, author: Author) {
        let uuid = self.tell(text, author);
        let mut frame = self.user_frame(uuid, Content::Blocks(vec![Block::text(text)]));
        frame.is_synthetic = (author == Author::Engine).then_some(true);
        self.with_round(|round| round.user_frames += 1);
        self.emit(Frame::User(Box::new(frame)));
    }

    /// Writes down and shows a block of a response.
    pub(crate) fn record_block(&mut self, response: &Response, block: Block) -> EntryId {
        let head = response.head.clone().unwrap_or_default();
        self.chain.response.clone_from(&head.id);
        let usage = response.usage.clone();
        let message = AssistantMessage::new(head.id, head.model, block, usage);
        self.record_assistant(message, response.request_id.clone(), None)
    }

    /// Writes down and shows a message in which the engine reports a failure.
    pub(crate) fn record_failure(&mut self, text: &str, kind: &str, status: Option<u16>) {
        let id = self.ids.entry_id().to_string();
        let model = AssistantMessage::SYNTHETIC.to_owned();
        let message = AssistantMessage::new(id, model, Block::text(text), Usage::default());
        self.record_assistant(message, None, Some((kind.to_owned(), status)));
    }

    /// Writes down and shows what a command is answered with, in the place of a model's words.
    pub(crate) fn record_answer(&mut self, text: &str) {
        if !text.trim().is_empty() {
            let id = self.ids.entry_id().to_string();
            let model = AssistantMessage::SYNTHETIC.to_owned();
            let message = AssistantMessage::new(id, model, Block::text(text), Usage::default());
            self.record_assistant(message, None, None);
        }
    }

    fn record_assistant(
        &mut self,
        message: AssistantMessage,
        request_id: Option<String>,
        failure: Option<(String, Option<u16>)>,
    ) -> EntryId {
        let uuid = self.ids.entry_id();
        let entry = AssistantEntry {
            link: self.link(uuid.clone(), None),
            message: message.clone(),
            request_id: request_id.clone(),
            is_api_error_message: failure.is_some().then_some(true),
            extra: self.entry_extra(),
        };
        self.append(Entry::Assistant(Box::new(entry)));
        let frame = AssistantFrame {
            message,
            parent_tool_use_id: None,
            session_id: self.config.session_id.clone(),
            uuid: uuid.clone(),
            timestamp: Some(self.now),
            request_id,
            is_api_error_message: failure.is_some().then_some(true),
            api_error_status: failure.as_ref().and_then(|(_, status)| *status),
            error: failure.map(|(kind, _)| kind),
            agent_id: self.config.agent.as_ref().map(|agent| agent.id.clone()),
            extra: Map::new(),
        };
        self.emit(Frame::Assistant(Box::new(frame)));
        uuid
    }

    /// Writes down and shows the result of a call.
    pub(crate) fn record_result(
        &mut self,
        result: ToolResult,
        call_entry: &EntryId,
        structured: Option<Value>,
    ) {
        let uuid = self.ids.entry_id();
        let content = Content::Blocks(vec![Block::ToolResult(result)]);
        let mut entry = self.user_entry(uuid.clone(), Some(call_entry.clone()), content.clone());
        entry.tool_use_result.clone_from(&structured);
        entry.source_tool_assistant_uuid = Some(call_entry.clone());
        self.append(Entry::User(Box::new(entry)));
        let mut frame = self.user_frame(uuid, content);
        frame.tool_use_result = structured;
        self.with_round(|round| round.user_frames += 1);
        self.emit(Frame::User(Box::new(frame)));
    }

    /// Writes down that a task was stopped on request, so that nobody misses it after a resume.
    pub(crate) fn record_stop(&mut self, task: &TaskId) {
        let uuid = self.ids.entry_id();
        let link = self.link(uuid, None);
        let extra = Map::from_iter([(TASKS.to_owned(), json!([task]))]);
        let subtype = TASK_STOPPED.to_owned();
        self.append(Entry::System(Box::new(SystemEntry { link, subtype, extra })));
    }

    /// Tells the model once which tasks of an earlier run will never report.
    pub(crate) fn tell_interrupted(&mut self) {
        let interrupted = std::mem::take(&mut self.chain.interrupted);
        if interrupted.is_empty() {
            return;
        }
        let content = Content::Blocks(vec![Block::text(Interrupted::describe(&interrupted))]);
        let uuid = self.ids.entry_id();
        let mut entry = self.user_entry(uuid, None, content.clone());
        entry.is_meta = Some(true);
        let tasks: Vec<_> = interrupted.into_iter().map(|interrupted| interrupted.task).collect();
        entry.extra.insert(ORIGIN.to_owned(), origin_of(&tasks));
        self.append(Entry::User(Box::new(entry)));
        self.conversation.say(content.into_blocks());
    }

    /// Stores answers for calls of an earlier run; the conversation holds them already.
    pub(crate) fn answer_orphans(&mut self) {
        for (tool_use_id, call_entry) in std::mem::take(&mut self.chain.orphans) {
            let deferred = self.chain.deferred.remove(&tool_use_id);
            let told = if deferred { NEVER_RAN } else { OUTCOME_UNKNOWN };
            let content = Content::Text(told.to_owned());
            let result = ToolResult { tool_use_id, content, is_error: true };
            let uuid = self.ids.entry_id();
            let content = Content::Blocks(vec![Block::ToolResult(result)]);
            let mut entry = self.user_entry(uuid, Some(call_entry.clone()), content);
            entry.source_tool_assistant_uuid = Some(call_entry);
            self.append(Entry::User(Box::new(entry)));
        }
    }

    pub(crate) fn emit_prompt(&mut self, uuid: EntryId, content: Content) {
        if self.config.echo.prompts {
            let mut frame = self.user_frame(uuid, content);
            frame.is_replay = Some(true);
            self.emit(Frame::User(Box::new(frame)));
        }
    }

    pub(crate) fn emit_init(&mut self) {
        self.with_round(|round| round.is_announced = true);
        let model = self.round.as_ref().map(|round| round.model.clone()).unwrap_or_default();
        let init = Init { model, permission_mode: self.choices.mode, ..self.config.init.clone() };
        self.emit_system(SystemDetail::Init(Box::new(init)));
    }

    pub(crate) fn emit_mode(&mut self) {
        self.emit_system(SystemDetail::mode(self.choices.mode));
    }

    pub(crate) fn emit_running(&mut self) {
        self.emit_state(SessionState::Running);
    }

    pub(crate) fn emit_state(&mut self, state: SessionState) {
        if self.config.echo.session_state {
            self.emit_system(SystemDetail::SessionStateChanged { state, sdk_host_only: true });
        }
    }

    pub(crate) fn emit_notification(&mut self, key: &str, text: &str) {
        self.emit_system(SystemDetail::Notification {
            key: key.to_owned(),
            text: text.to_owned(),
            priority: "medium".to_owned(),
        });
    }

    pub(crate) fn emit_lifecycle(&mut self, command_uuid: EntryId, state: &str) {
        let frame = CommandLifecycle {
            command_uuid,
            state: state.to_owned(),
            uuid: self.ids.entry_id(),
            session_id: self.config.session_id.clone(),
        };
        self.emit(Frame::CommandLifecycle(frame));
    }

    pub(crate) fn emit_stream_event(&mut self, event: StreamEvent, ttft_ms: Option<u64>) {
        let frame = StreamEventFrame {
            event,
            parent_tool_use_id: None,
            uuid: self.ids.entry_id(),
            session_id: self.config.session_id.clone(),
            ttft_ms,
        };
        self.emit(Frame::StreamEvent(Box::new(frame)));
    }

    pub(crate) fn emit_system(&mut self, detail: SystemDetail) {
        let frame = SystemFrame {
            detail,
            session_id: self.config.session_id.clone(),
            uuid: self.ids.entry_id(),
        };
        self.emit(Frame::System(Box::new(frame)));
    }

    pub(crate) fn emit(&mut self, frame: Frame) {
        self.effects.push(Effect::Emit(Box::new(frame)));
    }

    pub(crate) fn append(&mut self, entry: Entry) {
        if let Some(link) = entry.link() {
            self.chain.tip = Some(link.uuid.clone());
        }
        self.effects.push(Effect::Append(Box::new(entry)));
    }

    fn user_frame(&self, uuid: EntryId, content: Content) -> UserFrame {
        let mut frame = UserFrame::new(content);
        frame.uuid = Some(uuid);
        frame.session_id = Some(self.config.session_id.clone());
        frame.timestamp = Some(self.now);
        frame
    }

    pub(crate) fn user_entry(
        &self,
        uuid: EntryId,
        parent: Option<EntryId>,
        content: Content,
    ) -> UserEntry {
        UserEntry {
            link: self.link(uuid, parent),
            message: Message { role: Role::User, content },
            is_meta: None,
            is_compact_summary: None,
            tool_use_result: None,
            source_tool_assistant_uuid: None,
            permission_mode: None,
            extra: self.entry_extra(),
        }
    }

    /// Entries of an agent say whose they are.
    pub(crate) fn entry_extra(&self) -> Map<String, Value> {
        let agent = self.config.agent.iter();
        agent.map(|agent| ("agentId".to_owned(), Value::String(agent.id.clone()))).collect()
    }

    pub(crate) fn link(&self, uuid: EntryId, parent: Option<EntryId>) -> Link {
        let origin = &self.config.origin;
        Link {
            uuid,
            parent_uuid: parent.or_else(|| self.chain.tip.clone()),
            logical_parent_uuid: None,
            is_sidechain: self.config.agent.is_some(),
            timestamp: self.now,
            session_id: self.config.session_id.clone(),
            cwd: origin.cwd.clone(),
            version: origin.version.clone(),
            git_branch: origin.git_branch.clone(),
            user_type: "external".to_owned(),
            entrypoint: origin.entrypoint.clone(),
        }
    }
}
