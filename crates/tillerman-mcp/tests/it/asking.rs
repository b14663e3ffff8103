//! What servers want of the client: its directories, its model, and to be understood.

use serde_json::{Value, json};
use tillerman_ports::McpServers as _;

use crate::stage::with_script;

#[tokio::test]
async fn a_server_learns_the_working_directories_and_is_refused_the_model() {
    let stage = with_script("asking").await;
    let roots: Value = serde_json::from_str(&stage.text("roots", json!({})).await).unwrap();
    let uri = roots["roots"][0]["uri"].as_str().unwrap();
    let path = reqwest::Url::parse(uri).unwrap().to_file_path().unwrap();
    assert!(path.join("server.py").is_file(), "{uri}");
    let refused: Value = serde_json::from_str(&stage.text("sample", json!({})).await).unwrap();
    assert_eq!(refused["code"], -32601);
    assert!(refused["message"].as_str().unwrap().contains("does not let servers use its model"));
    assert_eq!(stage.text("echo", json!({"t": "still"})).await, "ECHO:still");
    stage.end().await;
}

#[tokio::test]
async fn what_a_server_says_about_its_tools_is_passed_on() {
    let stage = with_script("asking").await;
    let said = stage.hub.instructions();
    assert_eq!(said.len(), 1);
    assert_eq!(said[0].0, "s");
    assert!(said[0].1.starts_with("Ask for roots first."));
    stage.end().await;
}
