//! A session whose tools come from MCP servers.

use std::sync::Arc;

use serde_json::{Value, json};
use tillerman_ports::{CallProgress, HostFailure};
use tillerman_protocol::control::ControlBody;
use tillerman_runtime::{BorrowedServers, Inbound};

use crate::model::{calls, says};
use crate::servers::TestServers;
use crate::stage::{Stage, kind, stage, tool_result};
use crate::tools::{Conduct, changing, looking};

fn with(mut stage: Stage, servers: &TestServers) -> Stage {
    stage.setup.mcp = Some(Arc::new(servers.clone()));
    stage
}

fn init(frames: &[Value]) -> &Value {
    frames.iter().find(|frame| kind(frame) == "system/init").expect("there is no init")
}

#[tokio::test(start_paused = true)]
async fn the_first_prompt_waits_for_servers_and_the_rest_of_the_session_does_not() {
    let servers = TestServers::connecting();
    let tool = looking("mcp__notes__add", Conduct::Succeed);
    let mut play = with(stage([says("Hi."), says("Ho.")]), &servers).begin();
    play.say("one").await;
    let answer = play.ask(json!({"subtype": "mcp_status"})).await;
    assert_eq!(answer["response"]["mcpServers"][0]["status"], "pending");
    assert!(play.model.requests().is_empty());
    servers.offer([&tool]);
    servers.connected();
    let frames = play.round().await;
    assert_eq!(init(&frames)["tools"], json!(["mcp__notes__add"]));
    assert_eq!(init(&frames)["mcp_servers"], json!([{"name": "notes", "status": "connected"}]));
    assert_eq!(init(&frames)["slash_commands"], json!(["mcp__notes__greet"]));
    assert_eq!(play.model.requests()[0].tools[0].name, "mcp__notes__add");
    let usage = play.ask(json!({"subtype": "get_context_usage"})).await["response"].clone();
    assert_eq!(usage["mcpTools"][0]["serverName"], "notes");
    play.say("two").await;
    play.round().await;
    let (_, end) = play.close().await;
    assert!(!end.last_result_failed);
    assert_eq!(servers.log(), ["shut down"]);
}

#[tokio::test(start_paused = true)]
async fn a_server_cannot_take_the_name_of_a_tool_of_the_program() {
    let servers = TestServers::ready();
    let own = looking("mcp__notes__add", Conduct::RefuseInput);
    let foreign = looking("mcp__notes__add", Conduct::Succeed);
    servers.offer([&foreign]);
    let scripts = [calls("mcp__notes__add", "u1", &json!({})), says("Ok.")];
    let mut play = with(stage(scripts), &servers).tools([&own]).begin();
    play.say("one").await;
    let frames = play.round().await;
    assert_eq!(tool_result(&frames)["is_error"], true, "the program's own tool refuses");
    assert_eq!(foreign.log(), Vec::<Value>::new());
}

