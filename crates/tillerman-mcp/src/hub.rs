//! The hub: owns all servers of a session, and can be shared by several.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use serde_json::{Map, Value, json};
use tillerman_ports::{BoxFuture, Deferral, McpHost, McpPrompt, McpRefusal, McpServers, Tool};
use tillerman_protocol::content::Content;
use tillerman_protocol::control::McpRequest;
use tillerman_protocol::mcp::{
    McpServerConfig, McpServerStatus, McpToolStatus, RemoteMcpServer, StdioMcpServer,
    TaggedMcpServer,
};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::board::{Board, Connected, Entry, Phase, locked};
use crate::config::{HubConfig, Kind, NamedServer, Patience, call_timeout, is_always_offered};
use crate::names::full_name;
use crate::prompts;
use crate::requests;
use crate::resources::{ListResources, ReadResource, servers_with_resources};
use crate::supervise::Supervisor;
use crate::tool::McpTool;

const ORDERS: usize = 16;
/// How a single tool says that it is to be offered from the start.
const ALWAYS_OFFERED: &str = "anthropic/alwaysLoad";
/// What stands in a secret's place where a configuration is shown.
const HIDDEN: &str = "[hidden]";

/// All servers of a session. Dropping it ends them without waiting.
#[derive(Debug)]
pub struct McpHub {
    fleet: Arc<Fleet>,
}

/// The board and the supervisors that write on it.
#[derive(Debug)]
pub(crate) struct Fleet {
    pub(crate) board: Arc<Board>,
    supervisors: Mutex<JoinSet<()>>,
    stop: CancellationToken,
}

impl McpHub {
    /// Starts to connect to servers and returns at once. Must be called inside a tokio runtime.
    #[must_use]
    pub fn start(config: HubConfig, servers: Vec<NamedServer>) -> Self {
        let fleet = Arc::new(Fleet {
            board: Arc::new(Board::new(config)),
            supervisors: Mutex::default(),
            stop: CancellationToken::new(),
        });
        for server in servers {
            fleet.add(server, false);
        }
        Self { fleet }
    }

    /// Calls a tool by the name the model uses, as a host does.
    ///
    /// # Errors
    /// When there is no such tool or its server does not answer; a tool that fails is a result.
    ///
    /// # Cancel safety
    /// Dropping the future abandons the call.
    pub async fn call(&self, tool: &str, arguments: Value) -> Result<Value, McpRefusal> {
        let (tool, extra) = (tool.to_owned(), Map::new());
        let request = McpRequest::McpCall { tool, arguments: Some(arguments), extra };
        requests::carry_out(&self.fleet, request).await
    }
}

impl Drop for McpHub {
    fn drop(&mut self) {
        self.fleet.stop.cancel();
    }
}

impl Fleet {
    /// Adds a server, in place of one that has the same name.
    pub(crate) fn add(&self, server: NamedServer, is_hosts: bool) {
        let (own_orders, orders) = mpsc::channel(ORDERS);
        let serial = self.board.next_serial();
        let stop = self.stop.child_token();
        let entry = Entry {
            serial,
            server: server.clone(),
            phase: Phase::Connecting,
            orders: own_orders.clone(),
            _lease: stop.clone().drop_guard(),
            is_hosts,
        };
        self.board.write(|entries| entries.insert(server.name.clone(), entry));
        let board = Arc::clone(&self.board);
        let own_orders = own_orders.downgrade();
        let supervisor = Supervisor { server, serial, board, orders, own_orders, stop };
        let mut supervisors = locked(&self.supervisors);
        while supervisors.try_join_next().is_some() {}
        supervisors.spawn(supervisor.run());
    }

