//! Tools that a model has to look up before it is told what they take.

use std::sync::Arc;

use serde_json::{Value, json};
use tillerman_ports::Deferral;
use tillerman_protocol::model::ModelRequest;

use crate::agent_stage::{helper, sends_helper, with_agents};
use crate::model::{calls, says};
use crate::servers::TestServers;
use crate::stage::{Play, Stage, kind, stage, tool_result};
use crate::tools::{Conduct, TestTool, looking};

fn with(mut stage: Stage, servers: &TestServers) -> Stage {
    stage.setup.mcp = Some(Arc::new(servers.clone()));
    stage
}

fn deferring(deferral: Deferral) -> (TestServers, [TestTool; 3]) {
    let servers = TestServers::ready();
    servers.defer(deferral);
    let names = ["mcp__notes__add", "mcp__notes__remove_all", "mcp__clock__always"];
    let tools = names.map(|name| looking(name, Conduct::Succeed));
    servers.offer([&tools[0], &tools[1], &tools[2]]);
    (servers, tools)
}

fn names(request: &ModelRequest) -> Vec<&str> {
    request.tools.iter().map(|tool| tool.name.as_str()).collect()
}

async fn loaded(play: &mut Play) -> Vec<String> {
    let usage = play.ask(json!({"subtype": "get_context_usage"})).await["response"].clone();
    let tools = usage["mcpTools"].as_array().unwrap().clone();
    let is_loaded = |tool: &&Value| tool["isLoaded"] == true;
    let name = |tool: &Value| tool["name"].as_str().unwrap().to_owned();
    assert_eq!(tools.len(), 3, "all tools are listed, loaded or not");
    tools.iter().filter(is_loaded).map(name).collect()
}

#[tokio::test(start_paused = true)]
async fn tools_are_looked_up_and_then_offered_behind_the_others() {
    let (servers, _tools) = deferring(Deferral::Always);
    let scripts = [
        calls("ToolSearch", "u1", &json!({"query": "remove notes", "max_results": 1})),
        calls("ToolSearch", "u2", &json!({"query": "select:mcp__notes__add,mcp__none__x"})),
        calls("ToolSearch", "u3", &json!({"query": "+clock weather"})),
        says("Done."),
        says("Bye."),
    ];
    let mut play = with(stage(scripts), &servers).begin();
    play.say("one").await;
    let frames = play.round().await;
    let init = frames.iter().find(|frame| kind(frame) == "system/init").unwrap();
    let all = ["mcp__clock__always", "ToolSearch", "mcp__notes__add", "mcp__notes__remove_all"];
    assert_eq!(init["tools"], json!(all));
    let requests = play.model.requests();
    let head = ["mcp__clock__always", "ToolSearch"];
    assert_eq!(names(&requests[0]), head);
    let told = &requests[0].tools[1].description;
    assert!(told.contains("mcp__notes__add\nmcp__notes__remove_all"), "{told}");
    assert_eq!(names(&requests[1]), [&head[..], &["mcp__notes__remove_all"]].concat());
    let full = [&head[..], &["mcp__notes__remove_all", "mcp__notes__add"]].concat();
    assert_eq!(names(&requests[2]), full);
    assert_eq!(names(&requests[3]), full, "what was offered already is not offered twice");
    for pair in requests.windows(2) {
        let before = pair[0].tools.len();
        assert_eq!(pair[0].tools[..], pair[1].tools[..before], "a request only grows at the end");
    }
    let found: Vec<&Value> =
        frames.iter().filter(|f| kind(f) == "user").map(|f| &f["tool_use_result"]).collect();
    assert_eq!(found[0]["matches"], json!(["mcp__notes__remove_all"]));
    assert_eq!(found[1]["matches"], json!(["mcp__notes__add"]));
    assert_eq!(found[2]["matches"], json!([]), "only what can be looked up is found");
    assert_eq!(loaded(&mut play).await.len(), 3);
    play.say("two").await;
    play.round().await;
    assert_eq!(names(&play.model.requests()[4]), full, "they stay for the rest of the session");
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_was_not_looked_up_runs_all_the_same() {
    let (servers, tools) = deferring(Deferral::Always);
    let scripts = [calls("mcp__notes__add", "u1", &json!({"n": 1})), says("Done.")];
    let mut play = with(stage(scripts), &servers).begin();
    play.say("one").await;
    let question = play.until("control_request/can_use_tool").await;
    play.answer(&question, json!({"behavior": "allow"})).await;
    let frames = play.round().await;
    assert_eq!(tool_result(&frames)["content"], r#"mcp__notes__add did {"n":1}"#);
    assert_eq!(tools[0].log(), [json!({"n": 1})]);
    assert_eq!(loaded(&mut play).await, ["mcp__clock__always"]);
}

#[tokio::test(start_paused = true)]
async fn few_tools_are_offered_at_once_and_so_are_all_where_no_search_may_be() {
    for (deferral, rule) in [(Deferral::Beyond(10), "Bash"), (Deferral::Always, "ToolSearch")] {
        let (servers, _tools) = deferring(deferral);
        let mut play = with(stage([says("Hi.")]).deny(rule), &servers).begin();
        play.say("one").await;
        play.round().await;
        let all = ["mcp__notes__add", "mcp__notes__remove_all", "mcp__clock__always"];
        assert_eq!(names(&play.model.requests()[0]), all);
        assert_eq!(loaded(&mut play).await.len(), 3);
    }
}

#[tokio::test(start_paused = true)]
async fn tools_that_were_offered_stay_when_too_many_come_later() {
    let (servers, tools) = deferring(Deferral::Beyond(10));
    servers.offer([&tools[0]]);
    let scripts = [says("Hi."), says("Ho.")];
    let mut play = with(stage(scripts), &servers).begin();
    play.say("one").await;
    play.round().await;
    servers.defer(Deferral::Always);
    servers.offer([&tools[0], &tools[1], &tools[2]]);
    play.say("two").await;
    play.round().await;
    let requests = play.model.requests();
    assert_eq!(names(&requests[0]), ["mcp__notes__add"]);
    assert_eq!(names(&requests[1]), ["mcp__notes__add", "mcp__clock__always", "ToolSearch"]);
}

#[tokio::test(start_paused = true)]
async fn an_agent_looks_up_what_its_parent_has_to_look_up() {
    let (servers, _tools) = deferring(Deferral::Always);
    let scripts = [
        sends_helper("toolu_1", "tidy up", &json!({})),
        calls("ToolSearch", "toolu_2", &json!({"query": "select:mcp__notes__add"})),
        says("Found it."),
        says("Done."),
    ];
    let (stage, _shelves) = with_agents(scripts, [], vec![helper()]);
    let mut play = with(stage, &servers).begin();
    play.say("one").await;
    play.round().await;
    let requests = play.model.requests();
    let is_note = |name: &str| name.starts_with("mcp__notes");
    assert!(names(&requests[1]).contains(&"ToolSearch"), "{:?}", names(&requests[1]));
    assert!(!names(&requests[1]).iter().any(|name| is_note(name)));
    assert_eq!(names(&requests[2]).last(), Some(&"mcp__notes__add"));
    assert!(!names(&requests[3]).iter().any(|name| is_note(name)), "what it finds is its own");
}
