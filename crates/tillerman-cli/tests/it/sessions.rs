//! Sessions on disk as people and hosts use them: kept, continued, forked, rewound.

use std::fmt::Write as _;
use std::path::PathBuf;

use serde_json::{Value, json};
use tillerman_protocol::stream::Usage;
use tillerman_testkit::{ScriptBuilder, ScriptedServer, response, script};

use crate::harness::{FRAMES_OUT, Finished, World, entries};

const FIRST: &str = "11111111-1111-4111-8111-111111111111";
const SECOND: &str = "22222222-2222-4222-8222-222222222222";

/// A script that answers with these texts, one after the other.
fn answers(texts: &[&str]) -> ScriptBuilder {
    texts.iter().fold(script(), |script, text| script.reply(response().text(*text)))
}

/// Sends one prompt with these arguments and expects success.
async fn say(world: &World, server: &ScriptedServer, arguments: &[&str]) -> Finished {
    let launch = world.tillerman().asks(server).args(FRAMES_OUT);
    let finished = launch.args(arguments.iter().copied()).run().await;
    finished.assert_code(0).assert_no_panic();
    finished
}

fn transcript_of(world: &World, id: &str) -> PathBuf {
    let all = world.transcripts().into_iter();
    all.into_iter().find(|path| path.file_stem().is_some_and(|stem| stem == id)).unwrap()
}

#[tokio::test]
async fn a_session_that_is_not_kept_leaves_no_trace() {
    let world = World::new();
    let replies = script()
        .reply(response().tool_call("Bash", json!({ "command": "pwd" })))
        .reply(response().text("fine"));
    let server = ScriptedServer::start(replies).await;
    let finished = say(&world, &server, &["hello", "--no-session-persistence"]).await;
    assert_eq!(finished.result()["result"], "fine");
    assert!(world.transcripts().is_empty());
    assert_eq!(std::fs::read_dir(world.config()).unwrap().count(), 0);
    assert_eq!(std::fs::read_dir(world.path("home")).unwrap().count(), 0);
    let beside = std::fs::read_dir(world.path("")).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<_> =
        beside.filter(|name| name.to_string_lossy().starts_with("tillerman-")).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[tokio::test]
async fn every_frame_names_the_session() {
    let world = World::new();
    let server = ScriptedServer::start(answers(&["fine"])).await;
    let finished = say(&world, &server, &["hello", "--session-id", FIRST]).await;
    let frames = finished.frames();
    assert_eq!(frames[0]["subtype"], "init");
    assert!(frames.iter().all(|frame| frame["session_id"] == FIRST), "{frames:#?}");
    assert!(frames.iter().all(|frame| frame["uuid"].as_str().unwrap().len() == 36));
    assert!(world.transcript().ends_with(format!("{FIRST}.jsonl")));
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &std::fs::metadata(world.transcript()).unwrap().permissions(),
    );
    assert_eq!(mode & 0o777, 0o600);
}

#[tokio::test]
async fn continuing_takes_the_session_written_to_last() {
    let world = World::new();
    let server = ScriptedServer::start(answers(&["a", "b", "c", "d"])).await;
    say(&world, &server, &["first", "--session-id", FIRST]).await;
    say(&world, &server, &["second", "--session-id", SECOND]).await;
    let finished = say(&world, &server, &["--continue", "third"]).await;
    assert_eq!(finished.result()["session_id"], SECOND);
    // Writing to the older one makes it the newest.
    say(&world, &server, &["--resume", FIRST, "fourth"]).await;
    assert_eq!(server.request(3).user_text(), "first\nfourth");
    server.verify();
}

#[tokio::test]
async fn a_session_is_resumed_again_and_again() {
    let world = World::new();
    let server = ScriptedServer::start(answers(&["one", "two", "three"])).await;
    say(&world, &server, &["first", "--session-id", FIRST]).await;
    say(&world, &server, &["--resume", FIRST, "second"]).await;
    let resume = format!("--resume={FIRST}");
    let finished = say(&world, &server, &[&resume, "third"]).await;
    assert_eq!(finished.result()["session_id"], FIRST);
    assert_eq!(server.request(2).user_text(), "first\nsecond\nthird");
    assert_eq!(world.transcripts().len(), 1);
    let stored = world.entries();
    let chain: Vec<&Value> = stored.iter().filter(|entry| entry["uuid"].is_string()).collect();
    for pair in chain.windows(2) {
        assert_eq!(pair[1]["parentUuid"], pair[0]["uuid"], "the chain is broken");
    }
    server.verify();
}

