//! Commands that say too much, or say it in bytes that are no text.

use serde_json::{Value, json};
use tillerman_testkit::{ScriptedServer, response, script};

use crate::harness::{World, tool_result_texts};

/// The frames of a round with this one command, and the most memory it took.
async fn round(world: &World, command: &str) -> (Vec<Value>, usize) {
    let input = json!({ "command": command, "timeout": 60_000 });
    let replies =
        script().reply(response().tool_call("Bash", input)).reply(response().text("all calm"));
    let server = ScriptedServer::start(replies).await;
    let mut agent = world.tillerman().asks(&server).unguarded().start();
    agent.prompt("work").await;
    assert_eq!(agent.result().await["result"], "all calm");
    let peak = agent.memory_peak();
    let (finished, frames) = agent.finish().await;
    finished.assert_code(0).assert_no_panic();
    server.verify();
    (frames, peak)
}

fn structured(frames: &[Value]) -> &Value {
    frames.iter().find_map(|frame| frame.get("tool_use_result")).unwrap()
}

#[tokio::test]
async fn two_hundred_megabytes_without_a_newline_fit_into_little_memory() {
    let world = World::new();
    let (frames, peak) = round(&world, "head -c 200000000 /dev/zero | tr '\\0' x").await;
    assert!(peak < 100 << 20, "{peak} bytes of memory");
    let [text] = tool_result_texts(&frames).try_into().unwrap();
    assert!(text.len() < 20_000, "{} bytes for the model", text.len());
    assert!(text.starts_with("xxx") && text.contains("The output has 200000000 bytes"));
    let shown = structured(&frames);
    let saved = std::path::PathBuf::from(shown["persistedOutputPath"].as_str().unwrap());
    assert_eq!(std::fs::metadata(saved).unwrap().len(), 200_000_000);
    assert!(shown["stdout"].as_str().unwrap().len() <= 30_000);
}

#[tokio::test]
async fn bytes_that_are_no_text_are_shown_safely() {
    let world = World::new();
    let command = r"printf 'a\xff\xfe\x00b\xed\xa0\x80c\n'";
    let (frames, _) = round(&world, command).await;
    let [text] = tool_result_texts(&frames).try_into().unwrap();
    assert!(text.starts_with('a') && text.ends_with('c'), "{text:?}");
    assert!(text.contains('\u{fffd}') && !text.contains('\0'), "{text:?}");
    let stored = world.entries();
    assert_eq!(tool_result_texts(&stored), [text]);
}

#[tokio::test]
async fn a_million_lines_are_one_result() {
    let world = World::new();
    let (frames, peak) = round(&world, "seq 1000000").await;
    assert!(peak < 100 << 20, "{peak} bytes of memory");
    assert!(frames.len() < 20, "{} frames", frames.len());
    let [text] = tool_result_texts(&frames).try_into().unwrap();
    assert!(text.starts_with("1\n2\n") && text.ends_with("999999\n1000000"), "{text}");
    assert!(text.len() < 20_000);
}

#[tokio::test]
async fn escape_sequences_of_tools_never_reach_the_terminal() {
    let world = World::new();
    let evil =
        r"for i in $(seq 500); do printf '\033[2J\033]0;gotcha\007\033]52;c;ZXZpbA==\007'; done";
    let failing = format!("{evil}; printf '\\033[31mred\\n'; exit 3");
    let replies = script()
        .reply(response().tool_call("Bash", json!({ "command": evil })))
        .reply(response().tool_call("Bash", json!({ "command": failing })))
        .reply(response().text("all calm"));
    let server = ScriptedServer::start(replies).await;
    let launch = world.tillerman().asks(&server).unguarded().args(["-p", "work"]);
    let finished = launch.run().await;
    finished.assert_code(0);
    assert_eq!(finished.text(), "all calm\n");
    assert!(!finished.stderr.contains('\u{1b}'), "{:?}", finished.stderr);
    // Frames carry the text, but no byte of it that a terminal would act on.
    let evil = World::new();
    let (frames, _) = round(&evil, &failing).await;
    let raw: String = frames.iter().map(Value::to_string).collect();
    assert!(!raw.contains('\u{1b}') && raw.contains(r"\u001b"));
}
