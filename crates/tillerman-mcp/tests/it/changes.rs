//! Servers whose tools change while they run.

use serde_json::json;
use tillerman_ports::McpServers as _;

use crate::stage::{PATIENCE, with_script};

#[tokio::test]
async fn a_new_tool_appears_and_whoever_waits_hears_of_it() {
    let stage = with_script("well").await;
    let before = stage.hub.changed(0).await;
    assert!(stage.tool("mcp__s__grown").is_none());
    let changed = stage.hub.changed(before);
    assert_eq!(stage.text("grow", json!({})).await, "grown");
    tokio::time::timeout(PATIENCE, changed).await.unwrap();
    stage.until("the new tool", |stage| stage.tool("mcp__s__grown").is_some()).await;
    stage.end().await;
}

#[tokio::test]
async fn a_storm_of_changes_is_one_change() {
    let stage = with_script("well").await;
    let lists = |line: &&String| *line == "list";
    assert_eq!(stage.log("s").iter().filter(lists).count(), 1);
    assert_eq!(stage.text("storm", json!({})).await, "calm");
    stage.until("a list", |stage| stage.log("s").iter().filter(lists).count() > 1).await;
    assert_eq!(stage.text("echo", json!({"t": 1})).await, "ECHO:1");
    assert!(stage.log("s").iter().filter(lists).count() < 5, "{:?}", stage.log("s"));
    stage.end().await;
}
