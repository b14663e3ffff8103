//! Commands that are watched, in the real program.

use rustix::process::Signal;
use serde_json::{Value, json};
use tillerman_testkit::{ScriptedServer, response, script};

use crate::harness::{World, until};

fn watch(command: &str) -> Value {
    json!({"command": command, "description": "the log"})
}

fn results(frames: &[Value]) -> Vec<&str> {
    let results = frames.iter().filter(|frame| frame["type"] == "result");
    results.map(|frame| frame["result"].as_str().unwrap_or_default()).collect()
}

#[tokio::test]
async fn lines_are_heard_at_rest_and_after_the_input_is_closed() {
    let world = World::new();
    let log = "echo one; until [ -e go ]; do sleep 0.05; done; echo two";
    let server = ScriptedServer::start(
        script()
            .reply(response().tool_call("Monitor", watch(log)))
            .reply(response().text("Watching."))
            .reply(response().text("One came."))
            .reply(response().text("Two came.")),
    )
    .await;
    let mut agent = world.tillerman().asks(&server).unguarded().start();
    agent.prompt("watch it").await;
    assert_eq!(agent.result().await["result"], "Watching.");
    assert_eq!(agent.result().await["result"], "One came.");
    agent.close();
    std::fs::write(world.file("go"), "").unwrap();
    let (finished, frames) = agent.finish().await;
    finished.assert_code(0);
    assert_eq!(results(&frames), ["Watching.", "One came.", "Two came."]);
    let last = server.request(3).user_text();
    assert!(last.contains("> one") && last.contains("It said last:\n> two"), "{last}");
    assert!(last.contains("has completed") && last.contains("exit code 0"), "{last}");
    server.verify();
}

#[tokio::test]
async fn a_prompt_alone_waits_for_what_it_watches() {
    let world = World::new();
    let server = ScriptedServer::start(
        script()
            .reply(response().tool_call("Monitor", watch("sleep 0.3; echo here")))
            .reply(response().text("Watching."))
            .reply(response().text("It is here.")),
    )
    .await;
    let launch = world.tillerman().asks(&server).unguarded();
    let finished = launch.args(["-p", "watch it"]).run().await;
    finished.assert_code(0);
    assert!(finished.text().trim_end().ends_with("It is here."), "{}", finished.text());
    server.verify();
}

#[tokio::test]
async fn a_watch_without_a_deadline_keeps_nobody_waiting() {
    let world = World::new();
    let mut input = watch("echo $$ >pid; exec sleep 300");
    input["persistent"] = json!(true);
    let server = ScriptedServer::start(
        script().reply(response().tool_call("Monitor", input)).reply(response().text("Watching.")),
    )
    .await;
    let launch = world.tillerman().asks(&server).unguarded();
    let finished = launch.args(["-p", "watch it"]).run().await;
    finished.assert_code(0);
    assert_eq!(finished.text().trim_end(), "Watching.");
    let pid = std::fs::read_to_string(world.file("pid")).unwrap();
    let is_gone = || !std::path::Path::new("/proc").join(pid.trim()).exists();
    until("the command to end", is_gone).await;
}

#[tokio::test]
async fn what_bash_may_not_run_is_not_watched() {
    let world = World::new();
    let hook = json!({"type": "command", "command": "cat > seen.json; echo no >&2; exit 2"});
    let settings = json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [hook]}]}});
    let settings = settings.to_string();
    for (arguments, expected) in [
        (["--disallowedTools", "Bash(touch *)"], "deny rule (Bash(touch *))"),
        (["--settings", settings.as_str()], "no"),
    ] {
        let server = ScriptedServer::start(
            script()
                .reply(response().tool_call("Monitor", watch("true && touch made; tail -f made")))
                .reply(response().text("Refused.")),
        )
        .await;
        let launch = world.tillerman().asks(&server).unguarded().args(arguments);
        launch.args(["-p", "watch it"]).run().await.assert_code(0);
        let told = server.request(1).tool_result_texts().join("");
        assert!(told.contains(expected), "{told}");
        assert!(!world.file("made").exists());
    }
    let seen = std::fs::read_to_string(world.file("seen.json")).unwrap();
    assert!(seen.contains("\"tool_name\":\"Monitor\""), "{seen}");
    let server = ScriptedServer::start(script().reply(response().text("Nothing."))).await;
    let launch = world.tillerman().asks(&server).unguarded();
    let finished = launch.args(["--disallowedTools", "Bash", "-p", "what have you?"]).run().await;
    finished.assert_code(0);
    assert!(!server.single_request().tool_names().contains(&"Monitor"));
}

#[tokio::test]
async fn an_agent_hears_what_it_watches_and_reports_after_that() {
    let world = World::new();
    let order = json!({"description": "watch", "prompt": "watch the log"});
    let server = ScriptedServer::start(
        script()
            .reply(response().tool_call("Agent", order))
            .reply(response().tool_call("Monitor", watch("sleep 0.3; echo here")))
            .reply(response().text("I am watching."))
            .reply(response().text("It is here."))
            .reply(response().text("The agent saw it.")),
    )
    .await;
    let launch = world.tillerman().asks(&server).unguarded();
    let finished = launch.args(["-p", "send somebody"]).run().await;
    finished.assert_code(0);
    assert!(server.request(3).user_text().contains("> here"), "{}", server.request(3).user_text());
    let report = server.request(4).tool_result_texts().join("");
    assert!(report.contains("It is here."), "{report}");
}

#[tokio::test]
async fn a_resumed_session_hears_that_nothing_is_watched_any_more() {
    let world = World::new();
    let server = ScriptedServer::start(
        script()
            .reply(response().tool_call("Monitor", watch("echo one; exec sleep 20")))
            .reply(response().text("Watching."))
            .reply(response().text("One came."))
            .reply(response().text("I know.")),
    )
    .await;
    let mut agent = world.tillerman().asks(&server).unguarded().start();
    agent.prompt("watch it").await;
    agent.result().await;
    assert_eq!(agent.result().await["result"], "One came.");
    agent.signal(Signal::KILL);
    agent.finish().await;
    let launch = world.tillerman().asks(&server).unguarded();
    launch.args(["-c", "-p", "still there?"]).run().await.assert_code(0);
    let heard = server.request(3).user_text();
    assert!(heard.contains("were under way") && heard.contains("(the log)"), "{heard}");
    server.verify();
}
