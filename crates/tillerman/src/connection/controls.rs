//! What a caller can ask of a running session.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tillerman_protocol::control::{ControlBody, McpRequest};
use tillerman_protocol::mcp::McpServerStatus;
use tillerman_protocol::permission::PermissionMode;
use tillerman_protocol::{EntryId, TaskId};
use tokio::sync::{mpsc, oneshot};

use crate::connection::order::Order;
use crate::error::{Error, ErrorKind, Result};
use crate::message::Prompt;
use crate::options::ServerConfig;

/// Steers a running session, from any task. Clones steer the same one.
///
/// # Cancel safety
/// Dropping the future of a request does not take the request back; its answer is lost.
#[derive(Clone, Debug)]
pub struct Controls {
    orders: mpsc::Sender<Order>,
}

/// A command that can be sent as a prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct SlashCommand {
    /// Its name, without the slash.
    pub name: String,
    /// What it does.
    pub description: String,
    /// What stands behind it.
    pub argument_hint: String,
}

/// A model that can be chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct ModelInfo {
    /// What to pass to [`Controls::set_model`].
    pub value: String,
    /// Its name for people.
    pub display_name: String,
    /// What it is for.
    pub description: String,
}

/// Whose account pays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct AccountInfo {
    /// The address of its owner, where it is known.
    pub email: Option<String>,
    /// The organization, where it is known.
    pub organization: Option<String>,
    /// Where the token comes from.
    pub token_source: Option<String>,
    /// Where the key comes from.
    pub api_key_source: Option<String>,
}

/// What an engine says about itself in the handshake.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ServerInfo {
    /// The level of the protocol it speaks.
    pub protocol: String,
    /// The version of Tillerman, if that is what it is.
    pub tillerman_version: Option<String>,
    /// Everything it said.
    pub greeting: Value,
}

/// What an interrupt left behind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Interrupted {
    /// Prompts that are still to be answered.
    pub still_queued: Vec<Value>,
}

/// What rewinding files did, or would do.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct Rewound {
    /// Whether it can be done.
    pub can_rewind: bool,
    /// Why not.
    pub error: Option<String>,
    /// The files that changed.
    pub files_changed: Option<Vec<String>>,
    /// Lines that came back.
    pub insertions: Option<u64>,
    /// Lines that went.
    pub deletions: Option<u64>,
}

/// What changed about MCP servers.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct McpChanges {
    /// Servers that are new.
    pub added: Vec<String>,
    /// Servers that are gone.
    pub removed: Vec<String>,
    /// What went wrong, by server.
    pub errors: BTreeMap<String, Value>,
}

impl Controls {
    pub(crate) const fn new(orders: mpsc::Sender<Order>) -> Self {
        Self { orders }
    }

    async fn order<T>(&self, order: impl FnOnce(oneshot::Sender<Result<T>>) -> Order) -> Result<T> {
        let (sender, answer) = oneshot::channel();
        let gone = || {
            let text = "the session is over; open another one, or resume it";
            Error::new(ErrorKind::Closed, text)
        };
        self.orders.send(order(sender)).await.map_err(|_| gone())?;
        answer.await.unwrap_or_else(|_| Err(gone()))
    }

    /// Sends any control request and returns its answer as it came.
    ///
    /// # Errors
    /// When the engine refuses, does not answer in time, or is gone. The same holds for all
    /// methods here.
    pub async fn request(&self, body: ControlBody) -> Result<Value> {
        self.order(|answer| Order::Request(Box::new(body), answer)).await
    }

    async fn ask<T: DeserializeOwned>(&self, body: ControlBody) -> Result<T> {
        read(self.request(body).await?)
    }

    /// Tells the session something. Returns as soon as it is on its way; the id is the one that
    /// [`rewind_files`](Self::rewind_files) takes.
    ///
    /// # Errors
    /// When the session is over.
    pub async fn send(&self, prompt: impl Into<Prompt>) -> Result<EntryId> {
        let prompt = prompt.into();
        self.order(|sent| Order::Prompt(prompt, sent)).await
    }

    /// Ends the round that is under way and keeps the session.
    ///
    /// # Errors
    /// See [`request`](Self::request).
    pub async fn interrupt(&self) -> Result<Interrupted> {
        self.ask(ControlBody::Interrupt).await
    }

    /// Has another model answer from now on.
    ///
    /// # Errors
    /// See [`request`](Self::request).
    pub async fn set_model(&self, model: impl Into<String>) -> Result<()> {
        let model = Some(model.into());
        self.request(ControlBody::SetModel { model }).await.map(drop)
    }

    /// Has the default model answer from now on.
    ///
    /// # Errors
    /// See [`request`](Self::request).
    pub async fn set_default_model(&self) -> Result<()> {
        self.request(ControlBody::SetModel { model: None }).await.map(drop)
    }

    /// Changes the permission mode.
    ///
    /// # Errors
    /// See [`request`](Self::request). The mode `bypassPermissions` is refused unless the session
    /// was opened with `allow_dangerously_skip_permissions`.
    pub async fn set_permission_mode(&self, mode: PermissionMode) -> Result<()> {
        let mode = mode.as_str().to_owned();
        self.request(ControlBody::SetPermissionMode { mode }).await.map(drop)
    }

