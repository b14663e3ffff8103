//! The host behind a shell's two pipes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tillerman_host::{IpcEnd, Memory};
use tokio::io::AsyncWriteExt as _;

use crate::harness::{Shell, within};

fn delta(text: &str) -> Value {
    json!({"type": "stream_event", "uuid": "e", "session_id": "s", "parent_tool_use_id": null,
        "event": {"type": "content_block_delta", "index": 0,
        "delta": {"type": "text_delta", "text": text}}})
}

#[tokio::test]
async fn a_message_is_answered_in_pieces_that_are_not_repeated() {
    let mut shell = Shell::start().await;
    shell.say("r1", "hello").await;
    let (puppet, prompt) = shell.prompted().await;
    assert_eq!(prompt["message"]["content"], "hello");
    puppet.say(delta("Hel")).await;
    puppet.say(delta("lo ")).await;
    puppet.text("Hello there").await;
    puppet.finish(json!({"user_message_uuids": [prompt["uuid"]], "total_cost_usd": 0.5})).await;
    let mut text = String::new();
    let done = loop {
        let heard = shell.hear().await;
        assert_eq!(heard["id"], "r1");
        match heard["type"].as_str().unwrap() {
            "token" => text.push_str(heard["token"].as_str().unwrap()),
            _ => break heard,
        }
    };
    assert_eq!(text, "Hello there");
    assert_eq!(done["type"], "done");
    assert_eq!(done["data"]["total_cost_usd"], 0.5);
    assert_eq!(done["data"]["turns"], 1);
    assert_eq!(done["data"]["interrupted"], false);
}

