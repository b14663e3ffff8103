//! `tillerman ipc` as a desktop shell meets it: the real binary behind two pipes.

use std::process::Stdio;

use rustix::process::Signal;
use serde_json::{Value, json};
use tillerman_testkit::{ScriptedServer, response, script};
use tokio::io::AsyncWriteExt as _;

use crate::harness::{Agent, World, within};

const PREFIX: &str = "mcp__desktop-assistant-tools__";

/// Starts the host of a shell with the rehearsal model and waits until it is ready.
async fn start(world: &World, more: &[&str]) -> Agent {
    let launch = world.tillerman().args(["ipc"]).args(more.iter().copied());
    ready(launch.args(["--default-model", "rehearsal"]).start_as_is()).await
}

async fn ready(mut host: Agent) -> Agent {
    let ready = host.next("the first line").await.unwrap();
    assert_eq!(ready["type"], "ready");
    host
}

async fn say(host: &mut Agent, id: &str, message: &str) {
    host.send(json!({"id": id, "kind": "user_message", "message": message})).await;
}

/// Reads up to the last response about a request.
async fn end(host: &mut Agent, id: &str) -> Value {
    let is_end = |it: &Value| it["id"] == id && (it["type"] == "done" || it["type"] == "error");
    host.frame("the end of a request", is_end).await
}

/// Reads up to a question and answers it.
async fn decide(host: &mut Agent, decision: &str) -> Value {
    let question = host.frame("a question", |it| it["type"] == "permission_request").await;
    let id = format!("answer-{}", question["permission_id"]);
    let card = question["permission_id"].clone();
    host.send(json!({"id": id, "kind": "permission_response", "permission_id": card,
        "decision": decision}))
        .await;
    question
}

/// A small picture with a chunk in it that makes it as large as wanted.
fn png_of(size: usize) -> Vec<u8> {
    // One pixel; a chunk is its length, its name, its bytes and a sum over name and bytes.
    let head: &[u8] =
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89";
    let data: &[u8] =
        b"\0\0\0\rIDATx\x9cc\xf8\xcf\xc0\xf0\x1f\0\x05\0\x01\xff\x89\x99=\x1d\0\0\0\0IEND\xaeB`\x82";
    let filling = size - head.len() - data.len() - 12;
    let mut chunk = b"tiLl".to_vec();
    chunk.resize(4 + filling, b'x');
    let mut png = head.to_vec();
    png.extend(u32::try_from(filling).unwrap().to_be_bytes());
    png.extend(&chunk);
    png.extend(crc(&chunk).to_be_bytes());
    png.extend(data);
    assert_eq!(png.len(), size);
    png
}

