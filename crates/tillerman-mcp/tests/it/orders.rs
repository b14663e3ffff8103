//! What hosts may order: connect again, switch off and on, replace.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tillerman_ports::{McpRefusal, McpServers as _};
use tillerman_protocol::control::McpRequest;

use crate::stage::{PATIENCE, Stage, limits, scripts, with_script};

async fn order(stage: &Stage, request: Value) -> Result<Value, McpRefusal> {
    let request: McpRequest = serde_json::from_value(request).unwrap();
    tokio::time::timeout(PATIENCE, stage.hub.carry_out(request)).await.unwrap()
}

#[tokio::test]
async fn a_server_is_switched_off_and_on() {
    let stage = with_script("well").await;
    let toggle = |on: bool| json!({"subtype": "mcp_toggle", "serverName": "s", "enabled": on});
    assert_eq!(order(&stage, toggle(false)).await, Ok(json!({})));
    assert_eq!(stage.status("s").status, "disabled");
    assert!(stage.tool("mcp__s__echo").is_none());
    assert_eq!(order(&stage, toggle(false)).await, Ok(json!({})));
    assert_eq!(order(&stage, toggle(true)).await, Ok(json!({})));
    assert_eq!(stage.status("s").status, "connected");
    assert_eq!(stage.text("echo", json!({"t": "on"})).await, "ECHO:on");
    stage.end().await;
}

#[tokio::test]
async fn a_server_is_connected_again_as_a_new_process() {
    let stage = with_script("well").await;
    let first = stage.text("pid", json!({})).await;
    let reconnect = json!({"subtype": "mcp_reconnect", "serverName": "s"});
    assert_eq!(order(&stage, reconnect).await, Ok(json!({})));
    assert_ne!(stage.text("pid", json!({})).await, first);
    stage.end().await;
}

#[tokio::test]
async fn orders_that_cannot_be_carried_out_say_why() {
    let stage = scripts(&[("s", "die-at-once")], limits());
    stage.ready().await;
    let reconnect = |name: &str| json!({"subtype": "mcp_reconnect", "serverName": name});
    let refusal = order(&stage, reconnect("nobody")).await.unwrap_err();
    assert_eq!(refusal.0, "Server not found: nobody");
    let refusal = order(&stage, reconnect("s")).await.unwrap_err();
    assert_eq!(refusal.0, "s: it ended (exit status: 7); it said: cannot find my config");
    stage.end().await;
}

#[tokio::test]
async fn the_hosts_servers_are_replaced_and_others_stay() {
    let stage = with_script("well").await;
    let script = stage.path("server.py");
    let server = json!({"command": "python3", "args": [script, "well"]});
    let set = |servers: Value| json!({"subtype": "mcp_set_servers", "servers": servers});
    let wanted = json!({"more": server, "bad": {"command": "/nonexistent"}});
    let answer = order(&stage, set(wanted)).await.unwrap();
    assert_eq!(answer["added"], json!(["bad", "more"]));
    assert_eq!(answer["removed"], json!([]));
    let errors: BTreeMap<String, String> =
        serde_json::from_value(answer["errors"].clone()).unwrap();
    assert!(errors["bad"].starts_with("/nonexistent could not be started"));
    assert!(stage.tool("mcp__more__echo").is_some());
    let answer = order(&stage, set(json!({"more": server}))).await.unwrap();
    assert_eq!(answer, json!({"added": [], "removed": ["bad"], "errors": {}}));
    let answer = order(&stage, set(json!({}))).await.unwrap();
    assert_eq!(answer["removed"], json!(["more"]));
    let names: Vec<String> = stage.hub.status().into_iter().map(|state| state.name).collect();
    assert_eq!(names, ["s"]);
    stage.end().await;
}

#[tokio::test]
async fn a_server_that_is_configured_otherwise_is_replaced_even_while_it_connects() {
    let stage = scripts(&[], limits());
    let script = stage.path("server.py");
    let server = |conduct: &str| json!({"more": {"command": "python3", "args": [script, conduct]}});
    let set = |servers: Value| json!({"subtype": "mcp_set_servers", "servers": servers});
    let slow = stage.hub.carry_out(serde_json::from_value(set(server("mute"))).unwrap());
    let (_, answer) = tokio::join!(slow, order(&stage, set(server("well"))));
    assert_eq!(answer.unwrap(), json!({"added": ["more"], "removed": [], "errors": {}}));
    assert_eq!(stage.status("more").status, "connected");
    let result = stage.hub.call("mcp__more__echo", json!({"t": 1})).await.unwrap();
    assert_eq!(result["content"][0]["text"], "ECHO:1");
    stage.end().await;
}
