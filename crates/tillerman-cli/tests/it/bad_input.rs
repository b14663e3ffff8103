//! Wrong use of every kind: told clearly, nothing sent, nothing left behind.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;
use tillerman_testkit::{Gate, ScriptedServer, fault, response, script};

use crate::harness::{FRAMES_OUT, Finished, STREAMING, World, entries, is_root, within};

const SOME_UUID: &str = "6ba7b810-9dad-41d1-80b4-00c04fd430c8";

/// Runs with these arguments and expects a refusal that says `told`.
async fn refused(arguments: &[&str], told: &str) -> (World, Finished) {
    let world = World::new();
    let server = ScriptedServer::start(script()).await;
    let finished = world.tillerman().asks(&server).args(arguments.iter().copied()).run().await;
    check_refusal(&world, &server, &finished, told);
    (world, finished)
}

#[track_caller]
fn check_refusal(world: &World, server: &ScriptedServer, finished: &Finished, told: &str) {
    finished.assert_code(1).assert_stderr(told).assert_no_panic();
    assert!(server.requests().is_empty(), "a request was sent");
    assert_eq!(world.transcripts(), Vec::<std::path::PathBuf>::new());
}

#[track_caller]
fn assert_silent(finished: &Finished) {
    assert_eq!(finished.text(), "", "stdout should be empty");
}

#[tokio::test]
async fn wrong_arguments_are_refused_and_named() {
    let settings = |text: &'static str| ["-p", "--settings", text, "hello"];
    let cases: [(&[&str], &str); 14] = [
        (&["-p", "--no-such-flag", "hello"], "--no-such-flag"),
        (&["-p", "--session-id", "12", "hello"], "a session id must be a UUID"),
        (&["-p", "--permission-mode", "sometimes", "hello"], "acceptEdits"),
        (&["-p", "--output-format", "stream-json", "hello"], "needs --verbose"),
        (&["-p", "--input-format", "stream-json"], "needs --output-format stream-json"),
        (&["-p"], "There is no prompt"),
        (&["-p", "hello", "--resume"], "--resume needs the id"),
        (&["-p", "--project-config-root", "/elsewhere", "hello"], "not available"),
        (&settings("no/such/settings.json"), "no/such/settings.json"),
        (&settings("{\"permissions\": 5}"), "--settings are not valid"),
        (&settings("{\"permissions\""), "--settings are not valid"),
        (&settings("{\"sandbox\": {\"enabled\": 1}}"), "sandbox.enabled must be"),
        (&["-p", "--setting-sources", "usr", "hello"], "use user, project or local"),
        (&["-p", "--max-budget-usd", "much", "hello"], "a number of dollars"),
    ];
    for (arguments, told) in cases {
        let (_world, finished) = refused(arguments, told).await;
        assert_silent(&finished);
    }
}

#[tokio::test]
async fn a_value_that_looks_like_a_flag_stays_a_value() {
    let world = World::new();
    let server = ScriptedServer::start(script().reply(response().text("fine"))).await;
    let evil = "--append-system-prompt=--settings=/no/such/evil.json";
    let launch = world.tillerman().asks(&server).args(["-p", evil, "--"]);
    let finished = launch.args(["--mcp-config=/no/such/servers.json"]).run().await;
    finished.assert_code(0).assert_no_panic();
    let request = server.single_request();
    assert!(request.body["system"].to_string().contains("--settings=/no/such/evil.json"));
    assert!(request.body["messages"].to_string().contains("--mcp-config=/no/such/servers.json"));
}

#[tokio::test]
async fn an_unknown_session_is_named_and_hosts_get_a_result() {
    let told = "No conversation found with session ID: 6ba7b810";
    let (_world, finished) = refused(&["-p", "--resume", SOME_UUID, "hello"], told).await;
    assert_silent(&finished);
    let resume = ["--resume", SOME_UUID];
    let arguments: Vec<&str> = STREAMING.into_iter().chain(resume).collect();
    let (_world, finished) = refused(&arguments, told).await;
    let [result] = finished.frames().try_into().unwrap();
    assert_eq!(result["type"], "result");
    assert_eq!(result["subtype"], "error_during_execution");
    assert_eq!(result["is_error"], true);
    assert!(result["errors"][0].as_str().unwrap().contains(told), "{result}");
    // An id is never taken for a path.
    refused(&["-p", "--resume", "../../etc/passwd", "hello"], "No conversation found").await;
}

