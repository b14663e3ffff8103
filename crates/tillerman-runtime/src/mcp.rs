//! A session and its MCP servers: tools that come and go, prompts that wait for them, and messages
//! of in-process servers.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use serde_json::{Map, Value, json};
use tillerman_engine::{CommandUse, Input, Prompt};
use tillerman_ports::{CallProgress, HostFailure, McpRefusal, Tool};
use tillerman_protocol::RequestId;
use tillerman_protocol::content::Content;
use tillerman_protocol::control::{ControlAnswer, ControlCancel, ControlResponse, McpRequest};
use tillerman_protocol::frame::{Frame, McpServerState, SystemDetail, SystemFrame, ToolProgress};
use tillerman_protocol::mcp::{McpServerConfig, TaggedMcpServer};
use tillerman_protocol::tool::ToolSpec;

use crate::invocations::{SKILL, expansion};
use crate::mcp_desk::{Gate, Held, Host, HostAsk, McpReport, McpWork};
use crate::questions::Question;
use crate::session_task::SessionTask;
use crate::work::Name;

/// How long servers get to end when the session does.
const LEAVE: Duration = Duration::from_secs(4);
/// Prompts that may wait for servers; with more, the session goes on without them.
const HELD_AT_MOST: usize = 256;

impl SessionTask {
    /// Connects the session with its servers; the first prompt waits for those it needs.
    pub(crate) fn start_mcp(&mut self) {
        let Some(servers) = self.mcp.servers.clone() else { return };
        servers.attach(Arc::new(Host::new(self.work.reporter())));
        if servers.approver().is_some() {
            self.pending.push_back(Input::ApproverStays);
        }
        self.await_changes(0);
        self.await_ready();
    }

    /// Ends the servers with the session.
    pub(crate) async fn end_mcp(&mut self) {
        let Some(servers) = self.mcp.servers.take() else { return };
        if tokio::time::timeout(LEAVE, servers.shut_down()).await.is_err() {
            tracing::warn!("an MCP server did not end in time and was killed");
        }
    }

    pub(crate) fn add_in_process(&mut self, names: &[String]) {
        if let Some(servers) = self.mcp.servers.clone().filter(|_| !names.is_empty()) {
            servers.add_in_process(names);
            self.await_ready();
        }
    }

    /// Adds servers that the definition of the session's own agent writes out.
    pub(crate) fn add_servers(&mut self, written: Vec<(String, Value)>) {
        if let Some(servers) = self.mcp.servers.clone().filter(|_| !written.is_empty()) {
            servers.add(written);
            self.await_ready();
        }
    }

    /// Adds the prompts of servers to the commands that a host is told of.
    pub(crate) fn list_prompts(&self, greeting: &mut Map<String, Value>) {
        let prompts = self.mcp.servers.iter().flat_map(|servers| servers.prompts());
        let commands = greeting.entry("commands").or_insert_with(|| json!([]));
        if let Value::Array(commands) = commands {
            commands.extend(prompts.map(|prompt| {
                let hint: Vec<String> =
                    prompt.arguments.iter().map(|name| format!("<{name}>")).collect();
                json!({"name": prompt.command, "description": prompt.description,
                    "argumentHint": hint.join(" "), "builtin": false})
            }));
        }
    }

    pub(crate) fn mcp_status(&self) -> Value {
        let status = self.mcp.servers.as_ref().map(|servers| servers.status());
        json!({"mcpServers": status.unwrap_or_default()})
    }

    /// Requests about servers take their time; they are answered when they are done.
    pub(crate) fn carry_out_mcp(&mut self, id: RequestId, request: McpRequest) {
        let work = McpWork::Request(id.clone());
        match &self.mcp.servers {
            Some(servers) => {
                let done = servers.carry_out(request);
                self.work.mcp(work, done.map(move |answer| McpReport::Done(id, answer)));
            }
            None => {
                let refusal = McpRefusal("This session has no MCP servers".to_owned());
                let refused = McpReport::Done(id, Err(refusal));
                self.work.mcp(work, std::future::ready(refused));
            }
        }
    }

    pub(crate) async fn take_mcp_report(&mut self, report: McpReport) {
        match report {
            McpReport::Ready => {
                self.refresh_tools().await;
                if matches!(self.mcp.gate, Gate::Connecting) {
                    self.mcp.gate = Gate::Open;
                }
                self.take_held().await;
            }
            McpReport::Changed(number) => {
                self.await_changes(number);
                self.refresh_tools().await;
            }
            McpReport::Asked(ask) => self.ask_host(ask).await,
            McpReport::GaveUp(key) => self.give_up(key).await,
            McpReport::Progressed(progress) => self.show_progress(progress).await,
            McpReport::Completed { server, elicitation_id } => {
                self.show_completion(server, elicitation_id).await;
            }
            McpReport::Done(id, answer) => {
                self.refresh_tools().await;
                self.respond(id, answer.map_err(|refusal| (refusal.0, None))).await;
            }
            McpReport::Rendered(rendered) => self.take_rendered(rendered).await,
            McpReport::Approved(id, answer) => self.approver_answered(id, answer).await,
            McpReport::Crashed(work) => self.mcp_crashed(work).await,
        }
    }

