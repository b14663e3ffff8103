//! Settings as sessions and people meet them.

use std::time::{Duration, UNIX_EPOCH};

use serde_json::{Value, json};
use tillerman_testkit::{ScriptedServer, response, script};

use crate::harness::{Agent, FRAMES_OUT, KEY, World, tool_result_texts};

fn bash(command: &str) -> tillerman_testkit::Response {
    response().tool_call("Bash", json!({ "command": command }))
}

fn put(world: &World, settings: &Value) {
    std::fs::write(world.config().join("settings.json"), settings.to_string()).unwrap();
}

async fn ask(agent: &mut Agent, request: Value) -> Value {
    let id = format!("req_{}", agent.seen.len());
    agent.send(json!({"type": "control_request", "request_id": id, "request": request})).await;
    let is_answer = |frame: &Value| frame["response"]["request_id"] == id.as_str();
    agent.frame("an answer", is_answer).await["response"].clone()
}

#[tokio::test]
async fn variables_of_the_user_reach_tools_and_the_provider() {
    let world = World::new();
    let server =
        ScriptedServer::start(script().reply(bash("env")).reply(response().text("ok"))).await;
    put(
        &world,
        &json!({"env": {"ANTHROPIC_BASE_URL": server.url(), "ANTHROPIC_API_KEY": KEY,
        "FLAVOUR": "plum"}}),
    );
    let finished = world.tillerman().unguarded().args(FRAMES_OUT).args(["hello"]).run().await;
    finished.assert_code(0);
    let [shown] = tool_result_texts(&finished.frames()).try_into().unwrap();
    assert!(shown.contains("FLAVOUR=plum"), "{shown}");
    assert!(!shown.contains("ANTHROPIC_API_KEY") && !finished.text().contains(KEY), "{shown}");
}

#[tokio::test]
async fn a_rule_that_changes_holds_from_the_next_round_on() {
    let world = World::new();
    let rounds = script().reply(bash("touch one")).reply(response().text("1"));
    let rounds = rounds.reply(bash("touch two")).reply(response().text("2"));
    let server = ScriptedServer::start(rounds).await;
    put(&world, &json!({"permissions": {"allow": ["Bash(touch *)"]}}));
    let mut agent = world.tillerman().asks(&server).start();
    agent.prompt("first").await;
    agent.result().await;
    assert!(world.file("one").exists());
    put(&world, &json!({"permissions": {"allow": ["Bash(touch *)"], "deny": ["Bash(touch two)"]}}));
    agent.prompt("second").await;
    agent.result().await;
    assert!(!world.file("two").exists(), "the new rule does not hold");
    let told = ask(&mut agent, json!({"subtype": "get_settings"})).await["response"].clone();
    assert_eq!(told["effective"]["permissions"]["deny"], json!(["Bash(touch two)"]));
    assert_eq!(told["sources"][0]["source"], "user");
    assert!(told["applied"]["model"].is_string(), "{told}");
    agent.finish().await.0.assert_code(0);
}

#[tokio::test]
async fn a_hook_that_changes_holds_from_the_next_round_on() {
    let world = World::new();
    let rounds = script().reply(bash("touch one")).reply(response().text("1"));
    let rounds = rounds.reply(bash("touch two")).reply(response().text("2"));
    let server =
        ScriptedServer::start(rounds.reply(bash("touch three")).reply(response().text("3"))).await;
    put(&world, &json!({}));
    let mut agent = world.tillerman().asks(&server).unguarded().start();
    let refuse = json!([{"hooks": [{"type": "command", "command": "echo no >&2; exit 2"}]}]);
    let steps = [
        (json!({}), "one", true),
        (json!({"hooks": {"PreToolUse": refuse}}), "two", false),
        (json!({}), "three", true),
    ];
    for (settings, name, is_made) in steps {
        put(&world, &settings);
        agent.prompt("go on").await;
        agent.result().await;
        assert_eq!(world.file(name).exists(), is_made, "{name}");
    }
    agent.finish().await.0.assert_code(0);
}

#[tokio::test]
async fn a_hook_can_refuse_changed_settings() {
    let world = World::new();
    let rounds = script().reply(response().text("1")).reply(response().text("2"));
    let server =
        ScriptedServer::start(rounds.reply(bash("touch two")).reply(response().text("3"))).await;
    let refuse = "cat > told; echo they are frozen >&2; exit 2";
    let hooks = json!({"ConfigChange": [{"matcher": "user_settings",
        "hooks": [{"type": "command", "command": refuse}]}]});
    put(&world, &json!({"hooks": hooks}));
    let mut agent = world.tillerman().asks(&server).start();
    agent.prompt("first").await;
    agent.result().await;
    put(&world, &json!({"hooks": hooks, "permissions": {"allow": ["Bash(touch *)"]}}));
    agent.prompt("second").await;
    let is_notice = |frame: &Value| frame["key"] == "settings_refused";
    let notice = agent.frame("a refusal", is_notice).await;
    assert!(notice["text"].as_str().unwrap().contains("they are frozen"), "{notice}");
    let told = std::fs::read_to_string(world.file("told")).unwrap();
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["source"], "user_settings");
    assert!(told["file_path"].as_str().unwrap().ends_with("config/settings.json"), "{told}");
    if !agent.seen.iter().any(|frame| frame["type"] == "result" && frame["result"] == "2") {
        agent.result().await;
    }
    agent.prompt("third").await;
    agent.result().await;
    assert!(!world.file("two").exists(), "the rule that was refused does not hold");
    agent.finish().await.0.assert_code(0);
}