#[tokio::test]
async fn a_settings_file_that_cannot_be_used_is_named() {
    let world = World::new();
    let server = ScriptedServer::start(script()).await;
    let file = world.file("settings.json");
    std::fs::write(&file, "{\"permissions\": {\"allow\": [1]}}").unwrap();
    let launch = || world.tillerman().asks(&server).args(["-p", "hello", "--settings"]);
    let name = file.to_str().unwrap();
    let finished = launch().args([name]).run().await;
    check_refusal(&world, &server, &finished, name);
    let finished = launch().args([world.path("work").to_str().unwrap()]).run().await;
    check_refusal(&world, &server, &finished, "it is not a regular file");
    if is_root() {
        println!("skipped: root reads files whatever their mode says");
        return;
    }
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o000)).unwrap();
    let finished = launch().args([name]).run().await;
    check_refusal(&world, &server, &finished, "cannot read the settings file");
}

#[tokio::test]
async fn a_broken_settings_file_of_the_project_is_reported_and_left_out() {
    let world = World::new();
    let server = ScriptedServer::start(script().reply(response().text("fine"))).await;
    std::fs::create_dir(world.file(".claude")).unwrap();
    std::fs::write(world.file(".claude/settings.json"), "{ oops").unwrap();
    let finished = world.tillerman().asks(&server).args(["-p", "hello"]).run().await;
    finished.assert_code(0).assert_stderr(".claude/settings.json").assert_stderr("left out");
    assert_eq!(finished.text(), "fine\n");
}

#[tokio::test]
async fn missing_credentials_are_an_error_for_programs() {
    let world = World::new();
    let launch = || world.tillerman().args(["-p", "--model", "sonnet", "hello"]);
    let finished = launch().args(["--output-format", "json"]).run().await;
    finished.assert_code(1).assert_no_panic();
    let [result] = finished.frames().try_into().unwrap();
    let text = result["result"].as_str().unwrap();
    assert_eq!(result["is_error"], true);
    assert!(text.contains("ANTHROPIC_API_KEY") && !text.contains("rehearsal model:"), "{text}");
    let finished = launch().args(["--output-format", "stream-json", "--verbose"]).run().await;
    finished.assert_code(1);
    let frames = finished.frames();
    let said = frames.iter().find(|frame| frame["type"] == "assistant").unwrap();
    assert_eq!(said["error"], "authentication_failed");
    assert_eq!(said["message"]["model"], "<synthetic>");
    assert!(!frames.iter().any(|frame| frame["subtype"] == "api_retry"), "it was tried again");
}

#[tokio::test]
async fn missing_credentials_are_a_rehearsal_for_people() {
    let world = World::new();
    let finished = world.tillerman().args(["-p", "--model", "sonnet", "good morning"]).run().await;
    finished.assert_code(0);
    assert!(finished.text().contains("rehearsal model: no API key found"), "{}", finished.text());
}

#[tokio::test]
async fn a_working_directory_that_is_gone_is_named() {
    let world = World::new();
    let server = ScriptedServer::start(script()).await;
    let gone = world.path("gone");
    std::fs::create_dir(&gone).unwrap();
    let program = env!("CARGO_BIN_EXE_tillerman");
    let mut shell = tokio::process::Command::new("/bin/sh");
    shell.args(["-c", &format!("rmdir ../gone && exec {program} -p hello")]).current_dir(&gone);
    shell.env("CLAUDE_CONFIG_DIR", world.config()).env("ANTHROPIC_BASE_URL", server.url());
    shell.env("ANTHROPIC_API_KEY", "dummy").stdin(std::process::Stdio::null());
    let output = within("the end of the process", shell.output()).await.unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let finished = Finished { status: output.status, stdout: output.stdout, stderr };
    check_refusal(&world, &server, &finished, "The working directory cannot be used");
    assert_silent(&finished);
}