    /// Takes a prompt, after those that wait already.
    pub(crate) async fn take_prompt(&mut self, prompt: Prompt) {
        // A change and the prompt after it may arrive in any order; the prompt sees the change.
        self.refresh_tools().await;
        self.mcp.held.push_back(Held::Prompt(prompt));
        if self.mcp.held.len() > HELD_AT_MOST {
            self.stop_waiting().await;
        }
        self.take_held().await;
    }

    /// Ends the round that is under way; prompts that wait for servers are part of it.
    pub(crate) async fn interrupt(&mut self) {
        self.stop_waiting().await;
        self.take_held().await;
        self.feed(Input::Interrupted).await;
    }

    /// Whether the end of the input has to wait for prompts that came before it.
    pub(crate) fn hold_close(&mut self) -> bool {
        let is_busy = matches!(self.mcp.gate, Gate::Rendering(_) | Gate::Switching);
        let waits = !self.mcp.held.is_empty() || is_busy;
        if waits {
            self.mcp.held.push_back(Held::Close);
        }
        waits
    }

    /// Nobody is left who could answer for in-process servers.
    pub(crate) fn mcp_host_gone(&mut self) {
        for request in self.mcp.host_gone() {
            self.questions.take(&request);
        }
    }

    pub(crate) fn mcp_answered(&mut self, id: &RequestId, response: ControlResponse) {
        let answer = match response.response {
            ControlAnswer::Success { response, .. } => Ok(response.unwrap_or_else(|| json!({}))),
            ControlAnswer::Error { error, .. } => Err(HostFailure::Refused(error)),
        };
        if let Some(reply) = self.mcp.take_ask(id) {
            // Whoever asked may have given up meanwhile.
            drop(reply.send(answer));
        }
    }

    fn await_changes(&mut self, since: u64) {
        if let Some(servers) = &self.mcp.servers {
            let changed = servers.changed(since);
            self.work.mcp(McpWork::Changes, changed.map(McpReport::Changed));
        }
    }

    fn await_ready(&mut self) {
        if let Some(servers) = &self.mcp.servers {
            if matches!(self.mcp.gate, Gate::Open) {
                self.mcp.gate = Gate::Connecting;
            }
            self.work.abort(&Name::Mcp(McpWork::Ready));
            self.work.mcp(McpWork::Ready, servers.ready().map(|()| McpReport::Ready));
        }
    }

    /// Offers the model what servers have now.
    async fn refresh_tools(&mut self) {
        let Some(servers) = self.mcp.servers.clone() else { return };
        let offered = servers.tools().into_iter().filter(|tool| {
            let name = tool.spec().name;
            let is_permitted = self.agents.as_ref().is_none_or(|agents| agents.permits(&name));
            // A server that takes the name of one inside the program must not get its calls.
            let is_taken = self.ports.tools.iter().any(|own| own.spec().name == name);
            is_permitted && !is_taken && !self.policy.removes(&name)
        });
        let tools: Vec<Arc<dyn Tool>> = self.ports.tools.iter().cloned().chain(offered).collect();
        let specs: Vec<ToolSpec> = tools.iter().map(|tool| tool.spec()).collect();
        let names = specs.iter().map(|spec| spec.name.clone());
        self.tools = names.zip(tools).collect();
        // What is said about skills may have changed since the tool was made.
        let offered = self.engine.config().tools.iter().find(|spec| spec.name == SKILL).cloned();
        let specs = specs.into_iter().filter_map(|spec| match spec.name.as_str() {
            SKILL => offered.clone(),
            _ => Some(spec),
        });
        let specs: Vec<ToolSpec> = specs.collect();
        let specs = match &self.agents {
            Some(agents) => agents.with_specs(&specs),
            None => specs,
        };
        self.offer_tools(&*servers, specs).await;
        self.refresh_instructions(&*servers).await;
        let state = |server: tillerman_protocol::mcp::McpServerStatus| {
            let in_host =
                matches!(server.config, Some(McpServerConfig::Tagged(TaggedMcpServer::Sdk { .. })));
            let source = if in_host { Some("sdk".to_owned()) } else { server.scope };
            McpServerState { name: server.name, status: server.status, source }
        };
        let states: Vec<McpServerState> = servers.status().into_iter().map(state).collect();
        let commands: Vec<String> =
            servers.prompts().into_iter().map(|prompt| prompt.command).collect();
        let init = &self.engine.config().init;
        let shown = init.slash_commands.iter().filter(|name| name.starts_with("mcp__"));
        if init.mcp_servers != states || !shown.eq(&commands) {
            self.feed(Input::ServersChanged { servers: states, commands }).await;
        }
    }