fn crc(bytes: &[u8]) -> u32 {
    let table: Vec<u32> = (0..256_u32)
        .map(|byte| {
            (0..8).fold(byte, |sum, _| (sum >> 1) ^ (0xedb8_8320 & (sum & 1).wrapping_neg()))
        })
        .collect();
    !bytes
        .iter()
        .fold(!0, |sum, byte| table[((sum ^ u32::from(*byte)) & 0xff) as usize] ^ (sum >> 8))
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits = group.iter().fold(0_u32, |bits, byte| (bits << 8) | u32::from(*byte));
        let bits = bits << (8 * (3 - group.len()));
        for place in 0..4 {
            let letter = LETTERS[((bits >> (18 - 6 * place)) & 63) as usize];
            text.push(if place <= group.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

async fn show(host: &mut Agent, id: &str, data: &str) -> Value {
    let image = json!([{"data": data, "mime_type": "image/png", "name": "big.png"}]);
    host.send(json!({"id": id, "kind": "user_message", "message": "what is on this picture?",
        "images": image.to_string()}))
        .await;
    end(host, id).await
}

#[tokio::test]
async fn a_shell_sees_a_command_asked_about_run_and_answered() {
    let world = World::new();
    let mut host = start(&world, &[]).await;
    say(&mut host, "r1", "run `echo it-ran > proof.txt`").await;
    let question = decide(&mut host, "allow").await;
    assert_eq!(question["id"], "r1");
    assert!(question["lines"].to_string().contains("it-ran"), "{question}");
    let done = end(&mut host, "r1").await;
    assert_eq!(done["type"], "done", "{done}");
    assert!(done["data"]["turns"].as_u64().unwrap() >= 1);
    assert_eq!(std::fs::read_to_string(world.file("proof.txt")).unwrap(), "it-ran\n");
    say(&mut host, "r2", "run `touch never.txt`").await;
    decide(&mut host, "deny").await;
    end(&mut host, "r2").await;
    assert!(!world.file("never.txt").exists());
    let (finished, seen) = host.finish().await;
    finished.assert_code(0).assert_no_panic();
    let kinds: Vec<&str> = seen.iter().filter_map(|it| it["type"].as_str()).collect();
    for kind in ["token", "tool_use", "tool_result", "done"] {
        assert!(kinds.contains(&kind), "{kind} is not among {kinds:?}");
    }
    let ends = seen.iter().filter(|it| it["id"] == "r1" && it["type"] == "done");
    assert_eq!(ends.count(), 1);
}

#[tokio::test]
async fn a_picture_of_twenty_megabytes_gets_through_and_a_larger_one_is_refused() {
    const MOST: usize = 20 * 1024 * 1024;
    let world = World::new();
    let mut host = start(&world, &[]).await;
    let done = show(&mut host, "r1", &base64(&png_of(MOST))).await;
    assert_eq!(done["type"], "done", "{done}");
    let error = show(&mut host, "r2", &"A".repeat((MOST / 3 + 1) * 4)).await;
    assert_eq!(error["type"], "error");
    assert!(error["error"].as_str().unwrap().contains("20 MB"), "{error}");
    let error = show(&mut host, "r3", &base64(b"no picture")).await;
    assert!(error["error"].as_str().unwrap().contains("neither PNG"), "{error}");
    // The conversation goes on after all that.
    say(&mut host, "r4", "hello").await;
    assert_eq!(end(&mut host, "r4").await["type"], "done");
    host.finish().await.0.assert_code(0).assert_no_panic();
}

#[tokio::test]
async fn a_shell_that_is_gone_is_no_failure() {
    let world = World::new();
    let mut host = start(&world, &[]).await;
    host.stop_reading();
    say(&mut host, "r1", "hello").await;
    let status = within("the end", host.child.wait()).await.unwrap();
    assert_eq!(status.code(), Some(0));
    let (finished, _) = host.finish().await;
    finished.assert_no_panic();
}

#[tokio::test]
async fn a_signal_ends_it_in_order() {
    let world = World::new();
    let mut host = start(&world, &[]).await;
    say(&mut host, "r1", "run `sleep 60`").await;
    host.frame("a question", |it| it["type"] == "permission_request").await;
    host.signal(Signal::TERM);
    let status = within("the end", host.child.wait()).await.unwrap();
    assert_eq!(status.code(), Some(0));
}

#[tokio::test]
async fn a_question_outlives_the_process_and_its_answer_counts() {
    let world = World::new();
    let mut host = start(&world, &[]).await;
    say(&mut host, "r1", "run `echo late > late.txt`").await;
    let question = host.frame("a question", |it| it["type"] == "permission_request").await;
    host.signal(Signal::KILL);
    within("the end", host.child.wait()).await.unwrap();
    let mut host = start(&world, &[]).await;
    host.send(json!({"id": "1", "kind": "list_conversations"})).await;
    let list = end(&mut host, "1").await;
    let id = list["data"]["conversations"][0]["id"].clone();
    host.send(json!({"id": "2", "kind": "load_conversation", "conversation_id": id})).await;
    let again = decide(&mut host, "allow").await;
    assert_eq!(again["permission_id"], question["permission_id"]);
    let answer = format!("answer-{}", question["permission_id"]);
    let done = end(&mut host, &answer).await;
    assert_eq!(done["type"], "done", "{done}");
    assert_eq!(std::fs::read_to_string(world.file("late.txt")).unwrap(), "late\n");
}

#[tokio::test]
async fn the_desktop_tools_are_there_asked_about_and_contained() {
    let world = World::new();
    std::fs::write(world.path("outside.txt"), "secret").unwrap();
    let call = |tool: &str, input: Value| response().tool_call(&format!("{PREFIX}{tool}"), input);
    let replies = script()
        .reply(call("write_file", json!({"path": "note.txt", "content": "hello"})))
        .reply(call("read_file", json!({"path": "../outside.txt"})))
        .reply(call("read_clipboard", json!({})))
        .reply(response().text("done"));
    let server = ScriptedServer::start(replies).await;
    let launch = world.tillerman().args(["ipc"]).asks(&server);
    let mut host = ready(launch.start_as_is()).await;
    say(&mut host, "r1", "go").await;
    // Reading below the workspace needs no question, like the built-in tools.
    for tool in ["write_file", "read_clipboard"] {
        let question = decide(&mut host, "allow").await;
        assert_eq!(question["tool_name"], format!("{PREFIX}{tool}"));
    }
    assert_eq!(end(&mut host, "r1").await["type"], "done");
    assert_eq!(std::fs::read_to_string(world.file("note.txt")).unwrap(), "hello");
    let results: Vec<&Value> = host.seen.iter().filter(|it| it["type"] == "tool_result").collect();
    assert_eq!(results[0]["is_error"], false, "{results:?}");
    assert!(results[1]["content"].as_str().unwrap().contains("lies outside"), "{results:?}");
    assert!(results[2]["content"].as_str().unwrap().contains("needs a desktop"), "{results:?}");
    let request = server.request(0);
    let tools = request.tool_names();
    assert_eq!(tools.iter().filter(|name| name.starts_with(PREFIX)).count(), 11, "{tools:?}");
    host.finish().await.0.assert_code(0);
}

#[tokio::test]
async fn agents_are_known_by_name() {
    let world = World::new();
    std::fs::create_dir(world.config().join("agents")).unwrap();
    let sailor = json!({"name": "sailor", "description": "sails", "prompt": "You sail."});
    std::fs::write(world.config().join("agents/sailor.json"), sailor.to_string()).unwrap();
    let mut host = start(&world, &[]).await;
    say(&mut host, "r1", "@nobody do something").await;
    let token = host.frame("a token", |it| it["type"] == "token").await;
    for name in ["researcher", "coder", "analyst", "file-ops", "sailor"] {
        assert!(token["token"].as_str().unwrap().contains(name), "{token}");
    }
}

#[tokio::test]
async fn a_directory_that_is_not_there_is_a_sentence() {
    let world = World::new();
    let finished = world.tillerman().args(["ipc", "--root", "/no/such/place"]).run().await;
    finished.assert_code(1).assert_stderr("there is no such directory").assert_no_panic();
    assert_eq!(finished.text(), "");
}

#[tokio::test]
async fn the_example_shell_talks_to_it() {
    let world = World::new();
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/desktop-shell/shell.py");
    let mut child = tokio::process::Command::new("python3")
        .arg(example)
        .arg(env!("CARGO_BIN_EXE_tillerman"))
        .args(["--default-model", "rehearsal"])
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", world.path("home"))
        .env("CLAUDE_CONFIG_DIR", world.config())
        .env("IS_SANDBOX", "1")
        .current_dir(world.path("work"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"run `echo from-the-shell > shell.txt`\ny\n\n").await.unwrap();
    drop(stdin);
    let output = within("the end of the example", child.wait_with_output()).await.unwrap();
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{complaints}");
    let file = std::fs::read_to_string(world.file("shell.txt"));
    assert_eq!(file.unwrap(), "from-the-shell\n", "{complaints}");
}
