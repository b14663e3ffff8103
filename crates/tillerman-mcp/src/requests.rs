//! What hosts ask for: connect again, switch, replace, call, read.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tillerman_ports::McpRefusal;
use tillerman_protocol::control::McpRequest;
use tillerman_protocol::mcp::McpServerConfig;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::board::Order;
use crate::call::{ToolRequest, call_tool};
use crate::config::{NamedServer, Patience, call_timeout};
use crate::hub::Fleet;
use crate::names::full_name;
use crate::resources;

/// Names that would make names of tools ambiguous or belong to somebody else.
const RESERVED: [&str; 2] = ["ide", "workspace"];
/// How much longer than the connection an order may take.
const MARGIN: Duration = Duration::from_secs(5);

/// Does what a host asks for.
pub(crate) async fn carry_out(fleet: &Fleet, request: McpRequest) -> Result<Value, McpRefusal> {
    match request {
        McpRequest::McpReconnect { server_name } => {
            order(fleet, &server_name, Order::Reconnect).await?;
            Ok(json!({}))
        }
        McpRequest::McpToggle { server_name, enabled } => {
            let kind = if enabled { Order::Enable } else { Order::Disable };
            order(fleet, &server_name, kind).await?;
            Ok(json!({}))
        }
        McpRequest::McpSetServers { servers } => Ok(replace(fleet, servers).await),
        McpRequest::McpCall { tool, arguments, extra } => {
            call(fleet, tool, arguments, &extra).await
        }
        McpRequest::McpReadResource { server_name, uri } => {
            let cancel = CancellationToken::new();
            let read = resources::read(&fleet.board, &server_name, uri, &cancel).await;
            read.map_err(|error| McpRefusal(error.to_string()))
        }
    }
}

type Reply = oneshot::Sender<Result<(), String>>;

/// Gives an order and waits until it is carried out.
async fn order(fleet: &Fleet, server: &str, kind: fn(Reply) -> Order) -> Result<(), McpRefusal> {
    let orders = fleet.board.read(|entries| entries.get(server).map(|it| it.orders.clone()));
    let orders = orders.ok_or_else(|| McpRefusal(format!("Server not found: {server}")))?;
    let (reply, done) = oneshot::channel();
    let busy = || McpRefusal(format!("{server} is busy; try again"));
    let deadline = Instant::now() + fleet.board.config.limits.connect + MARGIN;
    let sent = timeout_at(deadline, orders.send(kind(reply))).await;
    sent.map_err(|_| busy())?.map_err(|_| busy())?;
    match timeout_at(deadline, done).await {
        Ok(Ok(outcome)) => outcome.map_err(|why| McpRefusal(format!("{server}: {why}"))),
        Ok(Err(_)) => Err(McpRefusal(format!("{server} was removed meanwhile"))),
        Err(_) => Err(busy()),
    }
}

/// Replaces the servers that the host added, and waits until the new ones are there or not.
async fn replace(fleet: &Fleet, servers: BTreeMap<String, McpServerConfig>) -> Value {
    let board = &fleet.board;
    let held: BTreeMap<String, McpServerConfig> = board.read(|entries| {
        let hosts = entries.values().filter(|entry| entry.is_hosts);
        hosts.map(|it| (it.server.name.clone(), it.server.config.clone())).collect()
    });
    let removed: Vec<String> =
        held.keys().filter(|name| !servers.contains_key(*name)).cloned().collect();
    for name in &removed {
        fleet.remove(name);
    }
    let mut added = Vec::new();
    let mut errors = Map::new();
    for (name, config) in servers {
        if RESERVED.contains(&name.as_str()) {
            errors.insert(name, json!("this name is reserved"));
        } else if held.get(&name) != Some(&config) {
            let scope = "dynamic".to_owned();
            let patience = Patience::Required;
            fleet.add(NamedServer { name: name.clone(), config, scope, patience }, true);
            added.push(name);
        }
    }
    await_all(fleet, &added).await;
    for name in &added {
        let error = board.phase(name).and_then(|phase| phase.error().map(str::to_owned));
        errors.extend(error.map(|error| (name.clone(), json!(error))));
    }
    json!({"added": added, "removed": removed, "errors": errors})
}

async fn await_all(fleet: &Fleet, names: &[String]) {
    let deadline = Instant::now() + fleet.board.config.limits.connect + MARGIN;
    let mut changes = fleet.board.watch();
    loop {
        let settled =
            |name: &String| fleet.board.phase(name).is_none_or(|phase| phase.is_settled());
        if names.iter().all(settled)
            || !matches!(timeout_at(deadline, changes.changed()).await, Ok(Ok(())))
        {
            return;
        }
    }
}

async fn call(
    fleet: &Fleet,
    full: String,
    arguments: Option<Value>,
    extra: &Map<String, Value>,
) -> Result<Value, McpRefusal> {
    let board = &fleet.board;
    let found = board.read(|entries| {
        entries.values().find_map(|entry| {
            let mut offered = entry.phase.offer()?.tools.iter();
            let tool = offered.find(|tool| full_name(&entry.server.name, &tool.name) == full)?;
            Some((entry.server.clone(), tool.name.to_string()))
        })
    });
    let (server, tool) =
        found.ok_or_else(|| McpRefusal(format!("There is no tool called {full}")))?;
    let millis = ["timeout_ms", "timeoutMs", "timeout"];
    let asked = millis.iter().find_map(|name| extra.get(*name)?.as_u64());
    let timeout = asked.map(Duration::from_millis).or_else(|| call_timeout(&server.config));
    let request = ToolRequest {
        server: server.name,
        tool,
        full_name: full,
        arguments: arguments.unwrap_or_else(|| json!({})),
        tool_use_id: None,
        timeout: timeout.unwrap_or(board.config.limits.call),
        cancel: CancellationToken::new(),
    };
    call_tool(board, request).await.map_err(|error| McpRefusal(error.to_string()))
}
