//! Servers that die, hang, talk nonsense or too much: each is a named failure and nothing else
//! breaks.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::stage::{hub, is_alive, limits, named, scripts, with_script};

#[tokio::test]
async fn servers_that_cannot_be_used_say_why_and_others_work() {
    let mut short = limits();
    short.connect = Duration::from_secs(5);
    let conducts = [("dies", "die-at-once"), ("flood", "flood"), ("noise", "noise"), ("s", "well")];
    let stage = scripts(&conducts, short);
    stage.ready().await;
    let table = [
        ("dies", "it ended (exit status: 7); it said: cannot find my config"),
        ("flood", "its output is not MCP: a line of more than"),
        ("noise", "what it prints on standard output is not MCP"),
    ];
    for (server, why) in table {
        let state = stage.status(server);
        assert_eq!(state.status, "failed", "{server}: {state:?}");
        assert!(state.error.as_deref().unwrap().starts_with(why), "{server}: {:?}", state.error);
    }
    assert_eq!(stage.status("s").status, "connected");
    assert_eq!(stage.text("echo", json!({"t": "still"})).await, "ECHO:still");
    stage.end().await;
}

#[tokio::test]
async fn a_server_whose_name_could_be_mistaken_for_another_is_not_started() {
    let names = ["a__b", "a..b", "a\nb", "../a"];
    let mut conducts: Vec<(&str, &str)> = names.iter().map(|name| (*name, "well")).collect();
    conducts.push(("a b", "well"));
    let stage = scripts(&conducts, limits());
    stage.ready().await;
    for name in names {
        let state = stage.status(name);
        assert_eq!(state.status, "failed", "{name}: {state:?}");
        assert!(state.error.as_deref().unwrap().contains("Give it a name"), "{state:?}");
    }
    assert_eq!(stage.status("a b").status, "connected");
    stage.end().await;
}

#[tokio::test]
async fn a_server_that_never_answers_fails_in_time_and_its_process_ends() {
    let mut short = limits();
    short.connect = Duration::from_millis(600);
    let stage = scripts(&[("s", "mute")], short);
    let since = Instant::now();
    stage.ready().await;
    assert!(since.elapsed() < Duration::from_secs(10));
    assert_eq!(stage.status("s").error.as_deref(), Some("it did not answer within 0.6 s"));
    let is_gone = |pid: &str| !is_alive(pid);
    stage
        .until("its end", |stage| {
            stage.log("s").iter().filter_map(|it| it.strip_prefix("start ")).all(is_gone)
        })
        .await;
    stage.end().await;
}

#[tokio::test]
async fn what_does_not_exist_is_named() {
    let servers = vec![
        named("gone", json!({"command": "/nonexistent/server"})),
        named("strange", json!({"type": "pigeon", "loft": "roof"})),
        named("socket", json!({"type": "ws", "url": "ws://localhost"})),
    ];
    let stage = hub(servers, limits());
    stage.ready().await;
    let table = [
        ("gone", "/nonexistent/server could not be started: No such file"),
        ("strange", "this kind of server is not supported; use stdio, http or sse: \"pigeon\""),
        ("socket", "this kind of server is not supported; use stdio, http or sse: WebSocket"),
    ];
    for (server, why) in table {
        let state = stage.status(server);
        assert_eq!(state.status, "failed");
        assert!(state.error.as_deref().unwrap().starts_with(why), "{:?}", state.error);
    }
    stage.end().await;
}

#[tokio::test]
async fn a_server_that_dies_in_a_call_is_named_and_started_again() {
    let stage = with_script("well").await;
    let message = stage.failure("die", json!({})).await;
    assert_eq!(
        message,
        "The MCP server s was lost during the call: it ended (exit status: 3); it said: I have had \
         enough. The call may have taken effect."
    );
    assert!(stage.tool("mcp__s__echo").is_some(), "its tools stay while it is started again");
    assert_eq!(stage.text("echo", json!({"t": "back"})).await, "ECHO:back");
    let starts = stage.log("s").iter().filter(|line| line.starts_with("start")).count();
    assert_eq!(starts, 2);
    stage.end().await;
}

#[tokio::test]
async fn a_server_that_was_killed_is_started_again() {
    let stage = with_script("well").await;
    let pid: i32 = stage.text("pid", json!({})).await.parse().unwrap();
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    let starts = |line: &&String| line.starts_with("start");
    stage.until("a second start", |it| it.log("s").iter().filter(starts).count() == 2).await;
    stage.until("the connection", |it| it.status("s").status == "connected").await;
    assert_eq!(stage.text("echo", json!({"t": "again"})).await, "ECHO:again");
    stage.end().await;
}

#[tokio::test]
async fn a_server_that_keeps_dying_is_given_up() {
    let mut few = limits();
    few.reconnects = 1;
    let stage = scripts(&[("s", "well")], few);
    stage.ready().await;
    for _ in 0..2 {
        assert!(stage.call("die", json!({})).await.is_err());
        stage.until("an end", |stage| stage.status("s").status != "connected").await;
        stage.until("a state", |stage| stage.status("s").status != "pending").await;
        if stage.status("s").status == "failed" {
            break;
        }
    }
    let state = stage.status("s");
    assert_eq!(state.status, "failed");
    assert!(state.error.unwrap().starts_with("it ended (exit status: 3)"));
    assert!(stage.tool("mcp__s__echo").is_none(), "a server that is gone offers nothing");
    stage.end().await;
}

#[tokio::test]
async fn a_flood_in_a_call_ends_the_call_and_not_the_program() {
    for (tool, why) in [("flood", "a line of more than"), ("noise", "is not MCP")] {
        let stage = with_script("well").await;
        let message = stage.failure(tool, json!({})).await;
        assert!(message.contains("was lost during the call"), "{message}");
        assert!(message.contains(why), "{message}");
        stage.end().await;
    }
}

#[tokio::test]
async fn a_greeting_on_standard_output_is_passed_over() {
    let stage = with_script("chatty").await;
    assert_eq!(stage.text("echo", json!({"t": "hi"})).await, "ECHO:hi");
    stage.end().await;
}

#[tokio::test]
async fn everything_a_server_started_ends_with_it() {
    for conduct in ["family", "stubborn"] {
        let stage = with_script(conduct).await;
        let own = stage.text("pid", json!({})).await;
        let log = stage.log("s");
        let children = log.iter().filter_map(|line| line.strip_prefix("child "));
        let pids: Vec<&str> = children.chain([own.as_str()]).collect();
        assert!(pids.iter().all(|pid| is_alive(pid)));
        stage.end().await;
        assert!(!pids.iter().any(|pid| is_alive(pid)), "{conduct}: {pids:?}");
    }
}

#[tokio::test]
async fn a_dropped_hub_leaves_no_process_behind() {
    let stage = with_script("stubborn").await;
    let pid = stage.text("pid", json!({})).await;
    drop(stage);
    let since = Instant::now();
    while is_alive(&pid) {
        assert!(since.elapsed() < Duration::from_secs(10), "{pid} is still there");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
