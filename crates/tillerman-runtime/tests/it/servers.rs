//! MCP servers that do what a test wants of them.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tillerman_ports::{BoxFuture, Deferral, McpHost, McpPrompt, McpRefusal, McpServers, Tool};
use tillerman_protocol::content::Content;
use tillerman_protocol::control::McpRequest;
use tillerman_protocol::mcp::McpServerStatus;
use tokio::sync::watch;

use crate::tools::TestTool;

/// Servers whose tools come and go as a test wants.
#[derive(Clone, Debug)]
pub(crate) struct TestServers {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    tools: Mutex<Vec<TestTool>>,
    host: Mutex<Option<Arc<dyn McpHost>>>,
    number: watch::Sender<u64>,
    ready: watch::Sender<bool>,
    log: Mutex<Vec<String>>,
    deferral: Mutex<Deferral>,
}

impl TestServers {
    /// Servers that are there from the start.
    pub(crate) fn ready() -> Self {
        let servers = Self::connecting();
        servers.shared.ready.send_replace(true);
        servers
    }

    /// Servers that the first prompt has to wait for.
    pub(crate) fn connecting() -> Self {
        let shared = Shared {
            tools: Mutex::default(),
            host: Mutex::default(),
            number: watch::Sender::new(1),
            ready: watch::Sender::new(false),
            log: Mutex::default(),
            deferral: Mutex::default(),
        };
        Self { shared: Arc::new(shared) }
    }

    /// Offers these tools from now on.
    pub(crate) fn offer<const N: usize>(&self, tools: [&TestTool; N]) {
        *self.shared.tools.lock().unwrap() = tools.into_iter().cloned().collect();
        self.shared.number.send_modify(|number| *number += 1);
    }

    /// Has tools looked up, except those whose names end with `always`.
    pub(crate) fn defer(&self, deferral: Deferral) {
        *self.shared.deferral.lock().unwrap() = deferral;
    }

    pub(crate) fn connected(&self) {
        self.shared.ready.send_replace(true);
    }

    pub(crate) fn host(&self) -> Arc<dyn McpHost> {
        self.shared.host.lock().unwrap().clone().expect("no session attached itself")
    }

    pub(crate) fn log(&self) -> Vec<String> {
        self.shared.log.lock().unwrap().clone()
    }

    fn note(&self, what: impl Into<String>) {
        self.shared.log.lock().unwrap().push(what.into());
    }
}

impl McpServers for TestServers {
    fn attach(&self, host: Arc<dyn McpHost>) {
        *self.shared.host.lock().unwrap() = Some(host);
    }

    fn add_in_process(&self, names: &[String]) {
        self.note(format!("added {}", names.join(",")));
    }

    fn add(&self, servers: Vec<(String, Value)>) {
        let names: Vec<String> = servers.into_iter().map(|(name, _)| name).collect();
        self.note(format!("added {}", names.join(",")));
    }

    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let tools = self.shared.tools.lock().unwrap().clone();
        tools.into_iter().map(|tool| Arc::new(tool) as Arc<dyn Tool>).collect()
    }

    fn deferral(&self) -> Deferral {
        *self.shared.deferral.lock().unwrap()
    }

    fn always_offered(&self) -> HashSet<String> {
        let names = self.tools().into_iter().map(|tool| tool.spec().name);
        names.filter(|name| name.ends_with("always")).collect()
    }

    fn status(&self) -> Vec<McpServerStatus> {
        let status = if *self.shared.ready.borrow() { "connected" } else { "pending" };
        vec![serde_json::from_value(json!({"name": "notes", "status": status})).unwrap()]
    }

    fn prompts(&self) -> Vec<McpPrompt> {
        vec![McpPrompt {
            command: "mcp__notes__greet".to_owned(),
            description: String::new(),
            arguments: Vec::new(),
        }]
    }

    fn changed(&self, since: u64) -> BoxFuture<u64> {
        let mut number = self.shared.number.subscribe();
        Box::pin(async move { *number.wait_for(|number| *number != since).await.unwrap() })
    }

    fn ready(&self) -> BoxFuture<()> {
        let mut ready = self.shared.ready.subscribe();
        Box::pin(async move {
            ready.wait_for(|ready| *ready).await.unwrap();
        })
    }

    fn carry_out(&self, request: McpRequest) -> BoxFuture<Result<Value, McpRefusal>> {
        let answer = match request {
            McpRequest::McpReconnect { server_name } => {
                Err(McpRefusal(format!("Server not found: {server_name}")))
            }
            request => Ok(serde_json::to_value(request).unwrap()),
        };
        Box::pin(std::future::ready(answer))
    }

    fn render(&self, command: String, typed: String) -> BoxFuture<Result<Content, McpRefusal>> {
        let rendered = match typed.as_str() {
            "badly" => Err(McpRefusal("The server refused.".to_owned())),
            _ => Ok(Content::Text(format!("{command} rendered with {typed}"))),
        };
        Box::pin(std::future::ready(rendered))
    }

    fn shut_down(&self) -> BoxFuture<()> {
        self.note("shut down");
        Box::pin(std::future::ready(()))
    }
}
