//! Hooks of settings, in the real binary.

use std::path::PathBuf;

use rustix::process::Signal;
use serde_json::{Value, json};
use tillerman_testkit::{ScriptedServer, response, script};

use crate::harness::{FRAMES_OUT, KEY, World, tool_result_texts};

fn command(line: &str) -> Value {
    json!([{"hooks": [{"type": "command", "command": line}]}])
}

/// Puts settings into the project, as a repository could.
fn put_project_settings(world: &World, settings: &Value) {
    std::fs::create_dir_all(world.file(".claude")).unwrap();
    std::fs::write(world.file(".claude/settings.json"), settings.to_string()).unwrap();
}

fn says(text: &str) -> tillerman_testkit::ScriptBuilder {
    script().reply(response().text(text))
}

fn bash(line: &str) -> tillerman_testkit::Response {
    response().tool_call("Bash", json!({ "command": line }))
}

#[tokio::test]
async fn a_session_start_hook_leaves_variables_for_commands() {
    let world = World::new();
    let replies = script()
        .reply(bash("echo \"got $FLAVOUR from ${CLAUDE_ENV_FILE-nowhere}\""))
        .reply(response().text("fine"));
    let server = ScriptedServer::start(replies).await;
    let leave =
        "echo \"export FLAVOUR='very sweet'\" >> \"$CLAUDE_ENV_FILE\"; echo 'It is Monday.'";
    let settings = json!({"hooks": {"SessionStart": command(leave)}}).to_string();
    let launch = world.tillerman().asks(&server).unguarded().args(FRAMES_OUT);
    let finished = launch.args(["hello", "--settings", &settings]).run().await;
    finished.assert_code(0).assert_no_panic();
    let frames = finished.frames();
    assert_eq!(tool_result_texts(&frames), ["got very sweet from nowhere"]);
    assert!(server.request(0).user_text().contains("It is Monday."));
    let started = frames.iter().find(|frame| frame["subtype"] == "hook_response").unwrap();
    assert_eq!(started["hook_name"], "SessionStart:startup");
    let spilled = world.transcript().with_extension("").join("tool-results");
    assert!(!spilled.exists(), "nothing is left behind");
}

#[tokio::test]
async fn a_repository_runs_no_hooks_unless_it_is_trusted() {
    let settings = json!({"hooks": {"UserPromptSubmit": command("touch ran")}});
    for (arguments, runs) in [(&[][..], false), (&["--setting-sources", "user,project"][..], true)]
    {
        let world = World::new();
        put_project_settings(&world, &settings);
        let server = ScriptedServer::start(says("fine")).await;
        let launch = world.tillerman().asks(&server).args(FRAMES_OUT).args(["hello"]);
        let finished = launch.args(arguments.iter().copied()).run().await;
        finished.assert_code(0);
        assert_eq!(world.file("ran").exists(), runs, "{arguments:?}");
        if !runs {
            finished.assert_stderr("hooks (project)").assert_stderr("tillerman trust");
        }
    }
}

#[tokio::test]
async fn a_hook_sees_no_credentials() {
    let world = World::new();
    let server = ScriptedServer::start(says("fine")).await;
    let settings = json!({"hooks": {"UserPromptSubmit": command("env > seen; echo \"$0\"")}});
    let launch = world.tillerman().asks(&server).env("GREETING", "hello").args(FRAMES_OUT);
    let launch = launch.args(["hello", "--settings", &settings.to_string()]);
    launch.run().await.assert_code(0);
    let seen = std::fs::read_to_string(world.file("seen")).unwrap();
    assert!(seen.contains("GREETING=hello") && !seen.contains(KEY), "{seen}");
}

#[tokio::test]
async fn the_end_is_told_also_when_the_process_is_told_to_end() {
    let world = World::new();
    let server = ScriptedServer::start(says("fine")).await;
    let settings = json!({"hooks": {"SessionEnd": command("cat > end.json")}}).to_string();
    let mut agent = world.tillerman().asks(&server).args(["--settings", &settings]).start();
    agent.prompt("hello").await;
    agent.result().await;
    agent.signal(Signal::TERM);
    let (finished, _) = agent.finish().await;
    finished.assert_code(143).assert_no_panic();
    let told: Value =
        serde_json::from_str(&std::fs::read_to_string(world.file("end.json")).unwrap()).unwrap();
    assert_eq!(
        (&told["hook_event_name"], &told["reason"]),
        (&json!("SessionEnd"), &json!("other"))
    );
}