#[tokio::test]
async fn a_fork_leaves_its_source_untouched() {
    let world = World::new();
    let server = ScriptedServer::start(answers(&["one", "two", "three"])).await;
    say(&world, &server, &["first", "--session-id", FIRST]).await;
    let before = std::fs::read(transcript_of(&world, FIRST)).unwrap();
    let arguments = ["--resume", FIRST, "--fork-session", "--session-id", SECOND, "other way"];
    let finished = say(&world, &server, &arguments).await;
    assert_eq!(finished.result()["session_id"], SECOND);
    assert_eq!(std::fs::read(transcript_of(&world, FIRST)).unwrap(), before);
    assert_eq!(server.request(1).user_text(), "first\nother way");
    let copied = entries(&transcript_of(&world, SECOND));
    assert!(copied.iter().filter(|e| e["uuid"].is_string()).all(|e| e["sessionId"] == SECOND));
    say(&world, &server, &["--resume", SECOND, "further"]).await;
    assert_eq!(server.request(2).user_text(), "first\nother way\nfurther");
    server.verify();
}

#[tokio::test]
async fn resuming_at_a_message_forgets_what_came_later() {
    let world = World::new();
    let replies = answers(&["one", "two"])
        .reply(response().text("instead").moves_prefix("the conversation was rewound"))
        .reply(response().text("after").moves_prefix("the conversation was rewound"));
    let server = ScriptedServer::start(replies).await;
    say(&world, &server, &["first", "--session-id", FIRST]).await;
    say(&world, &server, &["--resume", FIRST, "second"]).await;
    let stored = world.entries();
    let said = |text: &str| {
        let found = stored.iter().find(|entry| entry["message"].to_string().contains(text));
        found.unwrap()["uuid"].as_str().unwrap().to_owned()
    };
    let arguments = ["--resume", FIRST, "--resume-session-at", &said("\"one\""), "third"];
    say(&world, &server, &arguments).await;
    assert_eq!(server.request(2).user_text(), "first\nthird");
    // The new branch is where a plain resume goes on.
    say(&world, &server, &["--resume", FIRST, "fourth"]).await;
    assert_eq!(server.request(3).user_text(), "first\nthird\nfourth");
    let unknown = ["-p", "--resume", FIRST, "--resume-session-at", SECOND, "fifth"];
    let finished = world.tillerman().asks(&server).args(unknown).run().await;
    finished.assert_code(1).assert_stderr("has no message with the UUID");
}

