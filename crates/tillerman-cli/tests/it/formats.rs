//! What comes out: text, JSON, frames, help and version.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tillerman_testkit::{ScriptedServer, response, script};

use crate::harness::{FRAMES_OUT, World};

const LONGEST_LINE: usize = 1 << 20;

async fn two_turns() -> ScriptedServer {
    let replies = script()
        .reply(response().text("looking").tool_call("Bash", json!({ "command": "pwd" })))
        .reply(response().text("the *answer*"));
    ScriptedServer::start(replies).await
}

#[tokio::test]
async fn text_is_the_answer_alone() {
    let (world, server) = (World::new(), two_turns().await);
    let finished = world.tillerman().asks(&server).args(["-p", "hello"]).run().await;
    finished.assert_code(0);
    assert_eq!(finished.text(), "the *answer*\n");
    assert_eq!(finished.stderr, "");
}

#[tokio::test]
async fn a_pipe_adds_to_the_prompt() {
    let world = World::new();
    let server = ScriptedServer::start(script().reply(response().text("fine"))).await;
    let launch = world.tillerman().asks(&server).args(["-p", "review this"]);
    launch.run_with(b"+ a line\n").await.assert_code(0);
    assert_eq!(server.single_request().user_text(), "review this\n\n+ a line");
}

#[tokio::test]
async fn json_is_one_result() {
    let (world, server) = (World::new(), two_turns().await);
    let arguments = ["-p", "--output-format", "json", "hello"];
    let finished = world.tillerman().asks(&server).args(arguments).run().await;
    finished.assert_code(0);
    let result: Value = serde_json::from_slice(&finished.stdout).unwrap();
    assert_eq!(result["type"], "result");
    assert_eq!(result["subtype"], "success");
    assert_eq!(result["result"], "the *answer*");
    assert_eq!(result["num_turns"], 2);
}

#[tokio::test]
async fn verbose_json_is_all_frames_in_one_list() {
    let (world, server) = (World::new(), two_turns().await);
    let arguments = ["-p", "--output-format", "json", "--verbose", "hello"];
    let finished = world.tillerman().asks(&server).args(arguments).run().await;
    let frames: Vec<Value> = serde_json::from_slice(&finished.stdout).unwrap();
    let kinds: Vec<&str> = frames.iter().map(|frame| frame["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["system", "assistant", "assistant", "user", "assistant", "result"]);
}

#[tokio::test]
async fn frames_come_in_the_order_hosts_rely_on() {
    let (world, server) = (World::new(), two_turns().await);
    let arguments = FRAMES_OUT.into_iter().chain(["--include-partial-messages", "hello"]);
    let finished = world.tillerman().asks(&server).args(arguments).run().await;
    finished.assert_code(0);
    let frames = finished.frames();
    let position = |fits: &dyn Fn(&Value) -> bool| frames.iter().position(fits).unwrap();
    let call = position(&|frame| frame["message"]["content"][0]["type"] == "tool_use");
    let outcome = position(&|frame| frame["message"]["content"][0]["type"] == "tool_result");
    let block_end = position(&|frame| {
        frame["event"]["type"] == "content_block_stop" && frame["event"]["index"] == 1
    });
    assert_eq!(frames[0]["subtype"], "init");
    assert!(call < block_end && call < outcome, "{frames:#?}");
    assert_eq!(frames.last().unwrap()["type"], "result");
}

#[tokio::test]
async fn no_line_is_longer_than_readers_take() {
    let world = World::new();
    let huge = "a large prompt \u{1f600} ".repeat(150_000);
    let server = ScriptedServer::start(script().reply(response().text("read it"))).await;
    let mut agent = world.tillerman().asks(&server).args(["--replay-user-messages"]).start();
    agent.prompt(&huge).await;
    agent.result().await;
    let (finished, frames) = agent.finish().await;
    finished.assert_code(0);
    assert!(frames.iter().all(|frame| frame.to_string().len() < LONGEST_LINE));
    let replay = frames.iter().find(|frame| frame["isReplay"] == true).unwrap();
    let shown = replay["message"]["content"].as_str().unwrap();
    assert!(shown.starts_with("a large prompt"));
    let path = shown.split("kept in ").nth(1).unwrap().trim_end_matches(']');
    assert_eq!(std::fs::read_to_string(PathBuf::from(path)).unwrap(), huge);
    assert!(server.single_request().user_text() == huge, "the model got something else");
}

#[tokio::test]
async fn a_long_answer_is_kept_in_a_file_too() {
    let world = World::new();
    let long = "an answer without end ".repeat(60_000);
    let reply = response().text(&long).delta_chars(50_000);
    let server = ScriptedServer::start(script().reply(reply)).await;
    let finished = world.tillerman().asks(&server).args(FRAMES_OUT).args(["talk"]).run().await;
    finished.assert_code(0);
    assert!(finished.text().lines().all(|line| line.len() < LONGEST_LINE));
    let result = finished.result();
    let shown = result["result"].as_str().unwrap();
    let path = shown.split("kept in ").nth(1).unwrap().trim_end_matches(']');
    assert_eq!(std::fs::read_to_string(PathBuf::from(path)).unwrap(), long);
}

#[tokio::test]
async fn help_names_the_flags_people_need() {
    let world = World::new();
    let finished = world.tillerman().args(["--help"]).run().await;
    finished.assert_code(0);
    let help = finished.text();
    for flag in [
        "--print",
        "--output-format",
        "--continue",
        "--resume",
        "--model",
        "--permission-mode",
        "--allowedTools",
        "--settings",
        "--add-dir",
        "--debug",
        "ANTHROPIC_API_KEY",
        "rehearsal",
        "Exit codes",
    ] {
        assert!(help.contains(flag), "{flag} is missing:\n{help}");
    }
    assert_eq!(finished.stderr, "");
}

#[tokio::test]
async fn the_version_is_told_at_once() {
    let world = World::new();
    for flag in ["-v", "--version"] {
        let started = Instant::now();
        let finished = world.tillerman().args([flag]).run().await;
        // Old SDKs wait two seconds for it; the rest of the time is a busy test machine's.
        assert!(started.elapsed() < Duration::from_secs(1), "{:?}", started.elapsed());
        finished.assert_code(0);
        let text = finished.text();
        let number = text.split(' ').next().unwrap();
        assert!(
            number.split('.').filter(|part| part.parse::<u32>().is_ok()).count() == 3,
            "{text}"
        );
        assert!(text.contains("Tillerman"), "{text}");
    }
}
