//! What servers list, and how it reaches the model.

use serde_json::json;
use tillerman_ports::McpServers as _;

use crate::stage::{limits, scripts, with_script};

#[tokio::test]
async fn all_pages_are_read_and_circles_end() {
    for (conduct, expected) in [("well", 20), ("pages", 20), ("circle", 3)] {
        let stage = with_script(conduct).await;
        let names: Vec<String> = stage.hub.tools().iter().map(|tool| tool.spec().name).collect();
        let own = names.iter().filter(|name| name.starts_with("mcp__")).count();
        assert_eq!(own, expected, "{conduct}: {names:?}");
        stage.end().await;
    }
}

#[tokio::test]
async fn alternatives_at_the_root_of_a_schema_become_one_object() {
    let stage = with_script("well").await;
    let schema = stage.tool("mcp__s__either").unwrap().spec().input_schema;
    let expected = json!({"type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "number"}}});
    assert_eq!(schema, expected);
    stage.end().await;
}

#[tokio::test]
async fn the_status_tells_what_a_server_is_and_hides_its_secrets() {
    let stage = with_script("well").await;
    let state = serde_json::to_value(stage.status("s")).unwrap();
    assert_eq!(state["status"], "connected");
    assert_eq!(state["serverInfo"], json!({"name": "scripted", "version": "1.2.3"}));
    assert_eq!(state["transport"], "stdio");
    assert_eq!(state["scope"], "dynamic");
    assert_eq!(state["tools"][0]["name"], "echo");
    assert_eq!(state["tools"][0]["annotations"], json!({"readOnly": true}));
    assert_eq!(state["config"]["env"], json!({"OWN": "[hidden]"}));
    stage.end().await;
}

#[tokio::test]
async fn an_older_protocol_is_spoken_where_the_server_wants_it() {
    let stage = with_script("old").await;
    assert_eq!(stage.text("echo", json!({"t": "old"})).await, "ECHO:old");
    assert_eq!(stage.hub.prompts(), []);
    stage.end().await;
}

#[tokio::test]
async fn several_servers_keep_their_tools_apart_and_in_order() {
    let stage = scripts(&[("b", "well"), ("a", "well")], limits());
    stage.ready().await;
    let names: Vec<String> = stage.hub.tools().iter().map(|tool| tool.spec().name).collect();
    let own: Vec<&String> = names.iter().filter(|name| name.ends_with("__echo")).collect();
    assert_eq!(own, ["mcp__a__echo", "mcp__b__echo"]);
    stage.end().await;
}
