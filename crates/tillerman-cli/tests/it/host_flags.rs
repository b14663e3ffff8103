//! Flags that hosts pass, and what they are told of denials.

use serde_json::{Value, json};
use tillerman_testkit::{ScriptedServer, response, script};

use crate::harness::{FRAMES_OUT, World, tool_result_texts};

async fn touching() -> ScriptedServer {
    let touch = json!({"command": "touch made", "description": "make a file"});
    let replies = script().reply(response().tool_call("Bash", touch));
    ScriptedServer::start(replies.reply(response().text("done"))).await
}

fn result(frames: &[Value]) -> &Value {
    frames.iter().rfind(|frame| frame["type"] == "result").unwrap()
}

#[tokio::test]
async fn a_host_may_have_nobody_asked() {
    let world = World::new();
    let flags = ["--permission-prompt-tool", "stdio", "--permission-prompts", "none"];
    let server = touching().await;
    let launch = world.tillerman().asks(&server).args(FRAMES_OUT).args(flags);
    let finished = launch.args(["go"]).run().await;
    finished.assert_code(0);
    let frames = finished.frames();
    assert!(!frames.iter().any(|frame| frame["type"] == "control_request"));
    assert_eq!(result(&frames)["permission_denials"][0]["tool_name"], "Bash");
    assert!(!world.file("made").exists());
}

#[tokio::test]
async fn managed_settings_of_a_host_restrict_and_allow_nothing() {
    let world = World::new();
    let policy = json!({"permissions": {"deny": ["Bash(touch:*)"], "allow": ["Write"]}});
    let server = touching().await;
    let launch = world.tillerman().asks(&server).unguarded().args(FRAMES_OUT);
    let finished = launch.args(["--managed-settings", &policy.to_string(), "go"]).run().await;
    finished.assert_code(0).assert_stderr("permissions.allow");
    assert!(!world.file("made").exists(), "{:?}", tool_result_texts(&finished.frames()));
    let finished =
        world.tillerman().args(["-p", "--managed-settings", "{broken", "go"]).run().await;
    finished.assert_code(1).assert_stderr("Nothing was started");
}

#[tokio::test]
async fn what_goes_on_inside_can_go_to_a_file() {
    let world = World::new();
    let server = ScriptedServer::start(script().reply(response().text("Hi."))).await;
    let file = world.path("debug.txt").display().to_string();
    let arguments = ["-p", "--debug-file", &file, "--effort", "heroic", "go"];
    let finished = world.tillerman().asks(&server).args(arguments).run().await;
    finished.assert_code(0);
    assert_eq!(finished.text().trim(), "Hi.");
    let log = std::fs::read_to_string(&file).unwrap();
    assert!(log.contains("heroic is not an effort"), "{log}");
}

#[tokio::test]
async fn denials_of_agents_are_told_with_the_result() {
    let world = World::new();
    let work =
        json!({"description": "work", "prompt": "touch", "subagent_type": "general-purpose"});
    let touch = json!({"command": "touch made", "description": "make a file"});
    let replies = script()
        .reply(response().tool_call("Agent", work))
        .reply(response().tool_call("Bash", touch))
        .reply(response().text("I may not."))
        .reply(response().text("done"));
    let server = ScriptedServer::start(replies).await;
    let finished = world.tillerman().asks(&server).args(FRAMES_OUT).args(["go"]).run().await;
    finished.assert_code(0);
    let frames = finished.frames();
    let denials = &result(&frames)["permission_denials"];
    assert_eq!((denials.as_array().unwrap().len(), &denials[0]["tool_name"]), (1, &json!("Bash")));
    let of_agent = |it: &&Value| !it["parent_tool_use_id"].is_null();
    let told =
        frames.iter().filter(of_agent).find_map(|it| it["tool_use_result"].as_str()).unwrap();
    assert!(told.starts_with("Error: "), "{told}");
    let outcome = frames.iter().find(|it| it["tool_use_result"]["agentId"].is_string()).unwrap();
    assert_eq!(outcome["tool_use_result"]["toolsUsed"], json!(["Bash"]));
    assert_eq!(outcome["tool_use_result"]["toolStats"]["bashCount"], 1);
}