    /// Takes a server off the board, which ends its supervisor.
    pub(crate) fn remove(&self, name: &str) {
        self.board.write(|entries| entries.remove(name));
    }

    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let offers: Vec<(NamedServer, Arc<Connected>)> = self.board.read(|entries| {
            let offer = |entry: &Entry| {
                entry.phase.offer().map(|offer| (entry.server.clone(), Arc::clone(offer)))
            };
            entries.values().filter_map(offer).collect()
        });
        let mut names = HashSet::new();
        let mut tools: Vec<Arc<dyn Tool>> = Vec::new();
        for (server, offer) in offers {
            let timeout = call_timeout(&server.config).unwrap_or(self.board.config.limits.call);
            for listed in &offer.tools {
                let board = Arc::clone(&self.board);
                let tool = McpTool::new(board, &server.name, listed, timeout);
                if names.insert(tool.spec().name) {
                    tools.push(Arc::new(tool));
                }
            }
        }
        if !servers_with_resources(&self.board).is_empty() {
            tools.push(Arc::new(ListResources(Arc::clone(&self.board))));
            tools.push(Arc::new(ReadResource(Arc::clone(&self.board))));
        }
        tools
    }

    /// Waits until servers of at least this patience have settled, or had their time.
    async fn await_settled(&self, patience: Patience, limit: std::time::Duration) {
        let deadline = Instant::now() + limit;
        let mut changes = self.board.watch();
        loop {
            let all_settled = self.board.read(|entries| {
                let mut awaited = entries.values().filter(|it| it.server.patience >= patience);
                awaited.all(|entry| entry.phase.is_settled())
            });
            if all_settled || !matches!(timeout_at(deadline, changes.changed()).await, Ok(Ok(()))) {
                return;
            }
        }
    }

    async fn shut_down(&self) {
        self.stop.cancel();
        let mut supervisors = std::mem::take(&mut *locked(&self.supervisors));
        while supervisors.join_next().await.is_some() {}
    }
}

impl McpServers for McpHub {
    fn attach(&self, host: Arc<dyn McpHost>) {
        self.fleet.board.attach(host);
    }

    fn add_in_process(&self, names: &[String]) {
        for name in names {
            let is_new = self.fleet.board.phase(name).is_none();
            if is_new {
                let config = TaggedMcpServer::Sdk { name: name.clone(), timeout: None };
                let server = NamedServer {
                    name: name.clone(),
                    config: McpServerConfig::Tagged(config),
                    scope: "dynamic".to_owned(),
                    patience: Patience::Required,
                };
                self.fleet.add(server, false);
            }
        }
    }

    fn add(&self, servers: Vec<(String, Value)>) {
        for (name, config) in servers {
            if self.fleet.board.phase(&name).is_none() {
                let server = NamedServer {
                    name,
                    config: McpServerConfig::from(config),
                    scope: "agent".to_owned(),
                    patience: Patience::Required,
                };
                self.fleet.add(server, false);
            }
        }
    }

    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        self.fleet.tools()
    }

    fn deferral(&self) -> Deferral {
        self.fleet.board.config.deferral
    }

    fn always_offered(&self) -> HashSet<String> {
        self.fleet.board.read(|entries| entries.values().flat_map(always_offered).collect())
    }

    fn approver(&self) -> Option<String> {
        self.fleet.board.config.approver.clone()
    }

    fn instructions(&self) -> Vec<(String, String)> {
        let said = |entry: &Entry| {
            let said = entry.phase.offer()?.instructions.clone()?;
            Some((entry.server.name.clone(), said))
        };
        self.fleet.board.read(|entries| entries.values().filter_map(said).collect())
    }

    fn status(&self) -> Vec<McpServerStatus> {
        self.fleet.board.read(|entries| entries.values().map(status).collect())
    }

    fn prompts(&self) -> Vec<McpPrompt> {
        prompts::prompts(&self.fleet.board)
    }

    fn changed(&self, since: u64) -> BoxFuture<u64> {
        let mut changes = self.fleet.board.watch();
        Box::pin(async move {
            let changed = changes.wait_for(|number| *number != since).await.map(|number| *number);
            match changed {
                Ok(number) => number,
                // The board is gone, and with it everything that could change.
                Err(_) => std::future::pending().await,
            }
        })
    }

    fn ready(&self) -> BoxFuture<()> {
        let fleet = Arc::clone(&self.fleet);
        Box::pin(async move {
            let limits = &fleet.board.config.limits;
            tokio::join!(
                fleet.await_settled(Patience::Required, limits.required),
                fleet.await_settled(Patience::Preferred, limits.preferred),
            );
        })
    }

    fn carry_out(&self, request: McpRequest) -> BoxFuture<Result<Value, McpRefusal>> {
        let fleet = Arc::clone(&self.fleet);
        Box::pin(async move { requests::carry_out(&fleet, request).await })
    }

    fn render(&self, command: String, typed: String) -> BoxFuture<Result<Content, McpRefusal>> {
        let board = Arc::clone(&self.fleet.board);
        Box::pin(async move { prompts::render(&board, &command, &typed).await })
    }

    fn shut_down(&self) -> BoxFuture<()> {
        let fleet = Arc::clone(&self.fleet);
        Box::pin(async move { fleet.shut_down().await })
    }
}