#[tokio::test]
async fn an_agent_cannot_approve_for_itself_by_writing_settings() {
    let world = World::new();
    let text = r#"{"permissions":{"allow":["Bash(touch *)"],"deny":["Bash(ls)"]}}"#;
    let rounds = script()
        .reply(response().tool_call(
            "Write",
            json!({"file_path": world.file(".claude/settings.local.json"), "content": text}),
        ))
        .reply(bash("touch made"))
        .reply(bash("ls"))
        .reply(response().text("done"));
    let server = ScriptedServer::start(rounds).await;
    let mut agent =
        world.tillerman().asks(&server).args(["--permission-prompt-tool", "stdio"]).start();
    agent.prompt("go").await;
    let asked =
        agent.frame("a question", |frame| frame["request"]["subtype"] == "can_use_tool").await;
    assert_eq!(asked["request"]["tool_name"], "Write");
    let answer = |asked: &Value, behavior: &str| {
        json!({"type": "control_response", "response": {"subtype": "success",
            "request_id": asked["request_id"], "response": {"behavior": behavior, "message": "no"}}})
    };
    agent.send(answer(&asked, "allow")).await;
    let asked =
        agent.frame("a question", |frame| frame["request"]["subtype"] == "can_use_tool").await;
    assert_eq!(asked["request"]["input"]["command"], "touch made", "it is still asked about");
    agent.send(answer(&asked, "deny")).await;
    agent.result().await;
    let is_notice = |frame: &&Value| frame["key"] == "settings_left_out";
    assert!(agent.seen.iter().any(|frame| is_notice(&frame)), "the host is told");
    let (_, frames) = agent.finish().await;
    let [_, _, listed] = tool_result_texts(&frames).try_into().unwrap();
    assert!(
        listed.contains("denied") || listed.contains("deny"),
        "what it refuses holds: {listed}"
    );
}

#[tokio::test]
async fn the_host_changes_its_own_layer_and_little_else() {
    let world = World::new();
    let server =
        ScriptedServer::start(script().reply(bash("touch one")).reply(response().text("1"))).await;
    let mut agent = world.tillerman().asks(&server).start();
    let rules = json!({"permissions": {"allow": ["Bash(touch *)"]}, "model": "haiku"});
    let answer =
        ask(&mut agent, json!({"subtype": "apply_flag_settings", "settings": rules})).await;
    assert_eq!(answer["subtype"], "success", "{answer}");
    let wrong = json!({"permissions": {"allow": 7}});
    let answer =
        ask(&mut agent, json!({"subtype": "apply_flag_settings", "settings": wrong})).await;
    assert_eq!(answer["error_code"], "settings_not_applied", "{answer}");
    assert!(answer["error"].as_str().unwrap().contains("permissions.allow"), "{answer}");
    agent.prompt("go").await;
    agent.result().await;
    assert!(world.file("one").exists());
    assert!(server.request(0).model().contains("haiku"));
    let update = |source: &str, settings: Value| json!({"subtype": "update_settings", "source": source, "settings": settings});
    let answer = ask(&mut agent, update("localSettings", json!({"outputStyle": "terse"}))).await;
    assert_eq!(answer["subtype"], "success", "{answer}");
    let written = std::fs::read_to_string(world.file(".claude/settings.local.json")).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), json!({"outputStyle": "terse"}));
    for (source, settings) in [
        ("localSettings", json!({"hooks": {}})),
        ("userSettings", json!({"outputStyle": "terse"})),
        ("projectSettings", json!({"outputStyle": "terse"})),
        ("localSettings", json!({"outputStyle": 7})),
    ] {
        let answer = ask(&mut agent, update(source, settings)).await;
        assert_eq!(answer["error_code"], "settings_not_applied", "{source}: {answer}");
    }
    agent.finish().await.0.assert_code(0);
}