#[tokio::test]
async fn costs_add_up_over_resumes() {
    let world = World::new();
    let usage = Usage { input_tokens: 1_000, output_tokens: 1_000, ..Usage::default() };
    let reply = || response().text("dear").usage(usage.clone());
    let server = ScriptedServer::start(script().reply(reply()).reply(reply())).await;
    let model = ["--model", "sonnet"];
    let first = say(&world, &server, &[&["first"], model.as_slice()].concat()).await.result();
    let second =
        say(&world, &server, &[&["-c", "second"], model.as_slice()].concat()).await.result();
    let cost = |result: &Value| result["total_cost_usd"].as_f64().unwrap();
    assert!(cost(&first) > 0.0);
    assert!((cost(&second) - 2.0 * cost(&first)).abs() < 1e-9, "{first} {second}");
    assert_eq!(second["usage"]["input_tokens"], 1_000, "usage is of the round alone");
    let used = second["modelUsage"].as_object().unwrap().values().next().unwrap();
    assert_eq!(used["inputTokens"], 2_000);
    // A budget counts what was spent before.
    let arguments = ["-p", "-c", "third", "--max-budget-usd", "0.000001"];
    let launch = world.tillerman().asks(&server).args(arguments);
    let finished = launch.args(["--output-format", "json"]).run().await;
    finished.assert_code(1);
    assert_eq!(finished.result()["subtype"], "error_max_budget_usd");
    let arguments = ["-p", "-c", "fourth", "--max-total-tokens", "4000"];
    let launch = world.tillerman().asks(&server).args(arguments);
    let finished = launch.args(["--output-format", "json"]).run().await;
    finished.assert_code(1);
    assert_eq!(finished.result()["terminal_reason"], "token_budget_exhausted");
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn a_title_that_a_helper_appends_is_kept() {
    let world = World::new();
    let server = ScriptedServer::start(answers(&["one", "two", "three"])).await;
    say(&world, &server, &["first", "--session-id", FIRST]).await;
    let path = world.transcript();
    let title = json!({ "type": "custom-title", "customTitle": "my title", "sessionId": FIRST });
    let mut text = std::fs::read_to_string(&path).unwrap();
    writeln!(text, "{title}").unwrap();
    std::fs::write(&path, &text).unwrap();
    say(&world, &server, &["-c", "second"]).await;
    let after = std::fs::read_to_string(&path).unwrap();
    assert!(after.starts_with(&text), "earlier lines were changed");
    let arguments = ["-c", "--fork-session", "--session-id", SECOND, "third"];
    say(&world, &server, &arguments).await;
    assert_eq!(server.request(2).user_text(), "first\nsecond\nthird");
    server.verify();
}

/// A transcript in the shape of the official program: other fields, several blocks per response,
/// a sidechain, metadata lines, no format and no checksum.
fn foreign_transcript() -> String {
    let base = |uuid: &str, parent: Option<&str>| {
        json!({ "parentUuid": parent, "isSidechain": false, "promptId": "p1",
            "userType": "external", "cwd": "/somewhere/else", "sessionId": FIRST,
            "version": "2.1.300", "gitBranch": "main", "uuid": uuid,
            "timestamp": "2026-05-04T10:00:00.000Z" })
    };
    let with = |mut entry: Value, fields: Value| {
        entry.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        entry
    };
    let message = |block: Value| {
        json!({ "id": "msg_01", "type": "message", "role": "assistant", "model": "claude-x",
            "content": [block], "stop_reason": "tool_use", "stop_sequence": null,
            "usage": { "input_tokens": 4, "output_tokens": 9, "service_tier": "standard" } })
    };
    let call = json!({ "type": "tool_use", "id": "toolu_01", "name": "Glob",
        "input": { "pattern": "*" }, "caller": { "type": "direct" } });
    let result = json!([{ "tool_use_id": "toolu_01", "type": "tool_result", "content": "a.txt" }]);
    let thought = json!({ "type": "thinking", "thinking": "hm", "signature": "c2ln" });
    let lines = [
        json!({ "type": "queue-operation", "operation": "enqueue", "content": "look around" }),
        with(
            base("u1", None),
            json!({ "type": "user",
            "message": { "role": "user", "content": "look around" }, "permissionMode": "default" }),
        ),
        with(
            base("a1", Some("u1")),
            json!({ "type": "assistant", "message": message(thought),
            "requestId": "req_1", "apiBlockIndex": 0 }),
        ),
        with(
            base("a2", Some("a1")),
            json!({ "type": "assistant", "message": message(call),
            "requestId": "req_1", "apiBlockIndex": 1 }),
        ),
        with(
            base("u2", Some("a2")),
            json!({ "type": "user", "toolUseResult": { "filenames": [] },
            "message": { "role": "user", "content": result }, "sourceToolAssistantUUID": "a2" }),
        ),
        with(
            base("s1", Some("u2")),
            json!({ "type": "user", "isSidechain": true,
            "message": { "role": "user", "content": "of a subagent" } }),
        ),
        json!({ "type": "file-history-snapshot", "messageId": "u1", "snapshot": {} }),
        with(
            base("a3", Some("u2")),
            json!({ "type": "assistant",
            "message": { "id": "msg_02", "type": "message", "role": "assistant",
                "model": "claude-x", "content": [{ "type": "text", "text": "one file" }],
                "stop_reason": "end_turn", "stop_sequence": null,
                "usage": { "input_tokens": 9, "output_tokens": 2 } } }),
        ),
        json!({ "type": "last-prompt", "lastPrompt": "look around", "leafUuid": "a3",
            "sessionId": FIRST }),
    ];
    lines.iter().fold(String::new(), |text, line| format!("{text}{line}\n"))
}

#[tokio::test]
async fn a_transcript_of_the_official_program_is_resumed() {
    let world = World::new();
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let name: String = world.path("work").to_str().unwrap().chars().map(plain).collect();
    let project = world.config().join("projects").join(name);
    std::fs::create_dir_all(&project).unwrap();
    let path = project.join(format!("{FIRST}.jsonl"));
    std::fs::write(&path, foreign_transcript()).unwrap();
    let server = ScriptedServer::start(answers(&["again"])).await;
    say(&world, &server, &["--resume", FIRST, "and now?"]).await;
    let request = server.single_request();
    assert_eq!(request.user_text(), "look around\na.txt\nand now?");
    assert_eq!(request.tool_calls().len(), 1);
    let kinds: Vec<String> = request.messages()[1]["content"]
        .as_array()
        .unwrap()
        .iter()
        .map(|block| block["type"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(kinds, ["thinking", "tool_use"]);
    let stored = entries(&path);
    let prompt = stored.iter().find(|entry| entry["message"]["content"] == "and now?").unwrap();
    assert_eq!(prompt["parentUuid"], "a3");
    assert!(std::fs::read_to_string(&path).unwrap().starts_with(&foreign_transcript()));
    server.verify();
}

#[tokio::test]
async fn continuing_where_there_is_nothing_begins() {
    let world = World::new();
    let server = ScriptedServer::start(answers(&["fine", "still fine"])).await;
    let begun = say(&world, &server, &["--continue", "hello"]).await;
    let continued = say(&world, &server, &["--continue", "again"]).await;
    assert_eq!(begun.result()["session_id"], continued.result()["session_id"]);
    assert!(server.request(1).user_text().contains("hello"));
}

#[tokio::test]
async fn a_session_is_resumed_by_its_title_and_by_its_file() {
    let world = World::new();
    let server = ScriptedServer::start(answers(&["one", "two", "three"])).await;
    say(&world, &server, &["hello", "--session-id", FIRST]).await;
    let path = transcript_of(&world, FIRST);
    let title = json!({"type": "custom-title", "customTitle": "A fine one", "sessionId": FIRST});
    let stored = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("{stored}{title}\n")).unwrap();
    for name in ["A fine one", path.to_str().unwrap()] {
        let resumed = say(&world, &server, &["--resume", name, "again"]).await;
        assert_eq!(resumed.result()["session_id"], FIRST);
    }
}
