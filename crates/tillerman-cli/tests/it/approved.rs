//! A permission holds for what was shown: the script as it was, the directory as it was.

use std::os::unix::fs::symlink;

use serde_json::{Value, json};
use tillerman_testkit::{ScriptedServer, response, script};

use crate::harness::{Agent, World};

const ASKING: [&str; 2] = ["--permission-prompt-tool", "stdio"];

async fn question(agent: &mut Agent) -> Value {
    let is_question = |frame: &Value| frame["request"]["subtype"] == "can_use_tool";
    agent.frame("a question", is_question).await
}

async fn allow(agent: &mut Agent, question: &Value) {
    let answer = json!({"behavior": "allow"});
    let id = &question["request_id"];
    let response = json!({"subtype": "success", "request_id": id, "response": answer});
    agent.send(json!({"type": "control_response", "response": response})).await;
}

#[tokio::test]
async fn a_script_that_was_changed_after_it_was_shown_is_asked_about_anew() {
    let world = World::new();
    let call = || response().tool_call("Bash", json!({"command": "sh build.sh"}));
    let replies = script().reply(call()).reply(call()).reply(response().text("built"));
    let server = ScriptedServer::start(replies).await;
    std::fs::write(world.file("build.sh"), "touch shown\n").unwrap();
    let mut agent = world.tillerman().asks(&server).args(ASKING).start();
    agent.prompt("build it").await;
    let first = question(&mut agent).await;
    let programs = &first["request"]["programs"];
    assert_eq!(programs[0]["path"], json!(world.file("build.sh")), "{first}");
    std::fs::write(world.file("build.sh"), "touch swapped\n").unwrap();
    allow(&mut agent, &first).await;
    let second = question(&mut agent).await;
    assert_ne!(second["request"]["programs"], *programs);
    for name in ["shown", "swapped"] {
        assert!(!world.file(name).exists(), "{name} was made without a permission for it");
    }
    allow(&mut agent, &second).await;
    assert_eq!(agent.result().await["result"], "built");
    assert!(world.file("swapped").exists());
    let told = server.request(1).tool_result_texts();
    assert!(told[0].contains("changed after this call was shown"), "{told:?}");
    let is_notice = |frame: &&Value| frame["key"] == "permission_void";
    let (finished, frames) = agent.finish().await;
    finished.assert_code(0).assert_no_panic();
    assert_eq!(frames.iter().filter(is_notice).count(), 1, "the host is told");
    server.verify();
}

#[tokio::test]
async fn a_script_that_stays_as_it_was_runs_once_it_is_allowed() {
    let world = World::new();
    let call = response().tool_call("Bash", json!({"command": "sh build.sh && cat log"}));
    let replies = script().reply(call).reply(response().text("built"));
    let server = ScriptedServer::start(replies).await;
    std::fs::write(world.file("build.sh"), "touch shown\n").unwrap();
    std::fs::write(world.file("log"), "one\n").unwrap();
    let mut agent = world.tillerman().asks(&server).args(ASKING).start();
    agent.prompt("build it").await;
    let asked = question(&mut agent).await;
    // What a command only reads may change.
    std::fs::write(world.file("log"), "two\n").unwrap();
    allow(&mut agent, &asked).await;
    assert_eq!(agent.result().await["result"], "built");
    assert!(world.file("shown").exists());
}

#[tokio::test]
async fn a_link_that_led_to_the_directory_may_lead_elsewhere_afterwards() {
    let world = World::new();
    let call = response().tool_call("Bash", json!({"command": "touch made"}));
    let server = ScriptedServer::start(script().reply(call).reply(response().text("made"))).await;
    let (shown, other, link) = (world.path("shown"), world.path("other"), world.path("link"));
    std::fs::create_dir(&shown).unwrap();
    std::fs::create_dir(&other).unwrap();
    symlink(&shown, &link).unwrap();
    let mut agent = world.tillerman().asks(&server).cwd(&link).args(ASKING).start();
    agent.prompt("make it").await;
    let asked = question(&mut agent).await;
    std::fs::remove_file(&link).unwrap();
    symlink(&other, &link).unwrap();
    allow(&mut agent, &asked).await;
    assert_eq!(agent.result().await["result"], "made");
    assert!(shown.join("made").exists() && !other.join("made").exists());
}
