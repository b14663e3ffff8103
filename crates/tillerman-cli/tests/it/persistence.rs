//! Disks that are full or read-only, crashes at the worst moments, and very many stored sessions.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, UNIX_EPOCH};

use rustix::mount::MountFlags;
use serde_json::{Value, json};
use tillerman_testkit::{Gate, ScriptedServer, response, script};

use crate::harness::{Agent, World, is_root, until};
use crate::small_disk::SmallDisk;

const SOME_UUID: &str = "6ba7b810-9dad-41d1-80b4-00c04fd430c8";

fn is_pause(frame: &Value) -> bool {
    frame["subtype"] == "notification" && frame["key"] == "transcript_paused"
}

#[tokio::test]
async fn a_full_disk_pauses_before_the_first_request() {
    let world = World::new();
    let Some(disk) = SmallDisk::mount(world.config(), c"size=1m", MountFlags::empty()) else {
        return;
    };
    let server = ScriptedServer::start(script().reply(response().text("at last"))).await;
    let mut agent = world.tillerman().asks(&server).start();
    disk.fill();
    agent.prompt("hello").await;
    let pause = agent.frame("the pause to be told", is_pause).await;
    assert!(pause["text"].as_str().unwrap().contains("Free some space"), "{pause}");
    assert!(server.requests().is_empty(), "a prompt was sent that is not stored");
    disk.free();
    assert_eq!(agent.result().await["result"], "at last");
    agent.finish().await.0.assert_code(0).assert_no_panic();
    assert_eq!(world.entries()[0]["message"]["content"], "hello");
}

#[tokio::test]
async fn a_full_disk_pauses_before_a_tool_runs() {
    let world = World::new();
    let Some(disk) = SmallDisk::mount(world.config(), c"size=1m", MountFlags::empty()) else {
        return;
    };
    let gate = Gate::new();
    // The call is too large for what is left of the page that the prompt began.
    let command = format!("touch ran # {}", "x".repeat(10_000));
    let call = response().tool_call("Bash", json!({ "command": command })).hold_before(&gate);
    let server = ScriptedServer::start(script().reply(call).reply(response().text("done"))).await;
    let mut agent = world.tillerman().asks(&server).unguarded().start();
    agent.prompt("hello").await;
    gate.reached().await;
    disk.fill();
    gate.open();
    agent.frame("the pause to be told", is_pause).await;
    let is_call = |frame: &Value| frame["message"]["content"][0]["type"] == "tool_use";
    assert!(!agent.seen.iter().any(is_call), "a call was shown that is not stored");
    assert!(!world.file("ran").exists(), "a tool ran that is not stored");
    disk.free();
    assert_eq!(agent.result().await["result"], "done");
    assert!(world.file("ran").exists());
    let (finished, frames) = agent.finish().await;
    finished.assert_code(0);
    assert_eq!(frames.iter().filter(|frame| is_pause(frame)).count(), 1);
    let stored = world.entries();
    assert_eq!(stored.iter().filter(|entry| is_call(entry)).count(), 1, "half-written or twice");
    server.verify();
}

