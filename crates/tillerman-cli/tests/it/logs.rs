//! Logs for machines: one JSON object per line, ids where they are known, never a secret.

use rustix::process::Signal;
use serde_json::Value;
use tillerman_testkit::{ScriptedServer, fault, script};

use crate::harness::{FRAMES_OUT, KEY, World, until, within};
use crate::served::Served;

#[track_caller]
fn lines(stderr: &str) -> Vec<Value> {
    let read = |line: &str| -> Value {
        let line: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("no JSON: {line}"));
        for name in ["time", "level", "target", "message"] {
            assert!(line[name].is_string(), "no {name} in {line}");
        }
        line
    };
    stderr.lines().map(read).collect()
}

#[tokio::test]
async fn every_line_of_a_headless_run_is_an_object_about_its_session() {
    let world = World::new();
    let refusal = fault::status(400).message(format!("bad key {KEY}")).says_do_not_retry();
    let server = ScriptedServer::start(script().reply(refusal)).await;
    let launch = world.tillerman().asks(&server).args(["--log-format", "json", "--debug"]);
    let finished = launch.args(FRAMES_OUT).args(["hello"]).run().await;
    finished.assert_code(1);
    assert!(!finished.stderr.contains(KEY), "{}", finished.stderr);
    let session = finished.result()["session_id"].clone();
    let lines = lines(&finished.stderr);
    assert!(lines.iter().any(|line| line["session"] == session), "{}", finished.stderr);
}

#[tokio::test]
async fn failures_to_start_and_wrong_variables_are_told_in_the_same_form() {
    let world = World::new();
    let launch = world.tillerman().env("TILLERMAN_LOG_FORMAT", "json");
    let finished = launch.args(["--resume", "no-such-session", "-p", "hello"]).run().await;
    finished.assert_code(1);
    assert!(lines(&finished.stderr).iter().any(|line| line["level"] == "error"));
    let launch = world.tillerman().env("TILLERMAN_LOG_FORMAT", "yaml");
    let finished = launch.args(["-p", "hello"]).run().await;
    finished.assert_code(0).assert_stderr("TILLERMAN_LOG_FORMAT");
}

#[tokio::test]
async fn a_host_logs_each_request_once_and_no_ids_of_its_path() {
    let world = World::new();
    let launch = world.tillerman();
    let log = launch.log_path();
    let mut host = Served::launch(&world, launch, &["--log-format", "json"]).await;
    let id = host.say("list the files here").await;
    host.reaches(&id, "idle").await;
    host.text(&format!("/?token={}", host.token)).await;
    host.process.signal(Signal::TERM);
    within("the end", host.process.child.wait()).await.unwrap();
    until("the last line", || {
        std::fs::read_to_string(&log).is_ok_and(|text| text.contains("ending"))
    })
    .await;
    let text = std::fs::read_to_string(&log).unwrap();
    assert!(!text.contains(&host.token), "the token is in {text}");
    let requests: Vec<Value> =
        lines(&text).into_iter().filter(|line| line["message"] == "request").collect();
    let said: Vec<_> = requests
        .iter()
        .filter(|line| line["route"] == "/api/v1/conversations/{id}/messages")
        .collect();
    assert_eq!(said.len(), 1, "{text}");
    assert_eq!((said[0]["method"].as_str(), said[0]["status"].as_u64()), (Some("POST"), Some(202)));
    assert!(said[0]["duration_ms"].as_f64().is_some_and(|taken| taken > 0.0));
    assert!(said[0]["request"].as_str().is_some_and(|id| id.len() == 36));
    assert!(!requests.iter().any(|line| line["route"].to_string().contains(&id)), "{text}");
}
