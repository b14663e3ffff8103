//! Signals and broken pipes: rounds end cleanly, processes go, nothing is lost or torn.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};
use tillerman_testkit::{Gate, Response, ScriptedServer, response, script};

use crate::harness::{Agent, World, is_running, tool_result_texts, until};

/// How long a command sleeps: longer than any test, and like no other, so that it can be found.
fn long_time(number: u32) -> String {
    format!("120.{number}{}", std::process::id())
}

/// A call that takes this long.
fn long_call(time: &str) -> Response {
    response().tool_call("Bash", json!({ "command": format!("sleep {time}; true") }))
}

fn sleeps(time: &str) -> bool {
    is_running(&format!("sleep\0{time}"))
}

async fn start_long_call(world: &World, server: &ScriptedServer, time: &str) -> Agent {
    let mut agent = world.tillerman().asks(server).unguarded().start();
    agent.prompt("work").await;
    until("the command to begin", || sleeps(time)).await;
    agent
}

fn is_result(frame: &Value) -> bool {
    frame["type"] == "result"
}

#[tokio::test]
async fn an_interrupt_in_a_response_ends_with_a_result() {
    let world = World::new();
    let gate = Gate::new();
    let words = response().text("the beginning of a long story").delta_chars(13);
    let server = ScriptedServer::start(script().reply(words.hold_after_events(4, &gate))).await;
    let partial = ["--include-partial-messages"];
    let mut agent = world.tillerman().asks(&server).args(partial).start();
    agent.prompt("tell me a story").await;
    let is_delta = |frame: &Value| frame["event"]["type"] == "content_block_delta";
    agent.frame("the first words", is_delta).await;
    agent.signal(Signal::INT);
    let result = agent.result().await;
    assert_eq!(result["subtype"], "error_during_execution");
    assert_eq!(result["terminal_reason"], "aborted_streaming");
    agent.finish().await.0.assert_code(0).assert_no_panic();
    let said = world.entries().iter().any(|entry| {
        entry["type"] == "assistant" && entry["message"]["content"][0]["text"] == "the beginning"
    });
    assert!(said, "what was shown before the interrupt is not stored: {:#?}", world.entries());
}

#[tokio::test]
async fn an_interrupt_reaches_a_prompt_of_the_command_line() {
    let world = World::new();
    let gate = Gate::new();
    let server =
        ScriptedServer::start(script().reply(response().text("never").hold_before(&gate))).await;
    let arguments = ["-p", "--output-format", "json", "hello"];
    let mut agent = world.tillerman().asks(&server).args(arguments).start_as_is();
    agent.close();
    server.wait_for_requests(1).await;
    agent.signal(Signal::INT);
    assert_eq!(agent.result().await["terminal_reason"], "aborted_streaming");
    agent.finish().await.0.assert_code(0).assert_no_panic();
}

#[tokio::test]
async fn an_interrupt_in_a_call_ends_its_processes() {
    let (world, time) = (World::new(), long_time(1));
    let server = ScriptedServer::start(script().reply(long_call(&time))).await;
    let mut agent = start_long_call(&world, &server, &time).await;
    agent.signal(Signal::INT);
    assert_eq!(agent.result().await["terminal_reason"], "aborted_tools");
    agent.finish().await.0.assert_code(0).assert_no_panic();
    assert!(!sleeps(&time), "the command outlived the process");
}

#[tokio::test]
async fn sigterm_in_a_call_ends_everything_and_the_session_can_be_resumed() {
    let (world, time) = (World::new(), long_time(2));
    let replies = script().reply(long_call(&time)).reply(response().text("back again"));
    let server = ScriptedServer::start(replies).await;
    let agent = start_long_call(&world, &server, &time).await;
    let started = Instant::now();
    agent.signal(Signal::TERM);
    let (finished, frames) = agent.finish().await;
    finished.assert_code(143).assert_no_panic();
    assert!(started.elapsed() < Duration::from_secs(4), "{:?}", started.elapsed());
    assert!(!frames.iter().any(is_result), "there is no result to show");
    assert!(!sleeps(&time), "the command outlived the process");
    assert!(world.entries().iter().any(|entry| entry["type"] == "cost-state"));
    let resume = ["-p", "--continue", "what happened?"];
    let resumed = world.tillerman().asks(&server).unguarded().args(resume).run().await;
    resumed.assert_code(0);
    assert_eq!(resumed.text(), "back again\n");
    let told = server.request(1).tool_result_texts();
    assert!(told[0].contains("may or may not have taken effect"), "{told:?}");
    server.verify();
}