#[tokio::test]
async fn sigterm_ends_a_session_that_waits_for_space() {
    let world = World::new();
    let Some(disk) = SmallDisk::mount(world.config(), c"size=1m", MountFlags::empty()) else {
        return;
    };
    let server = ScriptedServer::start(script()).await;
    let mut agent = world.tillerman().asks(&server).start();
    disk.fill();
    agent.prompt("hello").await;
    agent.frame("the pause to be told", is_pause).await;
    agent.signal(rustix::process::Signal::TERM);
    let (finished, _) = agent.finish().await;
    finished.assert_code(143).assert_no_panic();
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_place_that_cannot_be_written_is_refused_at_the_start() {
    let world = World::new();
    let _disk = if is_root() {
        let Some(disk) = SmallDisk::mount(world.config(), c"size=1m", MountFlags::RDONLY) else {
            return;
        };
        Some(disk)
    } else {
        let closed = std::os::unix::fs::PermissionsExt::from_mode(0o555);
        std::fs::set_permissions(world.config(), closed).unwrap();
        None
    };
    let server = ScriptedServer::start(script().reply(response().text("unkept"))).await;
    let launch = || world.tillerman().asks(&server).args(["-p", "hello"]);
    let finished = launch().run().await;
    finished.assert_code(1).assert_stderr("set CLAUDE_CONFIG_DIR to another").assert_no_panic();
    assert_eq!(finished.text(), "");
    assert!(server.requests().is_empty());
    let finished = launch().args(["--no-session-persistence"]).run().await;
    finished.assert_code(0);
    assert_eq!(finished.text(), "unkept\n");
}

async fn kill(mut agent: Agent) {
    agent.child.start_kill().unwrap();
    agent.child.wait().await.unwrap();
}

#[tokio::test]
async fn a_crash_between_a_call_and_its_result_is_told_as_unknown() {
    let world = World::new();
    // It outlives the process that is killed, and must end by itself.
    let command = "echo once >> log; touch ran; for i in $(seq 500); do [ -e release ] && break; sleep 0.02; done";
    let replies = script()
        .reply(response().tool_call("Bash", json!({ "command": command })))
        .reply(response().text("I will check first"));
    let server = ScriptedServer::start(replies).await;
    let mut agent = world.tillerman().asks(&server).unguarded().start();
    agent.prompt("work").await;
    until("the command to run", || world.file("ran").exists()).await;
    kill(agent).await;
    let arguments = ["-p", "--continue", "go on"];
    let finished = world.tillerman().asks(&server).unguarded().args(arguments).run().await;
    std::fs::write(world.file("release"), "").unwrap();
    finished.assert_code(0);
    let [told] = server.request(1).tool_results().try_into().unwrap();
    assert!(told.is_error);
    assert!(told.content.plain_text().contains("may or may not have taken effect"), "{told:?}");
    assert_eq!(std::fs::read_to_string(world.file("log")).unwrap(), "once\n");
    server.verify();
}

#[tokio::test]
async fn a_crash_while_somebody_is_asked_allows_nothing() {
    let world = World::new();
    let call = || response().tool_call("Bash", json!({ "command": "touch danger" }));
    let replies = script().reply(call()).reply(call()).reply(response().text("as you wish"));
    let server = ScriptedServer::start(replies).await;
    let asking = ["--permission-prompt-tool", "stdio"];
    let is_question = |frame: &Value| frame["request"]["subtype"] == "can_use_tool";
    let mut agent = world.tillerman().asks(&server).args(asking).start();
    agent.prompt("work").await;
    agent.frame("the question", is_question).await;
    kill(agent).await;
    assert!(!world.file("danger").exists());
    let mut agent = world.tillerman().asks(&server).args(asking).args(["--continue"]).start();
    agent.prompt("go on").await;
    let question = agent.frame("the question again", is_question).await;
    assert!(!world.file("danger").exists());
    let denial = json!({ "behavior": "deny", "message": "no" });
    let request_id = &question["request_id"];
    let response = json!({ "subtype": "success", "request_id": request_id, "response": denial });
    agent.send(json!({ "type": "control_response", "response": response })).await;
    assert_eq!(agent.result().await["result"], "as you wish");
    agent.finish().await.0.assert_code(0);
    assert!(!world.file("danger").exists());
    let told = server.request(1).tool_result_texts();
    assert!(told[0].contains("may or may not have taken effect"), "{told:?}");
    server.verify();
}

/// Where the transcripts of the world's working directory lie.
fn project(world: &World) -> PathBuf {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let name: String = world.path("work").to_str().unwrap().chars().map(plain).collect();
    let project = world.config().join("projects").join(name);
    std::fs::create_dir_all(&project).unwrap();
    project
}

fn line(kind: &str, uuid: &str, parent: Option<&str>, content: &Value) -> Value {
    let message = match kind {
        "user" => json!({ "role": "user", "content": content }),
        _ => json!({ "id": format!("msg_{uuid}"), "type": "message", "role": "assistant",
            "model": "claude-sonnet-4-5", "content": content, "stop_reason": "end_turn",
            "stop_sequence": null, "usage": { "input_tokens": 1, "output_tokens": 1 } }),
    };
    json!({ "type": kind, "uuid": uuid, "parentUuid": parent, "isSidechain": false,
        "timestamp": "2026-05-04T10:00:00.000Z", "sessionId": SOME_UUID, "message": message })
}

#[tokio::test]
async fn a_transcript_of_a_newer_version_is_refused_and_left_alone() {
    let world = World::new();
    let server = ScriptedServer::start(script().reply(response().text("one"))).await;
    let arguments = ["-p", "--session-id", SOME_UUID, "hello"];
    world.tillerman().asks(&server).args(arguments).run().await.assert_code(0);
    let path = world.transcript();
    let mut text = std::fs::read_to_string(&path).unwrap();
    let mut newer = line("user", "f", None, &json!("from the future"));
    newer["tillermanFormat"] = json!("2031-01");
    newer["crc"] = json!("12345678-and-more");
    writeln!(text, "{newer}").unwrap();
    std::fs::write(&path, &text).unwrap();
    let finished = world.tillerman().asks(&server).args(["-p", "-c", "hello"]).run().await;
    finished.assert_code(1).assert_stderr("written by a newer version").assert_no_panic();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    assert_eq!(server.requests().len(), 1);
}

/// A long session that was compacted once, a thousand entries before its end.
fn long_transcript(path: &Path, lines: usize) {
    let mut text = String::new();
    let boundary = lines - 1_001;
    for number in 0..lines {
        let uuid = format!("00000000-0000-4000-8000-{number:012}");
        let parent = format!("00000000-0000-4000-8000-{:012}", number.wrapping_sub(1) % lines);
        let content = format!("line {number} says what lines say");
        let entry = match number % 2 {
            _ if number == boundary => json!({ "type": "system", "subtype": "compact_boundary",
                "uuid": uuid, "parentUuid": null, "logicalParentUuid": parent,
                "isSidechain": false, "timestamp": "2026-05-04T10:00:00.000Z",
                "sessionId": SOME_UUID, "content": "compacted" }),
            _ if number == 0 => line("user", &uuid, None, &json!(content)),
            0 => line("user", &uuid, Some(&parent), &json!(content)),
            _ => {
                let block = json!([{ "type": "text", "text": content }]);
                line("assistant", &uuid, Some(&parent), &block)
            }
        };
        writeln!(text, "{entry}").unwrap();
    }
    std::fs::write(path, text).unwrap();
}

#[tokio::test]
async fn a_hundred_thousand_lines_are_resumed() {
    let world = World::new();
    let path = project(&world).join(format!("{SOME_UUID}.jsonl"));
    long_transcript(&path, 100_000);
    let server = ScriptedServer::start(script().reply(response().text("still here"))).await;
    let started = Instant::now();
    let arguments = ["-p", "--resume", SOME_UUID, "are you there?"];
    let finished = world.tillerman().asks(&server).args(arguments).run().await;
    finished.assert_code(0);
    assert_eq!(finished.text(), "still here\n");
    // A debug build on a busy machine; the store's own tests hold the release build to its budget.
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    let request = server.single_request();
    assert!(request.user_text().contains("line 99998 says"));
    assert!(!request.user_text().contains("line 98998 says"), "what was compacted came back");
    server.verify();
}

#[tokio::test]
async fn ten_thousand_sessions_do_not_slow_continue_down() {
    let world = World::new();
    let project = project(&world);
    for number in 0..10_000_u32 {
        let path = project.join(format!("00000000-0000-4000-8000-{number:012}.jsonl"));
        let text = json!(format!("session {number}"));
        let mut file = File::create(path).unwrap();
        writeln!(file, "{}", line("user", &format!("u{number}"), None, &text)).unwrap();
        let age = Duration::from_secs(u64::from(number.abs_diff(4_321)));
        file.set_modified(UNIX_EPOCH + Duration::from_secs(1_700_000_000) - age).unwrap();
    }
    let server = ScriptedServer::start(script().reply(response().text("found"))).await;
    let started = Instant::now();
    let finished = world.tillerman().asks(&server).args(["-p", "-c", "go on"]).run().await;
    assert!(started.elapsed() < Duration::from_secs(3), "{:?}", started.elapsed());
    finished.assert_code(0);
    assert!(server.single_request().user_text().contains("session 4321"));
}