/// The tools of a server that are offered in any case: all of them, or those that say so.
fn always_offered(entry: &Entry) -> Vec<String> {
    let all = is_always_offered(&entry.server.config);
    let says_so = |tool: &&rmcp::model::Tool| {
        let wanted = tool.meta.as_ref().and_then(|meta| meta.get(ALWAYS_OFFERED));
        all || wanted == Some(&Value::Bool(true))
    };
    let tools = entry.phase.offer().map(|offer| offer.tools.iter()).into_iter().flatten();
    tools.filter(says_so).map(|tool| full_name(&entry.server.name, &tool.name)).collect()
}

fn status(entry: &Entry) -> McpServerStatus {
    let offer = entry.phase.offer();
    let info = offer.and_then(|offer| offer.implementation.as_ref());
    let tools = offer.map(|offer| offer.tools.iter().map(tool_status).collect());
    let mut extra = Map::new();
    let transport = Kind::of(&entry.server.config).as_str();
    extra.insert("transport".to_owned(), json!(transport));
    extra.insert("source".to_owned(), json!(entry.server.scope));
    McpServerStatus {
        name: entry.server.name.clone(),
        status: entry.phase.status().to_owned(),
        server_info: info.map(|info| json!({"name": info.name, "version": info.version})),
        error: entry.phase.error().map(str::to_owned),
        config: Some(shown(&entry.server.config)),
        scope: Some(entry.server.scope.clone()),
        tools,
        extra,
    }
}

fn tool_status(tool: &rmcp::model::Tool) -> McpToolStatus {
    let hints = tool.annotations.as_ref();
    let mut shown = Map::new();
    let mut show = |name: &str, hint: Option<bool>| {
        shown.extend(hint.map(|hint| (name.to_owned(), json!(hint))));
    };
    show("readOnly", hints.and_then(|hints| hints.read_only_hint));
    show("destructive", hints.and_then(|hints| hints.destructive_hint));
    show("openWorld", hints.and_then(|hints| hints.open_world_hint));
    McpToolStatus {
        name: tool.name.to_string(),
        description: tool.description.as_deref().map(str::to_owned),
        annotations: Some(Value::Object(shown)),
    }
}

/// A configuration as frames may show it: variables and headers by name only.
fn shown(config: &McpServerConfig) -> McpServerConfig {
    let hide = |values: &std::collections::BTreeMap<String, String>| {
        values.keys().map(|name| (name.clone(), HIDDEN.to_owned())).collect()
    };
    let child =
        |server: &StdioMcpServer| StdioMcpServer { env: hide(&server.env), ..server.clone() };
    let remote = |server: &RemoteMcpServer| RemoteMcpServer {
        headers: hide(&server.headers),
        ..server.clone()
    };
    match config {
        McpServerConfig::Bare(server) => McpServerConfig::Bare(child(server)),
        McpServerConfig::Tagged(tagged) => McpServerConfig::Tagged(match tagged {
            TaggedMcpServer::Stdio(server) => TaggedMcpServer::Stdio(child(server)),
            TaggedMcpServer::Sse(server) => TaggedMcpServer::Sse(remote(server)),
            TaggedMcpServer::Http(server) => TaggedMcpServer::Http(remote(server)),
            TaggedMcpServer::Ws(server) => TaggedMcpServer::Ws(remote(server)),
            TaggedMcpServer::Sdk { .. } => tagged.clone(),
        }),
        McpServerConfig::Other(_) => config.clone(),
    }
}
