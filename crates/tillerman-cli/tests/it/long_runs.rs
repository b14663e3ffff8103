//! Conversations that outgrow the window of their model.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::{Value, json};
use tillerman_protocol::stream::Usage;
use tillerman_testkit::{CapturedRequest, Reply, Script, ScriptedServer, fault, response};

use crate::harness::World;

const WINDOW: usize = 20_000;
const TURNS: u64 = 200;
const SUMMARY_WANTED: &str = "This conversation is about to be compacted.";

/// All text of a request, oldest first.
fn text_of(request: &CapturedRequest) -> String {
    let mut all = String::new();
    for message in request.messages() {
        match &message["content"] {
            Value::String(text) => writeln!(all, "{text}").unwrap(),
            Value::Array(blocks) => {
                for block in blocks {
                    writeln!(all, "{}", block["text"].as_str().unwrap_or_default()).unwrap();
                }
            }
            _ => {}
        }
    }
    all
}

/// The number behind the last mention of something.
fn newest_number(text: &str, before: &str) -> u64 {
    let Some(at) = text.rfind(before) else { return 0 };
    let rest = &text[at + before.len()..];
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(0)
}

/// A model that knows nothing but what the request tells it: it adds the number of the newest
/// prompt to the newest sum. It refuses what does not fit into its window.
fn adds(request: &CapturedRequest) -> Reply {
    let tokens = request.body.to_string().len() / 4;
    if tokens > WINDOW {
        return fault::status(400).message(format!("prompt is too long: {tokens} tokens")).into();
    }
    let text = text_of(request);
    let sum = newest_number(&text, "the sum is ");
    let answer = if text.contains(SUMMARY_WANTED) {
        format!("Numbers are being added up, and the sum is {sum}.")
    } else {
        let filler = "All of this was counted twice, to be sure. ".repeat(25);
        format!("{filler}So the sum is {}.", sum + newest_number(&text, "Now add "))
    };
    let usage = Usage {
        input_tokens: u64::try_from(tokens).unwrap(),
        output_tokens: u64::try_from(answer.len() / 4).unwrap(),
        ..Usage::default()
    };
    response().text(answer).usage(usage).into()
}

fn small_model(world: &World, server: &ScriptedServer) -> crate::harness::Launch {
    world.tillerman().asks(server).env("CLAUDE_CODE_MAX_CONTEXT_TOKENS", WINDOW.to_string()).args([
        "--model",
        "scripted",
        "--tools",
        "",
        "--system-prompt",
        "Add numbers.",
    ])
}

#[tokio::test]
async fn two_hundred_turns_fit_into_a_small_window() {
    let world = World::new();
    let server = ScriptedServer::start(Script::from_fn(adds)).await;
    let mut agent = small_model(&world, &server).start();
    let mut last = Value::Null;
    for number in 1..=TURNS {
        agent.prompt(&format!("Now add {number}.")).await;
        last = agent.result().await;
        assert_eq!(last["is_error"], false, "turn {number}: {last}");
    }
    let expected = format!("So the sum is {}.", TURNS * (TURNS + 1) / 2);
    assert!(last["result"].as_str().unwrap().ends_with(&expected), "{last}");
    let (finished, frames) = agent.finish().await;
    finished.assert_code(0);

    let boundaries: Vec<&Value> =
        frames.iter().filter(|frame| frame["subtype"] == "compact_boundary").collect();
    assert!((2..=20).contains(&boundaries.len()), "{} compactions", boundaries.len());
    for boundary in &boundaries {
        let metadata = &boundary["compact_metadata"];
        assert_eq!(metadata["trigger"], "auto");
        let (before, after) = (&metadata["pre_tokens"], &metadata["post_tokens"]);
        assert!(after.as_u64().unwrap() < before.as_u64().unwrap() / 2, "{metadata}");
    }
    // Nothing was too long, so nothing was refused, and only compactions moved the prefix.
    assert_eq!(server.requests().len(), usize::try_from(TURNS).unwrap() + boundaries.len());
    server.verify();

    // The transcript has every turn, whatever the model sees of it.
    let entries = world.entries();
    let said: BTreeSet<u64> = entries
        .iter()
        .filter(|entry| entry["type"] == "user" && entry["isCompactSummary"] != true)
        .map(|entry| newest_number(&entry["message"]["content"].to_string(), "Now add "))
        .collect();
    assert_eq!(said, (1..=TURNS).collect());
    let answers = entries.iter().filter(|entry| entry["type"] == "assistant").count();
    assert_eq!(answers, usize::try_from(TURNS).unwrap());

    let arguments = ["-p", "-c", "Now add 900."];
    let finished = small_model(&world, &server).args(arguments).run().await;
    finished.assert_code(0);
    assert!(finished.text().trim_end().ends_with("So the sum is 21000."), "{}", finished.text());
}

