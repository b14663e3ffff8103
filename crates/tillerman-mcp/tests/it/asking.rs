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

#[tokio::test]
async fn the_host_hears_once_that_a_person_is_done_with_a_page_it_was_asked_about() {
    let stage = with_script("asking").await;
    stage.host.answers(|_| Some(Ok(json!({"action": "accept"}))));
    // Of a page that nobody was asked to open there is nothing to be done with.
    stage.text("page", json!({"before": ["e1"]})).await;
    assert_eq!(stage.host.asked.lock().unwrap()[0]["elicitation_id"], "e1");
    stage.text("done", json!({"ids": ["e7", "e1", "e1"]})).await;
    assert_eq!(*stage.host.completed.lock().unwrap(), ["s e1"]);
    stage.host.answers(|_| Some(Ok(json!({"action": "decline"}))));
    stage.text("page", json!({})).await;
    stage.text("done", json!({"ids": ["e1"]})).await;
    assert_eq!(stage.host.completed.lock().unwrap().len(), 1, "a page that was declined");
    stage.end().await;
}
