//! Sessions whose settings ask for a sandbox: what runs inside, what stays out, who is told.

use serde_json::{Value, json};
use tillerman_testkit::{ScriptedServer, response, script};

use crate::harness::{World, tool_result_texts};

const SANDBOX: &str = r#"{"sandbox": {"enabled": true}}"#;

/// Whether commands can be confined here at all; where they cannot, being refused is the test.
async fn can_confine(world: &World) -> bool {
    let finished = world.tillerman().args(["doctor"]).run().await;
    let text = finished.text();
    assert!(text.contains("Sandbox\n"), "{text}");
    !text.contains("cannot be confined")
}

/// The results of these calls, nobody being there to ask.
async fn results(world: &World, settings: &str, calls: &[(&str, Value)]) -> Vec<String> {
    let replies = calls.iter().fold(script(), |script, (tool, input)| {
        script.reply(response().tool_call(tool, input.clone()))
    });
    let server = ScriptedServer::start(replies.reply(response().text("done"))).await;
    let mut agent = world.tillerman().asks(&server).args(["--settings", settings]).start();
    agent.prompt("work").await;
    assert_eq!(agent.result().await["result"], "done");
    let (finished, frames) = agent.finish().await;
    finished.assert_code(0).assert_no_panic();
    server.verify();
    tool_result_texts(&frames)
}

fn bash(command: &str) -> (&'static str, Value) {
    ("Bash", json!({ "command": command }))
}

#[tokio::test]
async fn commands_run_inside_without_a_question_and_cannot_leave() {
    let world = World::new();
    if !can_confine(&world).await {
        return;
    }
    std::fs::create_dir(world.path("home").join(".ssh")).unwrap();
    std::fs::write(world.path("home").join(".ssh/id"), "the key").unwrap();
    let outside = world.path("outside");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let calls = [
        bash("echo made > made.txt && mkdir -p sub && cd sub && pwd"),
        bash("pwd"),
        bash(&format!("echo x > {}", outside.display())),
        bash("cat \"$HOME/.ssh/id\""),
        bash(&format!("exec 3<>/dev/tcp/127.0.0.1/{}", listener.local_addr().unwrap().port())),
        bash("env | grep -c ANTHROPIC_API_KEY"),
    ];
    let texts = results(&world, SANDBOX, &calls).await;
    assert_eq!(std::fs::read_to_string(world.file("made.txt")).unwrap(), "made\n");
    assert_eq!(texts[1], world.file("sub").display().to_string(), "the directory carries over");
    assert!(!outside.exists(), "{texts:?}");
    assert!(texts[2].contains("Read-only file system") || texts[2].contains("denied"), "{texts:?}");
    assert!(!texts[3].contains("the key") && texts[3].contains("Exit code 1"), "{texts:?}");
    assert!(texts[4].contains("Connection refused"), "{texts:?}");
    assert!(texts[5].starts_with("0\n"), "{texts:?}");
}

#[tokio::test]
async fn file_tools_are_held_to_the_same_confinement() {
    let world = World::new();
    if !can_confine(&world).await {
        return;
    }
    let secret = world.path("home").join(".netrc");
    std::fs::write(&secret, "password").unwrap();
    let calls = [
        bash("ln -s \"$HOME\" way; ln -s /etc/hostname host; mkfifo pipe"),
        ("Read", json!({ "file_path": secret })),
        ("Write", json!({ "file_path": world.file("new/deep/file.txt"), "content": "whole" })),
        ("Write", json!({ "file_path": world.path("elsewhere.txt"), "content": "out" })),
        ("Write", json!({ "file_path": world.file("way/gone.txt"), "content": "out" })),
        ("Write", json!({ "file_path": world.file(".claude/settings.json"), "content": "{}" })),
    ];
    let settings =
        r#"{"sandbox": {"enabled": true}, "permissions": {"allow": ["Read", "Edit", "Write"]}}"#;
    let texts = results(&world, settings, &calls).await;
    assert!(!texts[1].contains("password"), "{texts:?}");
    assert_eq!(std::fs::read_to_string(world.file("new/deep/file.txt")).unwrap(), "whole");
    assert!(!world.path("elsewhere.txt").exists(), "{texts:?}");
    assert!(!world.path("home").join("gone.txt").exists(), "{texts:?}");
    assert!(!world.file(".claude/settings.json").exists(), "{texts:?}");
}

#[tokio::test]
async fn a_domain_that_is_not_allowed_is_refused_and_the_model_is_told() {
    let world = World::new();
    if !can_confine(&world).await {
        return;
    }
    let settings =
        r#"{"sandbox": {"enabled": true, "network": {"allowedDomains": ["allowed.example"]}}}"#;
    let command = "exec 3<>/dev/tcp/127.0.0.1/17391; \
                   printf 'CONNECT evil.example:443 HTTP/1.1\\r\\n\\r\\n' >&3; head -1 <&3";
    let [text] = results(&world, settings, &[bash(command)]).await.try_into().unwrap();
    assert!(text.contains("403"), "{text}");
    assert!(text.contains("[The sandbox:") && text.contains("evil.example"), "{text}");
}

#[tokio::test]
async fn leaving_the_sandbox_is_a_question() {
    let world = World::new();
    if !can_confine(&world).await {
        return;
    }
    let input = json!({ "command": "touch free", "dangerouslyDisableSandbox": true });
    let [text] = results(&world, SANDBOX, &[("Bash", input)]).await.try_into().unwrap();
    assert!(!world.file("free").exists(), "{text}");
}

#[tokio::test]
async fn a_sandbox_that_nobody_can_understand_starts_nothing() {
    let world = World::new();
    for settings in [r#"{"sandbox": {"enabled": "yes"}}"#, r#"{"sandbox": true}"#] {
        let finished = world.tillerman().args(["-p", "--settings", settings, "hello"]).run().await;
        finished.assert_code(1);
        assert!(finished.stderr.contains("nothing is run"), "{}", finished.stderr);
    }
    assert!(world.transcripts().is_empty());
}

#[tokio::test]
async fn guarded_names_hold_in_every_mode_and_strict_environments_are_small() {
    let world = World::new();
    let calls = [
        ("Write", json!({ "file_path": world.file("PLAN.md"), "content": "mine" })),
        bash("echo mine > PLAN.md"),
        bash("env | cut -d= -f1 | sort"),
    ];
    let replies = calls.iter().fold(script(), |script, (tool, input)| {
        script.reply(response().tool_call(tool, input.clone()))
    });
    let server = ScriptedServer::start(replies.reply(response().text("done"))).await;
    let launch = world.tillerman().asks(&server).unguarded().env("LEAKY", "1");
    let mut agent = launch.args(["--guard", "PLAN.md", "--strict-environment"]).start();
    agent.prompt("work").await;
    agent.result().await;
    let (_, frames) = agent.finish().await;
    let texts = tool_result_texts(&frames);
    assert_eq!(texts[0], "Cannot modify protected file: PLAN.md");
    assert_eq!(texts[1], "Cannot modify protected files via shell commands: PLAN.md");
    assert!(texts[2].contains("HOME") && !texts[2].contains("LEAKY"), "{texts:?}");
    assert!(!world.file("PLAN.md").exists());
}