#[tokio::test]
async fn a_session_that_is_too_long_already_is_compacted_when_resumed() {
    let world = World::new();
    let server = ScriptedServer::start(Script::from_fn(adds)).await;
    let arguments = ["-p", "Now add 1."];
    small_model(&world, &server).args(arguments).run().await.assert_code(0);
    // Somebody with a larger window went on with it.
    let path = world.transcript();
    let mut text = std::fs::read_to_string(&path).unwrap();
    let template: Value = world.entries().into_iter().find(|e| e["type"] == "assistant").unwrap();
    let mut parent = template["uuid"].clone();
    for number in 0..60 {
        let kind = if number % 2 == 0 { "user" } else { "assistant" };
        let uuid = format!("00000000-0000-4000-8000-{number:012}");
        let words = format!("Line {number} says the sum is 7. {}", "Long words. ".repeat(150));
        let content = json!([{"type": "text", "text": words}]);
        let message = match kind {
            "user" => json!({"role": "user", "content": content}),
            _ => json!({"id": format!("m{number}"), "type": "message", "role": "assistant",
                "model": "scripted", "content": content, "usage": {}}),
        };
        let entry = json!({"type": kind, "uuid": uuid, "parentUuid": parent,
            "isSidechain": false, "sessionId": template["sessionId"],
            "timestamp": template["timestamp"], "message": message});
        parent = entry["uuid"].clone();
        writeln!(text, "{entry}").unwrap();
    }
    std::fs::write(&path, text).unwrap();

    let finished = small_model(&world, &server).args(["-p", "-c", "Now add 5."]).run().await;
    finished.assert_code(0);
    assert!(finished.text().trim_end().ends_with("So the sum is 12."), "{}", finished.text());
    assert!(server.problems().is_empty(), "{:?}", server.problems());
    let boundary = world.entries().into_iter().find(|e| e["subtype"] == "compact_boundary");
    assert_eq!(boundary.unwrap()["compactMetadata"]["trigger"], "auto");
}

#[tokio::test]
async fn a_prompt_that_the_provider_finds_too_long_is_compacted() {
    let world = World::new();
    let script = tillerman_testkit::script()
        .reply(response().text("Hello."))
        .reply(fault::status(400).message("prompt is too long: 210000 tokens > 200000 maximum"))
        .reply(response().text("They said hello."))
        .reply(response().text("Here I am."));
    let server = ScriptedServer::start(script).await;
    let mut agent = world.tillerman().asks(&server).start();
    agent.prompt("hello").await;
    agent.result().await;
    agent.prompt("are you there?").await;
    let result = agent.result().await;
    assert_eq!(result["result"], "Here I am.");
    assert!(server.request(3).user_text().contains("They said hello."));
    assert!(server.request(3).user_text().contains("are you there?"));
    agent.finish().await.0.assert_code(0);
    server.verify();
}

#[tokio::test]
async fn a_person_can_compact_and_choose_what_is_kept() {
    let world = World::new();
    let script = tillerman_testkit::script()
        .reply(response().text("The password is swordfish."))
        .reply(response().text("A password was given: swordfish."))
        .reply(response().text("swordfish"));
    let server = ScriptedServer::start(script).await;
    let mut agent = world.tillerman().asks(&server).start();
    agent.prompt("what is the password?").await;
    agent.result().await;
    agent.prompt("/compact keep the password").await;
    let result = agent.result().await;
    assert_eq!((&result["subtype"], &result["num_turns"]), (&json!("success"), &json!(0)));
    let wanted = server.request(1).last_text();
    assert!(wanted.starts_with(SUMMARY_WANTED) && wanted.ends_with("keep the password"));
    agent.prompt("say it again").await;
    assert_eq!(agent.result().await["result"], "swordfish");
    let (finished, frames) = agent.finish().await;
    finished.assert_code(0);
    let statuses: Vec<&Value> =
        frames.iter().filter(|frame| frame["subtype"] == "status").collect();
    assert_eq!(statuses[0]["status"], "compacting");
    assert_eq!(statuses[1]["compact_result"], "success");
    server.verify();
}