    /// Changes how much the model may think; zero switches it off.
    ///
    /// # Errors
    /// See [`request`](Self::request).
    pub async fn set_max_thinking_tokens(&self, tokens: u32) -> Result<()> {
        let max_thinking_tokens = Some(tokens);
        self.request(ControlBody::SetMaxThinkingTokens { max_thinking_tokens }).await.map(drop)
    }

    /// Brings back files as they were before a prompt. Needs `enable_file_checkpointing`.
    ///
    /// # Errors
    /// See [`request`](Self::request).
    pub async fn rewind_files(&self, prompt: &EntryId) -> Result<Rewound> {
        let user_message_id = prompt.as_str().to_owned();
        self.ask(ControlBody::RewindFiles { user_message_id, dry_run: false }).await
    }

    /// Says what [`rewind_files`](Self::rewind_files) would do.
    ///
    /// # Errors
    /// See [`request`](Self::request).
    pub async fn preview_rewind(&self, prompt: &EntryId) -> Result<Rewound> {
        let user_message_id = prompt.as_str().to_owned();
        self.ask(ControlBody::RewindFiles { user_message_id, dry_run: true }).await
    }

    /// Stops a task in the background.
    ///
    /// # Errors
    /// See [`request`](Self::request).
    pub async fn stop_task(&self, task: &TaskId) -> Result<()> {
        self.request(ControlBody::StopTask { task_id: task.clone() }).await.map(drop)
    }

    /// The commands that can be sent as prompts.
    ///
    /// # Errors
    /// When the session is over.
    pub async fn supported_commands(&self) -> Result<Vec<SlashCommand>> {
        self.greeting_part("commands").await
    }

    /// The models that can be chosen.
    ///
    /// # Errors
    /// When the session is over.
    pub async fn supported_models(&self) -> Result<Vec<ModelInfo>> {
        self.greeting_part("models").await
    }

    /// Whose account pays.
    ///
    /// # Errors
    /// When the session is over.
    pub async fn account_info(&self) -> Result<AccountInfo> {
        self.greeting_part("account").await
    }

    /// What the engine says about itself.
    ///
    /// # Errors
    /// When the session is over.
    pub async fn server_info(&self) -> Result<ServerInfo> {
        let greeting = self.order(Order::Greeting).await?;
        let text = |name: &str| greeting.get(name).and_then(Value::as_str).map(str::to_owned);
        Ok(ServerInfo {
            protocol: text("claude_code_version").unwrap_or_default(),
            tillerman_version: text("tillerman_version"),
            greeting,
        })
    }

    /// How MCP servers stand.
    ///
    /// # Errors
    /// See [`request`](Self::request).
    pub async fn mcp_server_status(&self) -> Result<Vec<McpServerStatus>> {
        let mut answer = self.request(ControlBody::McpStatus).await?;
        read(answer.get_mut("mcpServers").map(Value::take).unwrap_or_default())
    }

    /// Replaces the MCP servers that were added here before.
    ///
    /// # Errors
    /// See [`request`](Self::request).
    pub async fn set_mcp_servers(
        &self,
        servers: impl IntoIterator<Item = (String, ServerConfig)>,
    ) -> Result<McpChanges> {
        let (mut told, mut own) = (BTreeMap::new(), BTreeMap::new());
        for (name, server) in servers {
            told.insert(name.clone(), server.on_the_wire(&name));
            if let ServerConfig::InProcess(server) = server {
                own.insert(name, server);
            }
        }
        // They must answer before the engine hears of them.
        let serving = self.orders.send(Order::Servers(own)).await;
        serving.map_err(|_| Error::new(ErrorKind::Closed, "the session is over"))?;
        self.ask(ControlBody::Mcp(McpRequest::McpSetServers { servers: told })).await
    }

    /// Connects to an MCP server again.
    ///
    /// # Errors
    /// See [`request`](Self::request).
    pub async fn reconnect_mcp_server(&self, name: impl Into<String>) -> Result<()> {
        let server_name = name.into();
        let body = ControlBody::Mcp(McpRequest::McpReconnect { server_name });
        self.request(body).await.map(drop)
    }

    /// How full the context window is, as the engine describes it.
    ///
    /// # Errors
    /// See [`request`](Self::request).
    pub async fn context_usage(&self) -> Result<Value> {
        self.request(ControlBody::GetContextUsage).await
    }

    /// Says that nothing more will be said. The session finishes what it has begun, agents and
    /// callbacks included, and then ends.
    ///
    /// # Errors
    /// When the session is over.
    pub async fn end_input(&self) -> Result<()> {
        let sent = self.orders.send(Order::EndInput).await;
        sent.map_err(|_| Error::new(ErrorKind::Closed, "the session is over already"))
    }

    /// Ends the session now and waits until it is gone.
    pub(crate) async fn close(&self) -> Result<()> {
        match self.order(Order::Close).await {
            // A session that was over before is as closed as it can be.
            Err(error) if error.kind() == ErrorKind::Closed => Ok(()),
            closed => closed,
        }
    }

    async fn greeting_part<T: DeserializeOwned + Default>(&self, name: &str) -> Result<T> {
        let mut greeting = self.order(Order::Greeting).await?;
        greeting.get_mut(name).map_or_else(|| Ok(T::default()), |part| read(part.take()))
    }
}

fn read<T: DeserializeOwned>(value: Value) -> Result<T> {
    serde_json::from_value(value).map_err(|error| {
        let text = "the engine's answer cannot be read";
        Error::new(ErrorKind::Decode, text).because(error)
    })
}
