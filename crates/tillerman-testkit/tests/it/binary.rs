//! The server as a process of its own.

use std::process::Stdio;

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::process::Command;

use crate::client::{post, request};

fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_scripted-messages"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    command
}

#[tokio::test]
async fn it_prints_its_address_and_ends_with_stdin() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("script.json");
    std::fs::write(&file, r#"{"replies": [{"text": "from a file"}]}"#).unwrap();
    let mut child = command().arg(&file).spawn().unwrap();

    let mut url = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).await.unwrap();
    assert!(post(url.trim(), &request("hi")).await.body.contains("from a file"));
    assert_eq!(post(url.trim(), &request("hi")).await.status, 500);

    drop(child.stdin.take());
    assert!(child.wait().await.unwrap().success());
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).await.unwrap();
    assert_eq!(said.trim(), "request 1: the script has 1 replies and all are taken");
}

#[tokio::test]
async fn a_loop_calls_the_tool_it_is_told() {
    let mut command = command();
    command.args(["--loop", "1", "--tool", "Read", "--input", r#"{"file_path":"x"}"#]);
    let mut child = command.spawn().unwrap();
    let mut url = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).await.unwrap();
    let received = post(url.trim(), &request("hi")).await;
    assert_eq!(received.events()[2]["content_block"]["name"], "Read");
}

#[tokio::test]
async fn bad_arguments_are_explained() {
    for (arguments, expected) in [
        (vec![], "usage:"),
        (vec!["--loop", "many"], "usage:"),
        (vec!["/does/not/exist.json"], "cannot read the script /does/not/exist.json"),
    ] {
        let output = command().args(arguments).output().await.unwrap();
        assert!(!output.status.success());
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains(expected), "expected {expected:?} in {said:?}");
    }
}

#[tokio::test]
async fn it_writes_down_what_it_was_asked() {
    let folder = tempfile::tempdir().unwrap();
    let (file, capture) = (folder.path().join("script.json"), folder.path().join("capture.json"));
    let script = r#"{"replies": [
        {"text": "for red", "when": "red"},
        {"text": "for anybody", "pauses": [{"after_events": 1, "ms": 1}]},
        {"text": "never"}
    ]}"#;
    std::fs::write(&file, script).unwrap();
    let mut child = command().arg(&file).arg("--capture").arg(&capture).spawn().unwrap();
    let mut url = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).await.unwrap();
    assert!(post(url.trim(), &request("blue")).await.body.contains("for anybody"));
    assert!(post(url.trim(), &request("red")).await.body.contains("for red"));
    drop(child.stdin.take());
    assert!(child.wait().await.unwrap().success());

    let text = std::fs::read_to_string(&capture).unwrap();
    let captured: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(captured["requests"][0]["body"]["messages"][0]["content"], "blue");
    assert_eq!(captured["outcomes"], serde_json::json!(["complete", "complete"]));
    assert_eq!(captured["left_over"], 1);
    assert_eq!(captured["problems"], serde_json::json!([]));
    assert_eq!(captured["prefix_violation"], serde_json::Value::Null);
}