    /// Takes up what waited, in order, until something has to be waited for again.
    pub(crate) async fn take_held(&mut self) {
        while matches!(self.mcp.gate, Gate::Open) {
            match self.mcp.held.pop_front() {
                None => return,
                Some(Held::Close) => self.close_now().await,
                Some(Held::Model(wish)) => self.ask_about_model(wish),
                Some(Held::Prompt(prompt)) => match self.mcp.command_of(&prompt) {
                    Some((command, typed)) => self.render(prompt, command, typed),
                    None => self.read_prompt(prompt).await,
                },
            }
        }
    }

    fn render(&mut self, prompt: Prompt, command: String, typed: String) {
        if let Some(servers) = &self.mcp.servers {
            let rendered = servers.render(command, typed);
            self.mcp.gate = Gate::Rendering(Box::new(prompt));
            self.work.mcp(McpWork::Render, rendered.map(McpReport::Rendered));
        }
    }

    async fn take_rendered(&mut self, rendered: Result<Content, McpRefusal>) {
        let gate = std::mem::replace(&mut self.mcp.gate, Gate::Open);
        let Gate::Rendering(mut prompt) = gate else {
            self.mcp.gate = gate;
            return;
        };
        match rendered {
            Ok(content) => {
                let typed = prompt.content.plain_text();
                let command = typed.split_whitespace().next().unwrap_or_default();
                let name = command.trim_start_matches('/').to_owned();
                let expansion = Some(expansion("mcp_prompt", &typed, name));
                let command = CommandUse { typed, expansion, ..CommandUse::default() };
                prompt.command = Some(Box::new(command));
                prompt.content = content;
            }
            Err(refusal) => {
                let text = format!("{refusal} The prompt was taken as it is.");
                tracing::warn!("{text}");
                self.notify("mcp_prompt_failed", &text).await;
            }
        }
        self.hear_prompt(*prompt).await;
        self.take_held().await;
    }

    /// Goes on with what there is.
    async fn stop_waiting(&mut self) {
        if self.mcp.held.is_empty() && !matches!(self.mcp.gate, Gate::Rendering(_)) {
            return;
        }
        self.refresh_tools().await;
        if let Gate::Rendering(prompt) = std::mem::replace(&mut self.mcp.gate, Gate::Open) {
            self.work.abort(&Name::Mcp(McpWork::Render));
            self.hear_prompt(*prompt).await;
        }
    }

    async fn ask_host(&mut self, ask: HostAsk) {
        let id: RequestId = self.ids.entry_id().as_str().into();
        if self.mcp.put_ask(id.clone(), ask.key, ask.reply) {
            self.questions.put(id.clone(), Question::Mcp);
            self.send_request(id, ask.body).await;
        }
    }

    async fn give_up(&mut self, key: u64) {
        if let Some(request_id) = self.mcp.drop_ask(key) {
            self.questions.take(&request_id);
            self.show(Frame::ControlCancelRequest(ControlCancel { request_id })).await;
        }
    }

    async fn show_progress(&mut self, progress: CallProgress) {
        let mut extra = Map::new();
        extra.insert("progress".to_owned(), json!(progress.progress));
        extra.extend(progress.total.map(|total| ("total".to_owned(), json!(total))));
        extra.extend(progress.message.map(|text| ("message".to_owned(), json!(text))));
        let frame = ToolProgress {
            tool_use_id: progress.tool_use_id,
            tool_name: progress.tool_name,
            parent_tool_use_id: None,
            elapsed_time_seconds: progress.elapsed_seconds,
            task_id: None,
            uuid: self.ids.entry_id(),
            session_id: self.engine.config().session_id.clone(),
            extra,
        };
        self.show(Frame::ToolProgress(frame)).await;
    }

    async fn show_completion(&mut self, mcp_server_name: String, elicitation_id: String) {
        let detail = SystemDetail::ElicitationComplete { mcp_server_name, elicitation_id };
        let session_id = self.engine.config().session_id.clone();
        let uuid = self.ids.entry_id();
        self.show(Frame::System(Box::new(SystemFrame { detail, session_id, uuid }))).await;
    }

    /// A crash of a server's client must not leave prompts or requests waiting.
    async fn mcp_crashed(&mut self, work: McpWork) {
        let refusal = || McpRefusal("The MCP client crashed.".to_owned());
        match work {
            McpWork::Ready | McpWork::Changes => {
                if matches!(self.mcp.gate, Gate::Connecting) {
                    self.mcp.gate = Gate::Open;
                }
                self.take_held().await;
            }
            McpWork::Render => self.take_rendered(Err(refusal())).await,
            McpWork::Request(id) => self.respond(id, Err((refusal().0, None))).await,
            McpWork::Approve(id) => self.approver_answered(id, Err(refusal())).await,
        }
    }
}
