//! Servers inside the host's process.

use serde_json::{Value, json};
use tillerman_ports::{HostFailure, McpServers as _};
use tokio_util::sync::CancellationToken;

use crate::stage::{Stage, hub, limits, named};

/// A host with a server that adds, fails, and never answers `wait`.
fn answer(request: &Value) -> Option<Result<Value, HostFailure>> {
    let message = &request["message"];
    let result = match message["method"].as_str().unwrap() {
        "initialize" => json!({"protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {}}, "serverInfo": {"name": "calc", "version": "1.2.3"}}),
        "tools/list" => {
            let tool = |name| json!({"name": name, "inputSchema": {"type": "object"}});
            json!({"tools": [tool("add"), tool("wait"), tool("refuse"), tool("break")]})
        }
        "tools/call" => match message["params"]["name"].as_str().unwrap() {
            "wait" => return None,
            "refuse" => return Some(Err(HostFailure::Refused("no such server".to_owned()))),
            "break" => return Some(Ok(json!({}))),
            _ => json!({"content": [{"type": "text", "text": "Sum 3"}]}),
        },
        _ => json!({}),
    };
    let id = &message["id"];
    Some(Ok(json!({"mcp_response": {"jsonrpc": "2.0", "id": id, "result": result}})))
}

async fn stage() -> Stage {
    let stage = hub(vec![named("s", json!({"type": "sdk", "name": "s"}))], limits());
    stage.host.answers(answer);
    stage.ready().await;
    stage
}

#[tokio::test]
async fn messages_go_through_the_host_and_calls_work() {
    let stage = stage().await;
    assert_eq!(stage.status("s").status, "connected");
    assert_eq!(stage.text("add", json!({"a": 1, "b": 2})).await, "Sum 3");
    let asked = stage.host.asked.lock().unwrap().clone();
    assert!(asked.iter().all(|it| it["subtype"] == "mcp_message" && it["server_name"] == "s"));
    let methods: Vec<&str> =
        asked.iter().map(|it| it["message"]["method"].as_str().unwrap()).collect();
    assert_eq!(methods, ["initialize", "notifications/initialized", "tools/list", "tools/call"]);
    let call = &asked[3]["message"]["params"];
    assert_eq!(call["arguments"], json!({"a": 1, "b": 2}));
    assert_eq!(call["_meta"]["claudecode/toolUseId"], "toolu_1");
    assert_eq!(asked[0]["message"]["params"]["protocolVersion"], "2025-11-25");
    stage.end().await;
}

#[tokio::test]
async fn a_cancelled_call_is_given_up_at_the_host() {
    let stage = stage().await;
    let cancel = CancellationToken::new();
    let running = stage.begin("wait", json!({}), cancel.clone());
    let (outcome, ()) = tokio::join!(running, async {
        stage.until("the call", |it| it.host.asked.lock().unwrap().len() == 4).await;
        cancel.cancel();
    });
    assert_eq!(outcome.unwrap_err().message, "The call was cancelled.");
    stage.until("the end", |it| it.host.given_up.lock().unwrap().len() == 1).await;
    let last = stage.host.asked.lock().unwrap().last().unwrap().clone();
    assert_eq!(last["message"]["method"], "notifications/cancelled");
    stage.end().await;
}

#[tokio::test]
async fn a_host_that_refuses_or_answers_nonsense_fails_the_call() {
    let stage = stage().await;
    for (tool, why) in [("refuse", "no such server"), ("break", "holds no message")] {
        let message = stage.failure(tool, json!({})).await;
        assert!(message.contains(why), "{message}");
    }
    assert_eq!(stage.text("add", json!({})).await, "Sum 3");
    stage.end().await;
}

#[tokio::test]
async fn servers_can_be_added_by_name_while_the_hub_runs() {
    let stage = hub(Vec::new(), limits());
    stage.host.answers(answer);
    stage.hub.add_in_process(&["late".to_owned()]);
    stage.ready().await;
    assert!(stage.tool("mcp__late__add").is_some());
    stage.end().await;
}