#[tokio::test]
async fn a_model_that_the_provider_does_not_know_is_an_error() {
    let world = World::new();
    let unknown = fault::status(404).message("model: no-such-model");
    let server = ScriptedServer::start(script().reply(unknown)).await;
    let arguments = ["-p", "--model", "no-such-model", "hello"];
    let finished = world.tillerman().asks(&server).args(arguments).run().await;
    finished.assert_code(1).assert_no_panic();
    let text = finished.text();
    assert!(text.contains("404") && text.contains("Check the model name"), "{text}");
    assert_eq!(server.single_request().model(), "no-such-model");
}

#[tokio::test]
async fn a_line_that_is_no_frame_ends_everything_with_its_number() {
    for (input, told) in [
        ("{\"type\":\"keep_alive\"}\n\n{\"type\": oops\n", "Line 3 of standard input"),
        ("hello\n", "Line 1 of standard input (6 bytes) is not a frame"),
        ("[1, 2]\n", "Line 1 of standard input"),
        ("{\"type\":\"user\"}\n", "missing field `message`"),
        ("{\"type\":\"control_request\"}\n", "missing field `request_id`"),
    ] {
        let world = World::new();
        let server = ScriptedServer::start(script()).await;
        let launch = world.tillerman().asks(&server).args(STREAMING);
        let finished = launch.run_with(input.as_bytes()).await;
        check_refusal(&world, &server, &finished, told);
        assert_silent(&finished);
    }
}

#[tokio::test]
async fn a_line_without_end_is_refused_in_little_memory() {
    let world = World::new();
    let server = ScriptedServer::start(script()).await;
    let mut agent = world.tillerman().asks(&server).start();
    let piece = vec![b'x'; 1 << 20];
    let mut peak = 0;
    for _ in 0..50 {
        peak = peak.max(agent.memory_peak());
        if agent.send_bytes(&piece).await.is_err() {
            break;
        }
    }
    assert!(peak < 150 << 20, "{peak} bytes of memory");
    let (finished, frames) = agent.finish().await;
    check_refusal(&world, &server, &finished, "Line 1 of standard input is longer than 32 MiB");
    assert_eq!(frames, Vec::<serde_json::Value>::new());
    let prompt = piece.repeat(11);
    let finished = world.tillerman().asks(&server).args(["-p"]).run_with(&prompt).await;
    check_refusal(&world, &server, &finished, "larger than 10 MB");
}

#[tokio::test]
async fn root_does_not_bypass_permissions() {
    if !is_root() {
        println!("skipped: only root is refused");
        return;
    }
    for arguments in [
        ["-p", "--dangerously-skip-permissions", "hello"].as_slice(),
        &["-p", "--permission-mode", "bypassPermissions", "hello"],
        &["-p", "--settings", "{\"permissions\":{\"defaultMode\":\"bypassPermissions\"}}", "hi"],
    ] {
        let world = World::new();
        let server = ScriptedServer::start(script()).await;
        let launch = world.tillerman().asks(&server).without("IS_SANDBOX");
        let finished = launch.args(arguments.iter().copied()).run().await;
        check_refusal(&world, &server, &finished, "as root");
        assert_silent(&finished);
    }
}

#[tokio::test]
async fn a_session_that_is_open_elsewhere_is_refused_and_unharmed() {
    let world = World::new();
    let gate = Gate::new();
    let server =
        ScriptedServer::start(script().reply(response().text("first").hold_before(&gate))).await;
    let mut first = world.tillerman().asks(&server).args(["--session-id", SOME_UUID]).start();
    first.prompt("hello").await;
    server.wait_for_requests(1).await;
    let arguments = FRAMES_OUT.into_iter().chain(["--resume", SOME_UUID, "me too"]);
    let second = world.tillerman().asks(&server).args(arguments).run().await;
    second.assert_code(1).assert_stderr("is open in another process").assert_no_panic();
    assert_eq!(second.result()["subtype"], "error_during_execution");
    let arguments = ["-p", "--session-id", SOME_UUID, "me too"];
    let third = world.tillerman().asks(&server).args(arguments).run().await;
    third.assert_code(1).assert_stderr("already in use");
    gate.open();
    assert_eq!(first.result().await["result"], json!("first"));
    let (finished, _) = first.finish().await;
    finished.assert_code(0);
    let said = entries(&world.transcript());
    assert_eq!(said.iter().filter(|entry| entry["type"] == "user").count(), 1);
    server.verify();
}