#[tokio::test]
async fn tools_are_shown_with_their_results_and_progress() {
    let mut shell = Shell::start().await;
    shell.say("r1", "look").await;
    let (puppet, _) = shell.prompted().await;
    let call = json!({"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "a"}});
    puppet
        .say(
            json!({"type": "assistant", "uuid": "a", "session_id": "s", "parent_tool_use_id": null,
            "message": {"role": "assistant", "content": [call]}}),
        )
        .await;
    puppet
        .say(json!({"type": "tool_progress", "tool_use_id": "t1", "tool_name": "Read",
            "elapsed_time_seconds": 3.5, "uuid": "p", "session_id": "s", "parent_tool_use_id": null}))
        .await;
    let result = json!({"type": "tool_result", "tool_use_id": "t1", "is_error": true,
        "content": [{"type": "text", "text": "gone"}, {"type": "image", "source": {}}]});
    puppet
        .say(json!({"type": "user", "uuid": "u", "session_id": "s", "parent_tool_use_id": null,
            "message": {"role": "user", "content": [result]}}))
        .await;
    puppet.result(0.0).await;
    let heard = shell.hear().await;
    assert_eq!(heard["type"], "tool_use");
    assert_eq!(heard["tool_input"]["file_path"], "a");
    let heard = shell.hear().await;
    assert_eq!(heard["type"], "tool_progress");
    assert_eq!(heard["elapsed_time_seconds"], 3.5);
    let heard = shell.hear().await;
    assert_eq!(heard["type"], "tool_result");
    assert_eq!(heard["tool_name"], "Read");
    assert_eq!(heard["content"], "gone\n[image]");
    assert_eq!(heard["is_error"], true);
    assert_eq!(shell.hear().await["type"], "done");
}

#[tokio::test]
async fn a_permission_is_asked_for_and_its_answer_reaches_the_session() {
    let mut shell = Shell::start().await;
    shell.say("r1", "remove it").await;
    let (mut puppet, _) = shell.prompted().await;
    puppet.ask("q1", "t1", "rm x").await;
    let question = shell.hear().await;
    assert_eq!(question["type"], "permission_request");
    assert_eq!(question["id"], "r1");
    assert_eq!(question["tool_input"]["command"], "rm x");
    assert_eq!(question["suggestions"].as_array().unwrap().len(), 1);
    let card = question["permission_id"].clone();
    let answer = json!({"id": "r2", "kind": "permission_response", "permission_id": card,
        "decision": "allow"});
    assert_eq!(shell.answer(answer.clone()).await["type"], "done");
    let heard = puppet.hear().await;
    assert_eq!(heard["response"]["response"]["behavior"], "allow");
    // An answer without an input leaves it as it was.
    let input = &heard["response"]["response"]["updatedInput"];
    assert!(input.is_null() || input["command"] == "rm x", "{heard}");
    let mut late = answer;
    late["id"] = json!("r3");
    let late = shell.answer(late).await;
    assert_eq!(late["type"], "error");
    puppet.result(0.0).await;
    assert_eq!(shell.hear().await["id"], "r1");
}

#[tokio::test]
async fn a_question_left_open_is_answered_by_the_next_process() {
    let mut shell = Shell::start().await;
    shell.say("r1", "remove it").await;
    let (puppet, _) = shell.prompted().await;
    puppet.ask("q1", "t1", "rm x").await;
    let question = shell.hear().await;
    let mut shell = shell.again().await;
    drop(puppet);
    let list = shell.answer(json!({"id": "1", "kind": "list_conversations"})).await;
    let id = list["data"]["conversations"][0]["id"].clone();
    shell.ask(json!({"id": "2", "kind": "load_conversation", "conversation_id": id})).await;
    let again = shell.hear().await;
    assert_eq!(again["type"], "permission_request");
    assert_eq!(again["permission_id"], question["permission_id"]);
    assert_eq!(shell.hear().await["type"], "done");
    shell
        .ask(json!({"id": "3", "kind": "permission_response", "decision": "deny",
            "permission_id": question["permission_id"]}))
        .await;
    let mut puppet = within("a session", shell.puppets.recv()).await.unwrap();
    puppet.greet().await;
    let taken_up = puppet.hear().await;
    assert_eq!(taken_up["type"], "control_request", "{taken_up}");
}

#[tokio::test]
async fn messages_that_come_meanwhile_wait_and_each_has_its_own_end() {
    let mut shell = Shell::start().await;
    shell.say("r1", "one").await;
    let (mut puppet, _) = shell.prompted().await;
    shell.say("r2", "two").await;
    puppet.text("first").await;
    puppet.result(0.0).await;
    assert_eq!(shell.hear().await["token"], "first");
    let done = shell.hear().await;
    assert_eq!((&done["id"], &done["type"]), (&json!("r1"), &json!("done")));
    let prompt = puppet.prompt().await;
    assert_eq!(prompt["message"]["content"], "two");
    puppet.text("second").await;
    puppet.result(0.0).await;
    let token = shell.hear().await;
    assert_eq!((&token["id"], &token["token"]), (&json!("r2"), &json!("second")));
    assert_eq!(shell.hear().await["id"], "r2");
}

#[tokio::test]
async fn an_interrupt_ends_the_round() {
    let mut shell = Shell::start().await;
    shell.say("r1", "work").await;
    let (mut puppet, _) = shell.prompted().await;
    shell.ask(json!({"id": "r2", "kind": "interrupt"})).await;
    let request = puppet.hear().await;
    assert_eq!(request["request"]["subtype"], "interrupt");
    puppet.answer(&request, json!({})).await;
    puppet
        .finish(json!({"subtype": "error_during_execution", "is_error": true, "result": null}))
        .await;
    let mut ends = [shell.hear().await, shell.hear().await];
    ends.sort_by_key(|end| end["id"].to_string());
    assert_eq!(ends[0]["type"], "done", "{ends:?}");
    assert_eq!(ends[0]["data"]["interrupted"], true);
    assert_eq!(ends[1]["type"], "done");
    let idle = shell.answer(json!({"id": "r3", "kind": "interrupt"})).await;
    assert_eq!(idle["data"]["interrupted"], false);
}

#[tokio::test]
async fn a_failed_round_is_an_error_with_the_id_of_its_request() {
    let mut shell = Shell::start().await;
    shell.say("r1", "work").await;
    let (puppet, _) = shell.prompted().await;
    puppet.finish(json!({"is_error": true, "result": "API Error: 400 no"})).await;
    let error = shell.hear().await;
    assert_eq!(error["type"], "error");
    assert_eq!(error["id"], "r1");
    assert_eq!(error["error"], "API Error: 400 no");
}

#[tokio::test]
async fn a_run_that_is_started_again_is_told_and_the_request_goes_on() {
    let mut shell = Shell::start().await;
    shell.say("r1", "work").await;
    let (puppet, _) = shell.prompted().await;
    puppet.say(delta("half")).await;
    assert_eq!(shell.hear().await["token"], "half");
    puppet.exit(137, "out of memory");
    let notice = shell.hear().await;
    assert_eq!((&notice["type"], &notice["id"]), (&json!("notice"), &json!("r1")));
    let text = notice["notice"].as_str().unwrap();
    assert!(text.contains("out of memory") && text.contains("started again"), "{text}");
    let (puppet, prompt) = shell.prompted().await;
    assert_eq!(prompt["message"]["content"], "work");
    puppet.text("whole").await;
    puppet.result(0.0).await;
    assert_eq!(shell.hear().await["token"], "whole");
    assert_eq!(shell.hear().await["type"], "done");
}

#[tokio::test]
async fn a_session_that_cannot_start_ends_the_request_with_its_last_words() {
    let mut shell = Shell::start().await;
    shell.say("r1", "work").await;
    let puppet = within("a session", shell.puppets.recv()).await.unwrap();
    puppet.exit(1, "the sandbox cannot be built");
    let error = shell.hear().await;
    assert_eq!((&error["type"], &error["id"]), (&json!("error"), &json!("r1")));
    let text = error["error"].as_str().unwrap();
    assert!(text.contains("exit code 1") && text.contains("sandbox cannot be built"), "{text}");
}

#[tokio::test]
async fn requests_that_make_no_sense_are_errors_and_the_next_is_heard() {
    let mut shell = Shell::start().await;
    shell.line("this is not JSON").await;
    let error = shell.hear().await;
    assert_eq!((&error["type"], &error["id"]), (&json!("error"), &json!("")));
    let cases = [
        (json!({"id": "1", "kind": "dance"}), "no kind of request"),
        (json!({"id": "2", "kind": "load_conversation"}), "needs conversation_id"),
        (
            json!({"id": "3", "kind": "load_conversation", "conversation_id": "x"}),
            "no conversation",
        ),
        (
            json!({"id": "4", "kind": "delete_conversation", "conversation_id": "x"}),
            "no conversation",
        ),
        (json!({"id": "5", "kind": "user_message", "message": " "}), "empty"),
        (json!({"id": "6", "kind": "user_message", "message": 7}), "cannot be read"),
        (json!({"id": "7", "kind": "permission_response"}), "needs permission_id"),
        (
            json!({"id": "8", "kind": "permission_response", "permission_id": "x", "decision": "allow"}),
            "no such question",
        ),
        (
            json!({"id": "9", "kind": "user_message", "message": "a",
                "images": [{"data": "data:image/png;base64,AA==", "mime_type": "image/png"}]}),
            "without a data: prefix",
        ),
        (
            json!({"id": "10", "kind": "user_message", "message": "a", "images": "[{]"}),
            "images cannot be read",
        ),
        (
            json!({"id": "11", "kind": "user_message", "message": "a",
                "images": [{"data": "AA==", "mime_type": "image/tiff"}]}),
            "cannot be shown",
        ),
    ];
    for (request, expected) in cases {
        let error = shell.answer(request.clone()).await;
        assert_eq!(error["type"], "error", "{request}");
        assert!(error["error"].as_str().unwrap().contains(expected), "{request}: {error}");
    }
    assert_eq!(shell.answer(json!({"id": "z", "kind": "clear_history"})).await["type"], "done");
}

#[tokio::test]
async fn images_come_after_the_text() {
    let mut shell = Shell::start().await;
    let images = json!([{"data": "AAAA", "mime_type": "image/png", "name": "a.png"}]).to_string();
    shell
        .ask(json!({"id": "1", "kind": "user_message", "message": "what is it", "images": images}))
        .await;
    let (_, prompt) = shell.prompted().await;
    let content = &prompt["message"]["content"];
    assert_eq!(content[0]["text"], "what is it");
    // What the model gets is what the host's owner made of it.
    assert_eq!(content[1]["source"]["data"], "AAAAAAAAAAAA");
}

#[tokio::test]
async fn conversations_are_kept_and_gone_on_with() {
    let mut shell = Shell::start().await;
    let puppet = shell.round("1", "what is a keel", "part of a ship").await;
    let session = puppet.order.session.id().to_owned();
    let mut shell = shell.again().await;
    drop(puppet);
    let list = shell.answer(json!({"id": "2", "kind": "list_conversations"})).await;
    let conversation = &list["data"]["conversations"][0];
    assert_eq!(conversation["title"], "what is a keel");
    let id = conversation["id"].clone();
    let loaded = json!({"id": "3", "kind": "load_conversation", "conversation_id": id});
    let loaded = shell.answer(loaded).await;
    let messages = loaded["data"]["messages"].as_array().unwrap();
    let said: Vec<_> = messages.iter().map(|it| (&it["role"], &it["content"])).collect();
    assert_eq!(
        said,
        [
            (&json!("user"), &json!("what is a keel")),
            (&json!("assistant"), &json!("part of a ship"))
        ]
    );
    let puppet = shell.round("4", "and a mast", "another part").await;
    assert_eq!(puppet.order.session.id(), session, "the session is resumed");
    let gone =
        shell.answer(json!({"id": "5", "kind": "delete_conversation", "conversation_id": id}));
    assert_eq!(gone.await["type"], "done");
    let list = shell.answer(json!({"id": "6", "kind": "list_conversations"})).await;
    assert_eq!(list["data"]["conversations"], json!([]));
}

#[tokio::test]
async fn commands_are_answered_here_or_passed_on() {
    let mut shell = Shell::start().await;
    shell.say("1", "/help").await;
    assert!(shell.hear().await["token"].as_str().unwrap().contains("/reset"));
    assert_eq!(shell.hear().await["type"], "done");
    let first = shell.round("2", "/cost", "nothing yet").await;
    shell.say("3", "/session").await;
    let token = shell.hear().await["token"].clone();
    assert!(token.as_str().unwrap().contains(first.order.session.id()), "{token}");
    shell.hear().await;
    shell.say("4", "/reset").await;
    shell.hear().await;
    assert_eq!(shell.hear().await["type"], "done");
    let second = shell.round("5", "hello", "hi").await;
    assert_ne!(first.order.session.id(), second.order.session.id());
}

#[tokio::test]
async fn agents_are_addressed_by_name() {
    let mut shell = Shell::start().await;
    let agents = json!({"commands": [], "agents": [{"name": "file-ops", "description": "files"}]});
    shell.say("1", "@nobody do it").await;
    let mut puppet = within("a session", shell.puppets.recv()).await.unwrap();
    let hello = puppet.hear().await;
    puppet.answer(&hello, agents).await;
    let token = shell.hear().await;
    assert!(token["token"].as_str().unwrap().contains("The agents are: file-ops"), "{token}");
    assert_eq!(shell.hear().await["type"], "done");
    shell.say("2", "@file-ops tidy up").await;
    let prompt = puppet.prompt().await;
    let text = prompt["message"]["content"].as_str().unwrap();
    assert!(text.starts_with("@file-ops tidy up\n"), "{text}");
    assert!(text.contains("the agent file-ops"), "{text}");
    puppet.result(0.0).await;
    let done = shell.hear().await;
    let id = &done["data"]["conversation_id"];
    let loaded = json!({"id": "3", "kind": "load_conversation", "conversation_id": id});
    let loaded = shell.answer(loaded).await;
    assert_eq!(loaded["data"]["messages"][0]["content"], "@file-ops tidy up");
}

#[tokio::test]
async fn other_conversations_are_remembered_where_that_is_wanted() {
    let data = Arc::new(tempfile::tempdir().unwrap());
    let mut shell = Shell::open(data, Memory::On).await;
    shell.round("1", "my hovercraft is called Eels", "noted").await;
    shell.answer(json!({"id": "2", "kind": "clear_history"})).await;
    shell.say("3", "what is my hovercraft called").await;
    let (_, prompt) = shell.prompted().await;
    let text = prompt["message"]["content"].as_str().unwrap();
    assert!(text.starts_with("what is my hovercraft called\n"), "{text}");
    assert!(text.contains("hovercraft is called Eels"), "{text}");
}

#[tokio::test]
async fn what_is_too_long_for_a_line_is_in_a_file() {
    let mut shell = Shell::start().await;
    shell.say("1", "read it").await;
    let (puppet, _) = shell.prompted().await;
    let long = "x".repeat(2 * 1024 * 1024);
    puppet.text(&long).await;
    let heard = shell.hear().await;
    assert_eq!((&heard["type"], &heard["id"]), (&json!("token"), &json!("1")));
    let file = std::fs::read_to_string(heard["file"].as_str().unwrap()).unwrap();
    let whole: Value = serde_json::from_str(&file).unwrap();
    assert_eq!(whole["token"], long);
    puppet.result(0.0).await;
    assert_eq!(shell.hear().await["type"], "done");
    shell.tell.take().unwrap().shutdown().await.unwrap();
    assert_eq!(shell.end().await, IpcEnd::Closed);
    assert!(!shell.data.path().join("long").exists(), "files are left");
}

#[tokio::test]
async fn a_file_that_somebody_put_in_the_way_is_not_written() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let mut shell = Shell::start().await;
    let (place, victim) = (shell.data.path().join("long"), shell.data.path().join("victim"));
    std::fs::write(&victim, "as it was").unwrap();
    std::fs::create_dir(&place).unwrap();
    symlink(&victim, place.join("response-1.json")).unwrap();
    shell.say("1", "read it").await;
    let (puppet, _) = shell.prompted().await;
    let long = "x".repeat(2 * 1024 * 1024);
    puppet.text(&long).await;
    let told = shell.hear().await;
    assert_eq!(told["type"], "error", "{told}");
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "as it was");
    // The next one has a place of its own, which nobody else can read.
    puppet.text(&long).await;
    let told = shell.hear().await;
    let mode = std::fs::metadata(told["file"].as_str().unwrap()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[tokio::test]
async fn a_shell_that_closes_its_end_still_hears_the_answer() {
    let mut shell = Shell::start().await;
    shell.say("1", "hello").await;
    let (puppet, _) = shell.prompted().await;
    shell.tell.take().unwrap().shutdown().await.unwrap();
    puppet.text("hi").await;
    puppet.result(0.0).await;
    assert_eq!(shell.hear().await["token"], "hi");
    assert_eq!(shell.hear().await["type"], "done");
    assert_eq!(shell.end().await, IpcEnd::Closed);
}

#[tokio::test]
async fn a_question_that_nobody_can_answer_ends_the_request() {
    let mut shell = Shell::start().await;
    shell.say("1", "hello").await;
    let (puppet, _) = shell.prompted().await;
    puppet.ask("q1", "t1", "rm x").await;
    assert_eq!(shell.hear().await["type"], "permission_request");
    shell.tell.take().unwrap().shutdown().await.unwrap();
    let error = shell.hear().await;
    assert_eq!(error["type"], "error");
    assert!(error["error"].as_str().unwrap().contains("nobody is there to ask"), "{error}");
    assert_eq!(shell.end().await, IpcEnd::Closed);
}

#[tokio::test]
async fn a_shell_that_reads_no_more_ends_the_host_quietly() {
    let mut shell = Shell::start().await;
    shell.say("1", "hello").await;
    let (puppet, _) = shell.prompted().await;
    shell.told = None;
    shell.tell = None;
    puppet.text("anybody there?").await;
    let end = shell.end().await;
    assert!(matches!(end, IpcEnd::Broken | IpcEnd::Closed), "{end:?}");
    assert!(puppet.stop.is_cancelled(), "the session was told to end");
}

#[tokio::test]
async fn the_host_ends_when_it_is_told_to() {
    let mut shell = Shell::start().await;
    shell.say("1", "hello").await;
    let (puppet, _) = shell.prompted().await;
    let told = Instant::now();
    shell.shutdown.cancel();
    assert_eq!(shell.end().await, IpcEnd::ToldToEnd);
    assert!(puppet.stop.is_cancelled());
    // A session that has ended is not listened to any longer, even if its channel stays open.
    assert!(told.elapsed() < Duration::from_secs(2), "{:?}", told.elapsed());
}
