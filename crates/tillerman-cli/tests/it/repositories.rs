//! A repository is data: looking at it runs nothing that it names.

use std::process::Command;

use serde_json::json;
use tillerman_testkit::{ScriptedServer, response, script};

use crate::harness::{FRAMES_OUT, World, tool_result_texts};

#[expect(clippy::disallowed_methods, reason = "the repository is made by git itself")]
fn git(world: &World, arguments: &[&str]) -> bool {
    let home = world.path("home");
    let mut command = Command::new("git");
    command.args(arguments).current_dir(world.path("work")).env("HOME", home);
    command.status().is_ok_and(|status| status.success())
}

#[tokio::test]
async fn looking_at_a_repository_runs_none_of_its_programs() {
    let world = World::new();
    if !git(&world, &["init", "--quiet"]) {
        return println!("skipped: there is no git on this machine");
    }
    let trap = world.path("work").join("trap.sh");
    let text = format!("#!/bin/sh\ntouch {}/sprung\n", world.path("work").display());
    std::fs::write(&trap, text).unwrap();
    let trap = trap.display().to_string();
    assert!(git(&world, &["config", "core.fsmonitor", &format!("sh {trap}")]));
    let replies = script()
        .reply(response().tool_call("Bash", json!({"command": "git status"})))
        .reply(response().text("seen"));
    let server = ScriptedServer::start(replies).await;
    let launch = world.tillerman().asks(&server).args(FRAMES_OUT).args(["hello"]);
    let finished = launch.run().await;
    finished.assert_code(0);
    let [shown] = tool_result_texts(&finished.frames()).try_into().unwrap();
    assert!(shown.contains("trap.sh"), "git status ran without a question: {shown}");
    assert!(!world.path("work").join("sprung").exists(), "the repository ran a program");
    assert!(git(&world, &["status", "--short"]), "the trap is set: plain git falls into it");
    assert!(world.path("work").join("sprung").exists(), "this test would prove nothing");
}