/// Has the binary say more than a pipe holds while nobody reads.
async fn start_unread(world: &World, server: &ScriptedServer) -> Agent {
    let arguments = ["--include-partial-messages"];
    let mut agent = world.tillerman().asks(server).args(arguments).start();
    agent.prompt("talk").await;
    until("the pipe to be full", || agent.unread() > 50_000).await;
    agent
}

const LONG_TEXT: &str = "word ";

fn long_text() -> Response {
    response().text(LONG_TEXT.repeat(4_000)).delta_chars(5)
}

#[tokio::test]
async fn a_second_signal_ends_a_process_that_cannot_even_print() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 130)] {
        let world = World::new();
        let server = ScriptedServer::start(script().reply(long_text())).await;
        let mut agent = start_unread(&world, &server).await;
        let started = Instant::now();
        agent.signal(signal);
        // Two signals in a row may count as one, so the second waits until the first was taken.
        until("the first signal to be taken", || agent.pending_signals() == 0).await;
        until("the second signal to be heard", || {
            agent.signal_if_alive(signal);
            agent.has_ended()
        })
        .await;
        assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
        agent.stop_reading();
        agent.finish().await.0.assert_code(code).assert_no_panic();
        world.entries();
    }
}

#[tokio::test]
async fn a_hangup_does_not_end_the_round() {
    let world = World::new();
    let gate = Gate::new();
    let replies = script()
        .reply(response().tool_call("Bash", json!({ "command": "pwd" })).hold_before(&gate))
        .reply(response().text("finished all the same"));
    let server = ScriptedServer::start(replies).await;
    let mut agent = world.tillerman().asks(&server).start();
    agent.prompt("work").await;
    gate.reached().await;
    agent.signal(Signal::HUP);
    until("the signal to be taken", || agent.pending_signals() == 0).await;
    gate.open();
    assert_eq!(agent.result().await["result"], "finished all the same");
    agent.finish().await.0.assert_code(0).assert_no_panic();
    server.verify();
}

#[tokio::test]
async fn a_reader_that_goes_away_does_not_stop_the_round() {
    for arguments in [
        ["--output-format", "stream-json", "--verbose"].as_slice(),
        &["--output-format", "json"],
        &["--output-format", "text"],
    ] {
        let world = World::new();
        let gate = Gate::new();
        let replies = script()
            .reply(response().tool_call("Bash", json!({ "command": "pwd" })).hold_before(&gate))
            .reply(response().text("nobody hears this"));
        let server = ScriptedServer::start(replies).await;
        let launch = world.tillerman().asks(&server).args(["-p", "work"]);
        let mut agent = launch.args(arguments.iter().copied()).start_as_is();
        agent.close();
        gate.reached().await;
        agent.stop_reading();
        gate.open();
        let (finished, _) = agent.finish().await;
        finished.assert_code(0).assert_no_panic();
        let texts = world.entries().into_iter().map(|entry| entry["message"].to_string());
        assert!(texts.into_iter().any(|text| text.contains("nobody hears this")));
        server.verify();
    }
}

#[tokio::test]
async fn standard_error_may_be_closed() {
    let world = World::new();
    let server = ScriptedServer::start(script().reply(response().text("fine"))).await;
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let launch = world.tillerman().asks(&server).args(["-p", "--debug", "hello"]);
    // The setting makes a warning that nobody can read.
    std::fs::create_dir(world.file(".claude")).unwrap();
    std::fs::write(world.file(".claude/settings.json"), "{ oops").unwrap();
    let finished = launch.stderr(writer).run().await;
    finished.assert_code(0);
    assert_eq!(finished.text(), "fine\n");
}

#[tokio::test]
async fn a_reader_that_pauses_loses_nothing() {
    let world = World::new();
    let server = ScriptedServer::start(script().reply(long_text())).await;
    let mut agent = start_unread(&world, &server).await;
    assert_eq!(agent.result().await["result"], LONG_TEXT.repeat(4_000));
    let (finished, frames) = agent.finish().await;
    finished.assert_code(0);
    let deltas = frames.iter().filter_map(|frame| frame["event"]["delta"]["text"].as_str());
    assert_eq!(deltas.collect::<String>(), LONG_TEXT.repeat(4_000));
    assert!(tool_result_texts(&frames).is_empty());
}