#[tokio::test]
async fn a_deferred_call_is_taken_up_when_the_session_goes_on() {
    let world = World::new();
    let server = ScriptedServer::start(script().reply(bash("touch made"))).await;
    let defer = json!({"hookSpecificOutput":
        {"hookEventName": "PreToolUse", "permissionDecision": "defer"}});
    let settings = json!({"hooks": {"PreToolUse": command(&format!("echo '{defer}'"))}});
    let launch = world.tillerman().asks(&server).unguarded().args(FRAMES_OUT);
    let finished = launch.args(["go", "--settings", &settings.to_string()]).run().await;
    finished.assert_code(0);
    assert_eq!(finished.result()["terminal_reason"], "tool_deferred");
    assert_eq!(finished.result()["deferred_tool_use"]["name"], "Bash");

    let server = ScriptedServer::start(says("fine")).await;
    let launch = world.tillerman().asks(&server).unguarded().args(FRAMES_OUT);
    let launch = launch.args(["well?", "--continue", "--allowedTools", "Bash(touch *)"]);
    launch.run().await.assert_code(0).assert_no_panic();
    assert_eq!(server.request(0).tool_result_texts().len(), 1);
    assert!(world.file("made").exists());
}

#[tokio::test]
async fn preparing_a_working_copy_needs_no_prompt() {
    let world = World::new();
    let record = "cat >> told; echo >> told";
    let settings =
        json!({"hooks": {"Setup": command(record), "SessionStart": command(record)}}).to_string();
    let launch = world.tillerman().args(["--init-only", "--settings", &settings]);
    launch.run().await.assert_code(0).assert_no_panic();
    let told = std::fs::read_to_string(world.file("told")).unwrap();
    let told: Vec<Value> = told
        .lines()
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(
        (&told[0]["hook_event_name"], &told[0]["trigger"]),
        (&json!("Setup"), &json!("init"))
    );
    assert_eq!(told[1]["hook_event_name"], "SessionStart");
    assert_eq!(world.transcripts(), Vec::<PathBuf>::new());
}

#[tokio::test]
async fn hooks_hear_where_the_shell_goes() {
    let world = World::new();
    std::fs::create_dir(world.file("inner")).unwrap();
    let replies =
        script().reply(bash("cd inner")).reply(bash("pwd")).reply(response().text("fine"));
    let server = ScriptedServer::start(replies).await;
    let settings = json!({"hooks": {"CwdChanged": command("cat >> moved; echo >> moved")}});
    let launch = world.tillerman().asks(&server).unguarded().args(FRAMES_OUT);
    let launch = launch.args(["go", "--settings", &settings.to_string()]);
    launch.run().await.assert_code(0).assert_no_panic();
    let moved = std::fs::read_to_string(world.file("moved")).unwrap();
    let moved: Value = serde_json::from_str(moved.trim()).unwrap();
    assert_eq!(moved["new_cwd"], world.file("inner").display().to_string());
    assert_eq!(moved["old_cwd"], world.path("work").display().to_string());
}

#[tokio::test]
async fn a_hook_that_misbehaves_is_seen_and_costs_nothing() {
    let world = World::new();
    let replies = script().reply(bash("echo it ran")).reply(response().text("fine"));
    let server = ScriptedServer::start(replies).await;
    let flood = json!({"type": "command", "command": "head -c 100000000 /dev/zero"});
    let hang = json!({"type": "command", "command": "sleep 100", "timeout": 0.5});
    let crash = json!({"type": "command", "command": "kill -SEGV $$"});
    let garbage = json!({"type": "command", "command": "echo '{oops'"});
    let settings = json!({"hooks": {"PreToolUse": [{"hooks": [flood, hang, crash, garbage]}]}});
    let launch = world.tillerman().asks(&server).unguarded().args(FRAMES_OUT);
    let launch = launch.args(["go", "--include-hook-events", "--settings", &settings.to_string()]);
    let finished = launch.run().await;
    finished.assert_code(0).assert_no_panic();
    let frames = finished.frames();
    assert_eq!(tool_result_texts(&frames), ["it ran"]);
    let of = |subtype: &str| frames.iter().filter(|frame| frame["subtype"] == subtype).count();
    assert_eq!((of("hook_started"), of("hook_response")), (4, 4));
    for said in ["64 MiB", "did not end within 0.5 s", "signal", "begins like JSON"] {
        finished.assert_stderr(said);
        let told = |frame: &Value| frame["text"].as_str().is_some_and(|text| text.contains(said));
        assert!(frames.iter().any(told), "{said}");
    }
}
