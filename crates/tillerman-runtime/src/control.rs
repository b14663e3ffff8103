//! Control requests of the host, and its answers to ours.

use serde_json::{Value, json};
use tillerman_engine::{Activity, AskId, Input, PermissionAnswer};
use tillerman_protocol::control::{
    ControlAnswer, ControlBody, ControlRequest, ControlResponse, InitializeRequest, SessionRequest,
    SettingsRequest,
};
use tillerman_protocol::frame::Frame;
use tillerman_protocol::model::Thinking;
use tillerman_protocol::permission::{PermissionMode, PermissionResult};
use tillerman_protocol::{EntryId, RequestId, TaskId};

use crate::context_usage;
use crate::hook_desk::Failure;
use crate::questions::Question;
use crate::session_task::SessionTask;
use crate::work::Name;

/// Requests that hosts send and that this version cannot serve.
const NOT_YET: [&str; 1] = ["generate_session_title"];

/// An answer, or why there is none: text for people and a code for programs.
pub(crate) type Answer = Result<Value, (String, Option<&'static str>)>;

impl SessionTask {
    pub(crate) async fn answer_control(&mut self, request: ControlRequest) {
        let id = request.request_id;
        let answer = match request.request {
            ControlBody::Initialize(hello) => return self.initialize(id, *hello).await,
            ControlBody::Interrupt => {
                let mut queued = self.engine.queued();
                queued.extend(self.prompts.queued());
                let still_queued = json!({"still_queued": queued});
                self.respond(id, Ok(still_queued)).await;
                return self.interrupt().await;
            }
            ControlBody::EndSession => {
                self.respond(id, Ok(json!({}))).await;
                return self.close().await;
            }
            ControlBody::SetPermissionMode { mode } => self.set_mode(&mode).await,
            ControlBody::SetModel { model } => return self.set_model(id, model).await,
            ControlBody::SetMaxThinkingTokens { max_thinking_tokens } => {
                let thinking = max_thinking_tokens.map_or(Thinking::Unset, |tokens| match tokens {
                    0 => Thinking::Disabled,
                    tokens => Thinking::Budget(tokens),
                });
                self.feed(Input::ThinkingChosen(thinking)).await;
                Ok(json!({}))
            }
            ControlBody::McpStatus => Ok(self.mcp_status()),
            ControlBody::Mcp(request) => return self.carry_out_mcp(id, request),
            ControlBody::GetContextUsage => {
                let library = self.ports.library.as_ref();
                let memory = library.map(|library| library.memory_files()).unwrap_or_default();
                let agents = self.agents.as_ref().map(|agents| agents.roster().iter().as_slice());
                Ok(context_usage::describe(&self.engine, &memory, agents.unwrap_or_default()))
            }
            ControlBody::StopTask { task_id } => return self.stop_task(id, task_id).await,
            ControlBody::GetSettings => Ok(self.describe_settings()),
            ControlBody::Settings(SettingsRequest::ApplyFlagSettings { settings }) => {
                self.apply_flag_settings(&settings).await
            }
            ControlBody::Settings(SettingsRequest::UpdateSettings { source, settings }) => {
                self.update_settings(&source, &settings).await
            }
            ControlBody::Session(SessionRequest::BackgroundTasks { tool_use_id }) => {
                return self.let_go(id, tool_use_id.as_ref()).await;
            }
            ControlBody::Session(SessionRequest::ReopenCalls { tool_use_ids }) => {
                let reopened = self.engine.reopenable(&tool_use_ids);
                self.respond(id, Ok(json!({"reopened": reopened}))).await;
                return self.feed(Input::CallsReopened(reopened)).await;
            }
            ControlBody::Session(SessionRequest::GetTaskOutput { task_id }) => {
                return self.show_task_output(id, &task_id).await;
            }
            ControlBody::CancelAsyncMessage { message_uuid } => self.withdraw(&message_uuid).await,
            ControlBody::RewindFiles { user_message_id, dry_run } => {
                self.rewind_files(user_message_id, dry_run).await
            }
            ControlBody::Settings(
                SettingsRequest::ReloadPlugins
                | SettingsRequest::ReloadSkills
                | SettingsRequest::ReloadOutputStyles,
            ) => self.reload().await,
            other => match self.inquire(&other).await {
                Some(answer) => answer,
                None => refuse(&other),
            },
        };
        self.respond(id, answer).await;
    }

    async fn initialize(&mut self, id: RequestId, hello: InitializeRequest) {
        if let Err(error) = self.choose_output(&hello).await {
            return self.respond(id, Err((error.to_string(), Some("invalid_schema")))).await;
        }
        self.choose_system(&hello).await;
        self.add_in_process(hello.sdk_mcp_servers.as_deref().unwrap_or_default());
        self.choose_skills(hello.skills.as_deref()).await;
        self.take_title(hello.title.as_deref()).await;
        let registered = self.hooks.register(&hello.hooks.clone().unwrap_or_default());
        for (key, text) in registered.complaints {
            tracing::warn!("{text}");
            self.notify(key, &text).await;
        }
        self.feed(Input::HooksRegistered(registered.events)).await;
        self.watch_files();
        let agents = self.hear_of_agents(hello.agents.as_ref(), hello.forward_subagent_text).await;
        let mut answer = self.facing.greeting.clone();
        answer.insert("agents".to_owned(), Value::Array(agents));
        self.list_prompts(&mut answer);
        answer.insert("current_permission_mode".to_owned(), json!(self.engine.mode()));
        let state = match self.engine.activity() {
            Activity::Running => "running",
            Activity::Idle | Activity::Ended => "idle",
        };
        answer.insert("session_state".to_owned(), json!(state));
        let response = ControlResponse {
            response: ControlAnswer::Success {
                request_id: id,
                response: Some(Value::Object(answer)),
                pending_permission_requests: Some(Vec::new()),
                pending_user_dialog_requests: Some(Vec::new()),
            },
        };
        self.show(Frame::ControlResponse(Box::new(response))).await;
    }

    /// A host may choose the system prompt in the handshake instead of on the command line.
    async fn choose_system(&mut self, hello: &InitializeRequest) {
        if hello.system_prompt.is_none() && hello.append_system_prompt.is_none() {
            return;
        }
        let prompt = &mut self.facing.prompt;
        match &hello.system_prompt {
            Some(Value::String(text)) => prompt.base.clone_from(text),
            Some(Value::Array(parts)) => {
                let texts: Vec<&str> = parts.iter().filter_map(Value::as_str).collect();
                prompt.base = texts.join("\n\n");
            }
            _ => {}
        }
        prompt.append = hello.append_system_prompt.clone().or_else(|| prompt.append.take());
        let blocks = self.system_blocks();
        self.feed(Input::SystemChosen(blocks)).await;
    }

    async fn set_mode(&mut self, name: &str) -> Answer {
        let Some(mode) = PermissionMode::parse(name) else {
            let text = format!("{name} is not a permission mode");
            return Err((text, Some("invalid_mode")));
        };
        if mode == PermissionMode::BypassPermissions && !self.facing.may_bypass {
            let text = "bypassPermissions is only available to sessions that were started with \
                        --dangerously-skip-permissions or --allow-dangerously-skip-permissions";
            return Err((text.to_owned(), Some("bypass_not_launched")));
        }
        self.feed(Input::ModeChosen(mode)).await;
        Ok(json!({"mode": mode}))
    }

    async fn withdraw(&mut self, uuid: &str) -> Answer {
        let uuid = EntryId::new(uuid);
        let cancelled = self.prompts.withdraw(&uuid) || self.engine.queued().contains(&uuid);
        self.feed(Input::PromptWithdrawn(uuid)).await;
        Ok(json!({"cancelled": cancelled}))
    }

    /// A task that is not there any more has been stopped already.
    async fn stop_task(&mut self, id: RequestId, task: TaskId) {
        if self.work.stop_task(&task) {
            self.stops.push((task, id));
        } else if !self.pass_stop(&id, &task) {
            self.respond(id, Ok(json!({}))).await;
        }
    }

    /// Answers whoever waits for this task to end.
    pub(crate) async fn answer_stops(&mut self, task: &TaskId) {
        let (answered, waiting) =
            std::mem::take(&mut self.stops).into_iter().partition(|(held, _)| held == task);
        self.stops = waiting;
        let answered: Vec<(TaskId, RequestId)> = answered;
        for (_, id) in answered {
            self.respond(id, Ok(json!({}))).await;
        }
    }

    pub(crate) async fn respond(&mut self, id: RequestId, answer: Answer) {
        let response = match answer {
            Ok(value) => ControlResponse::success(id, Some(value)),
            Err((text, code)) => ControlResponse::error(id, text, code),
        };
        self.show(Frame::ControlResponse(Box::new(response))).await;
    }

    /// Takes an answer of the host to one of our requests; answers to nothing are ignored.
    pub(crate) async fn take_answer(&mut self, response: ControlResponse) {
        let id = response.request_id().clone();
        match self.questions.take(&id) {
            Some(Question::Permission(ask)) => self.permission_answered(ask, response).await,
            Some(Question::Hook) => self.hook_answered(&id, response).await,
            Some(Question::Mcp) => self.mcp_answered(&id, response),
            None => self.pass_answer(&id, response),
        }
    }

    async fn permission_answered(&mut self, ask: AskId, response: ControlResponse) {
        let answer = match response.response {
            ControlAnswer::Success { response, .. } => {
                match serde_json::from_value(response.unwrap_or_default()) {
                    Ok(PermissionResult::Allow { updated_input, updated_permissions }) => {
                        let updates = updated_permissions.unwrap_or_default();
                        PermissionAnswer::Allow { updated_input, updates }
                    }
                    Ok(PermissionResult::Deny { message, interrupt }) => {
                        PermissionAnswer::Deny { message, interrupt }
                    }
                    Err(error) => self.bad_answer(&error).await,
                }
            }
            ControlAnswer::Error { error, .. } => PermissionAnswer::Failed {
                message: format!("Tool permission request failed: {error}"),
            },
        };
        let answer = self.if_still_bound(ask, answer).await;
        self.feed(Input::PermissionAnswered { ask, answer }).await;
    }

    /// An answer nobody can read is the host's mistake: the host hears of it, not only the model.
    async fn bad_answer(&mut self, error: &serde_json::Error) -> PermissionAnswer {
        let text = format!(
            "The host's answer to can_use_tool could not be read: {error}. The call was denied."
        );
        tracing::warn!("{text}");
        self.notify("bad_permission_answer", &text).await;
        PermissionAnswer::Failed { message: format!("Tool permission request failed: {error}") }
    }

    async fn hook_answered(&mut self, id: &RequestId, response: ControlResponse) {
        self.work.abort(&Name::HookTimer(id.clone()));
        let answer = match response.response {
            ControlAnswer::Success { response, .. } => {
                let value = response.unwrap_or_else(|| json!({}));
                let output: Result<tillerman_protocol::hook::HookOutput, _> =
                    serde_json::from_value(value);
                output
                    .map_err(|error| error.to_string())
                    .and_then(|output| output.mistake().map_or(Ok(output), Err))
            }
            ControlAnswer::Error { error, .. } => Err(error),
        };
        if let Err(error) = &answer {
            let text = format!("A hook callback failed: {error}");
            tracing::warn!("{text}");
            self.notify("hook_failed", &text).await;
        }
        self.hook_done(id, answer.map_err(Failure::Error)).await;
    }

    pub(crate) async fn hook_timed_out(&mut self, id: RequestId) {
        if self.questions.take(&id).is_some() {
            let request_id = id.clone();
            let cancel = tillerman_protocol::control::ControlCancel { request_id };
            self.show(Frame::ControlCancelRequest(cancel)).await;
            self.hook_done(&id, Err(Failure::TIMED_OUT)).await;
        }
    }

    async fn hook_done(
        &mut self,
        id: &RequestId,
        answer: Result<tillerman_protocol::hook::HookOutput, Failure>,
    ) {
        if let Some((key, outcome)) = self.hooks.answer(id, answer) {
            self.hooks_done(key, outcome).await;
        }
    }
}

fn refuse(body: &ControlBody) -> Answer {
    let subtype = body.subtype();
    if NOT_YET.contains(&subtype.as_str()) {
        return Err(not_yet(&subtype));
    }
    if matches!(body, ControlBody::Other(_)) && ControlBody::knows(&subtype) {
        let text = format!("The {subtype} request could not be read. Check its fields.");
        return Err((text, Some("invalid_request")));
    }
    let text = format!("Unsupported control request subtype: {subtype}");
    Err((text, Some("unsupported_request")))
}

fn not_yet(subtype: &str) -> (String, Option<&'static str>) {
    (format!("{subtype} is not available in this version of Tillerman"), Some("not_available"))
}