#[tokio::test(start_paused = true)]
async fn a_prompt_that_waits_is_answered_although_the_input_is_closed() {
    let servers = TestServers::connecting();
    let play = with(stage([says("Hi.")]), &servers).begin();
    play.say("one").await;
    play.tell(Inbound::Closed).await;
    servers.connected();
    let (frames, end) = play.rest().await;
    assert!(frames.iter().any(|frame| kind(frame) == "result/success"));
    assert!(!end.last_result_failed);
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_ends_the_wait() {
    let servers = TestServers::connecting();
    let mut play = with(stage([says("Hi.")]), &servers).begin();
    play.say("one").await;
    play.ask(json!({"subtype": "interrupt"})).await;
    let frames = play.round().await;
    assert_eq!(kind(&frames[frames.len() - 1]), "result/error_during_execution");
}

#[tokio::test(start_paused = true)]
async fn tools_come_and_go_between_requests() {
    let servers = TestServers::ready();
    let (first, second) = (
        looking("mcp__notes__add", Conduct::Succeed),
        looking("mcp__notes__list", Conduct::Succeed),
    );
    servers.offer([&first]);
    let input = json!({"n": 1});
    let scripts = [calls("mcp__notes__add", "u1", &input), says("Ok."), says("Bye.")];
    let mut play = with(stage(scripts).deny("mcp__notes__list"), &servers).begin();
    play.say("one").await;
    let question = play.until("control_request/can_use_tool").await;
    assert_eq!(question["request"]["tool_name"], "mcp__notes__add", "hints approve nothing");
    servers.offer([&first, &second]);
    play.answer(&question, json!({"behavior": "allow", "updatedInput": input})).await;
    let frames = play.round().await;
    assert_eq!(tool_result(&frames)["content"], r#"mcp__notes__add did {"n":1}"#);
    servers.offer([]);
    play.say("two").await;
    let frames = play.round().await;
    assert_eq!(init(&frames)["tools"], json!([]));
    let offered: Vec<usize> = play.model.requests().iter().map(|it| it.tools.len()).collect();
    assert_eq!(offered, [1, 1, 0], "a tool that a rule removes is never offered");
}

#[tokio::test(start_paused = true)]
async fn messages_of_in_process_servers_travel_as_control_requests() {
    let servers = TestServers::ready();
    let mut play = with(stage([]), &servers).begin();
    let hello = play.ask(json!({"subtype": "initialize", "sdkMcpServers": ["calc"]})).await;
    assert_eq!(hello["response"]["commands"][0]["name"], "mcp__notes__greet");
    assert_eq!(servers.log(), ["added calc"]);
    let host = servers.host();
    let message = |id: u32| ControlBody::McpMessage {
        server_name: "calc".to_owned(),
        message: json!({"jsonrpc": "2.0", "id": id, "method": "ping"}),
    };
    let mut answers = tokio::task::JoinSet::new();
    answers.spawn(host.ask(message(1)));
    let request = play.until("control_request/mcp_message").await;
    assert_eq!(request["request"]["server_name"], "calc");
    assert_eq!(request["request"]["message"]["method"], "ping");
    play.answer(&request, json!({"mcp_response": {"result": {}}})).await;
    let answer = answers.join_next().await.unwrap().unwrap().unwrap();
    assert_eq!(answer, json!({"mcp_response": {"result": {}}}));

    answers.spawn(host.ask(message(2)));
    let request = play.until("control_request/mcp_message").await;
    play.answer_error(&request, "no such server").await;
    let failure = answers.join_next().await.unwrap().unwrap().unwrap_err();
    assert_eq!(failure, HostFailure::Refused("no such server".to_owned()));

    answers.spawn(host.ask(message(3)));
    let request = play.until("control_request/mcp_message").await;
    answers.abort_all();
    let cancel = play.until("control_cancel_request").await;
    assert_eq!(cancel["request_id"], request["request_id"]);

    let mut waiting = tokio::task::JoinSet::new();
    waiting.spawn(host.ask(message(4)));
    play.until("control_request/mcp_message").await;
    play.close().await;
    let failure = waiting.join_next().await.unwrap().unwrap().unwrap_err();
    assert_eq!(failure, HostFailure::Gone);
    assert_eq!(host.ask(message(5)).await, Err(HostFailure::Gone));
}

#[tokio::test(start_paused = true)]
async fn requests_about_servers_are_answered_when_they_are_done() {
    let servers = TestServers::ready();
    let mut play = with(stage([]), &servers).begin();
    let answer = play.ask(json!({"subtype": "mcp_reconnect", "serverName": "nope"})).await;
    assert_eq!(answer["error"], "Server not found: nope");
    let toggle = json!({"subtype": "mcp_toggle", "serverName": "notes", "enabled": false});
    assert_eq!(play.ask(toggle.clone()).await["response"], toggle);
    let mut without = stage([]).begin();
    let answer = without.ask(toggle).await;
    assert_eq!(answer["error"], "This session has no MCP servers");
}

#[tokio::test(start_paused = true)]
async fn a_prompt_of_a_server_is_rendered_before_the_model_sees_it() {
    let servers = TestServers::ready();
    let mut play = with(stage([says("Hi."), says("Hm."), says("Ho.")]), &servers).begin();
    let table = [
        ("/mcp__notes__greet Ada", "mcp__notes__greet rendered with Ada"),
        ("/mcp__notes__greet badly", "/mcp__notes__greet badly"),
        ("/mcp__notes__other x", "/mcp__notes__other x"),
    ];
    for (said, heard) in table {
        play.say(said).await;
        play.round().await;
        let requests = play.model.requests();
        let last = requests.last().unwrap().messages.last().unwrap().content.plain_text();
        assert!(last.contains(heard), "{said}: {last}");
    }
}

#[tokio::test(start_paused = true)]
async fn progress_is_shown() {
    let servers = TestServers::ready();
    let mut play = with(stage([]), &servers).begin();
    play.ask(json!({"subtype": "mcp_status"})).await;
    servers.host().progressed(CallProgress {
        tool_use_id: "u1".into(),
        tool_name: "mcp__notes__add".to_owned(),
        elapsed_seconds: 1.5,
        progress: 1.0,
        total: Some(2.0),
        message: Some("half".to_owned()),
    });
    let frame = play.until("tool_progress").await;
    assert_eq!(frame["tool_use_id"], "u1");
    assert_eq!((&frame["progress"], &frame["total"]), (&json!(1.0), &json!(2.0)));
    assert_eq!(frame["message"], "half");
}

#[tokio::test(start_paused = true)]
async fn borrowed_servers_outlive_the_session_that_borrows_them() {
    let servers = TestServers::ready();
    let tool = changing("mcp__notes__add", Conduct::Succeed);
    servers.offer([&tool]);
    let mut borrowing = stage([says("Hi.")]);
    borrowing.setup.mcp = Some(Arc::new(BorrowedServers(Arc::new(servers.clone()))));
    let mut play = borrowing.begin();
    play.say("one").await;
    let frames = play.round().await;
    assert_eq!(init(&frames)["tools"], json!(["mcp__notes__add"]));
    play.close().await;
    assert_eq!(servers.log(), Vec::<String>::new());
}