#[tokio::test]
async fn administrators_have_the_last_word() {
    let world = World::new();
    let managed = world.path("managed");
    std::fs::create_dir(&managed).unwrap();
    let settings = json!({"permissions": {"deny": ["Bash(touch *)"], "disableBypassPermissionsMode": "disable"}});
    std::fs::write(managed.join("managed-settings.json"), settings.to_string()).unwrap();
    let server =
        ScriptedServer::start(script().reply(bash("touch made")).reply(response().text("1"))).await;
    let managed = managed.to_str().unwrap();
    let launch = || world.tillerman().asks(&server).args(["--managed-settings", managed]);
    let flags = ["--setting-sources", "", "--allowedTools", "Bash(touch *)", "-p", "hello"];
    launch().args(flags).run().await.assert_code(0);
    assert!(!world.file("made").exists());
    let finished = launch().unguarded().args(["-p", "hello"]).run().await;
    finished.assert_code(1).assert_stderr("disableBypassPermissionsMode");
}

#[tokio::test]
async fn models_that_are_not_available_are_not_used() {
    let world = World::new();
    put(&world, &json!({"availableModels": ["haiku"], "fallbackModel": "haiku"}));
    let server = ScriptedServer::start(script().reply(response().text("1"))).await;
    let finished =
        world.tillerman().asks(&server).args(["-p", "hi", "--model", "opus"]).run().await;
    finished.assert_code(1).assert_stderr("is not among the models").assert_stderr("(haiku)");
    let mut agent = world.tillerman().asks(&server).args(["--model", "haiku"]).start();
    let answer = ask(&mut agent, json!({"subtype": "set_model", "model": "opus"})).await;
    assert_eq!(answer["error_code"], "model_not_available", "{answer}");
    agent.prompt("hi").await;
    agent.result().await;
    assert!(server.single_request().model().contains("haiku"));
    agent.finish().await.0.assert_code(0);
}

#[tokio::test]
async fn people_see_what_is_in_force_and_why() {
    let world = World::new();
    put(
        &world,
        &json!({"model": "m", "env": {"A_TOKEN": "hush"}, "permissions": {"deny": ["WebFetch"]}}),
    );
    std::fs::create_dir(world.file(".claude")).unwrap();
    let text =
        "{\n  \"permissions\": {\n    \"deny\": [\"Read(x)\"], \"allow\": [\"Bash\"]\n  }\n}";
    std::fs::write(world.file(".claude/settings.json"), text).unwrap();
    let show = async |arguments: &[&str]| {
        let launch = world.tillerman().args(["config", "show"]).args(arguments.iter().copied());
        launch.run().await
    };
    let finished = show(&["--origin"]).await;
    finished.assert_code(0).assert_stderr("permissions.allow (project)");
    let file = world.file(".claude/settings.json");
    let line = format!("permissions.deny[1] = \"Read(x)\"  # {}:3 (project)\n", file.display());
    assert!(finished.text().contains(&line), "{}", finished.text());
    let told: Value = serde_json::from_str(&show(&["--json"]).await.text()).unwrap();
    let deny = json!(["WebFetch", "Read(x)"]);
    assert_eq!(
        told,
        json!({"model": "m", "env": {"A_TOKEN": "(hidden)"}, "permissions": {"deny": deny}})
    );
    let told: Value = serde_json::from_str(&show(&["--json", "--origin"]).await.text()).unwrap();
    assert_eq!(told["origins"]["/permissions/deny/1"]["line"], 3);
    std::fs::write(&file, "{\n  \"model\": 7\n}").unwrap();
    let finished = show(&[]).await;
    finished.assert_code(1).assert_stderr("model must be a text at line 2 column 12");
}

#[tokio::test]
async fn old_sessions_are_removed_where_the_user_settings_are_read() {
    let world = World::new();
    let project = world.config().join("projects/-elsewhere");
    std::fs::create_dir_all(&project).unwrap();
    let old = project.join("00000000-0000-4000-8000-000000000001.jsonl");
    std::fs::write(&old, "{}\n").unwrap();
    let file = std::fs::File::open(&old).unwrap();
    file.set_modified(UNIX_EPOCH + Duration::from_secs(1_000_000_000)).unwrap();
    let replies = script()
        .reply(response().text("1"))
        .reply(response().text("2"))
        .reply(response().text("3"));
    let server = ScriptedServer::start(replies).await;
    let run = async |arguments: &[&str]| {
        let launch = world.tillerman().asks(&server).args(arguments.iter().copied());
        launch.args(["-p", "hello"]).run().await.assert_code(0);
    };
    run(&["--setting-sources", ""]).await;
    assert!(old.exists(), "nobody knows how long the user wants to keep it");
    put(&world, &json!({"cleanupPeriodDays": 36_500}));
    run(&[]).await;
    assert!(old.exists());
    std::fs::remove_file(world.config().join(".tillerman-swept")).unwrap();
    put(&world, &json!({"cleanupPeriodDays": 7}));
    run(&[]).await;
    assert!(!old.exists());
    assert_eq!(world.transcripts().len(), 3, "new sessions stay");
}
