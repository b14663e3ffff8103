//! Commands, skills, agents, styles and plugins of files, through the binary.

use serde_json::{Value, json};
use tillerman_testkit::{ScriptedServer, response, script};

use crate::harness::{Agent, FRAMES_OUT, World, tool_result_texts};

fn put(world: &World, name: &str, text: &str) {
    let path = world.path(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// One answer to one prompt on the command line.
async fn ask(world: &World, server: &ScriptedServer, arguments: &[&str]) -> Vec<Value> {
    let launch = world.tillerman().asks(server).args(FRAMES_OUT).args(arguments.iter().copied());
    let finished = launch.run().await;
    finished.assert_code(0).assert_no_panic();
    finished.frames()
}

fn init(frames: &[Value]) -> &Value {
    frames.iter().find(|frame| frame["subtype"] == "init").unwrap()
}

fn result(frames: &[Value]) -> &str {
    frames.iter().rfind(|frame| frame["type"] == "result").unwrap()["result"].as_str().unwrap()
}

async fn nobody() -> ScriptedServer {
    ScriptedServer::start(script()).await
}

#[tokio::test]
async fn a_command_of_the_project_is_sent_with_its_arguments() {
    let world = World::new();
    put(&world, "work/.claude/commands/fix.md", "---\ndescription: Fix it\n---\nFix $0 in @a.txt");
    put(&world, "work/a.txt", "the contents");
    let server = ScriptedServer::start(script().reply(response().text("Fixed."))).await;
    let frames = ask(&world, &server, &["/fix bug-7"]).await;
    assert_eq!(result(&frames), "Fixed.");
    let said = server.single_request().body.to_string();
    assert!(said.contains("Fix bug-7 in @a.txt") && said.contains("the contents"), "{said}");
    assert!(init(&frames)["slash_commands"].as_array().unwrap().contains(&json!("fix")));
}

#[tokio::test]
async fn what_is_no_command_is_answered_or_passed_on() {
    let world = World::new();
    put(&world, "config/commands/release.md", "Release");
    let frames = ask(&world, &nobody().await, &["/relaese"]).await;
    let expected = "Unknown command: /relaese. Did you mean /release? /help lists the commands that \
                    work here.";
    assert_eq!(result(&frames), expected);
    let help = ask(&world, &nobody().await, &["/help"]).await;
    assert!(result(&help).contains("/release: Release (user)"), "{}", result(&help));
    let server = ScriptedServer::start(script().reply(response().text("A folder."))).await;
    assert_eq!(result(&ask(&world, &server, &["/tmp is full"]).await), "A folder.");
    let server = ScriptedServer::start(script().reply(response().text("No idea."))).await;
    assert_eq!(result(&ask(&world, &server, &["/frobnicate now"]).await), "No idea.");
}

#[tokio::test]
async fn commands_are_answered_in_a_message_and_have_other_names() {
    let world = World::new();
    let frames = ask(&world, &nobody().await, &["/usage"]).await;
    let said = frames.iter().find(|frame| frame["type"] == "assistant").unwrap();
    assert_eq!(said["message"]["model"], "<synthetic>");
    let text = said["message"]["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("Total cost"), "{text}");
    assert_eq!(result(&frames), text);
    let frames = ask(&world, &nobody().await, &["/rename Harbour"]).await;
    let titled = frames.iter().find(|frame| frame["subtype"] == "session_title_changed");
    assert_eq!(titled.unwrap()["title"], "Harbour");
    let frames = ask(&world, &nobody().await, &["/reset"]).await;
    assert!(frames.iter().any(|frame| frame["type"] == "conversation_reset"));
}

#[tokio::test]
async fn programs_of_the_user_run_and_those_of_a_project_do_not() {
    let world = World::new();
    let text = "---\nallowed-tools: Bash(touch:*)\n---\n!`touch made` It is made.";
    put(&world, "config/commands/mine.md", text);
    put(&world, "work/.claude/commands/theirs.md", text);
    let frames = ask(&world, &nobody().await, &["/theirs"]).await;
    assert!(result(&frames).contains("a project that is not trusted"), "{}", result(&frames));
    assert!(!world.file("made").exists());
    let server = ScriptedServer::start(script().reply(response().text("Seen."))).await;
    assert_eq!(result(&ask(&world, &server, &["/mine"]).await), "Seen.");
    assert!(world.file("made").exists());
}

#[tokio::test]
async fn a_program_that_no_rule_allows_does_not_run() {
    let world = World::new();
    put(&world, "config/commands/mine.md", "!`touch made`");
    let frames = ask(&world, &nobody().await, &["/mine"]).await;
    assert!(result(&frames).contains("is not allowed in advance"), "{}", result(&frames));
    assert!(!world.file("made").exists());
}

#[tokio::test]
async fn the_model_loads_a_skill() {
    let world = World::new();
    let head = "---\ndescription: How to bake\n---\n";
    put(&world, "config/skills/bake/SKILL.md", &format!("{head}Heat to $0 degrees."));
    put(&world, "config/skills/secret/SKILL.md", "---\ndisable-model-invocation: true\n---\nNo.");
    let call = |skill: &str| response().tool_call("Skill", json!({"skill": skill, "args": "200"}));
    let replies =
        script().reply(call("bake")).reply(call("secret")).reply(response().text("Done."));
    let server = ScriptedServer::start(replies).await;
    let frames = ask(&world, &server, &["Bake bread"]).await;
    let results = tool_result_texts(&frames);
    assert!(results[0].contains("Heat to 200 degrees."), "{results:?}");
    assert!(results[0].contains("skills/bake"), "{results:?}");
    assert!(results[1].contains("Only the user may start secret"), "{results:?}");
    let tools = init(&frames)["tools"].as_array().unwrap();
    assert!(tools.contains(&json!("Skill")));
    assert_eq!(init(&frames)["skills"], json!(["bake"]));
    let first = server.requests()[0].body.to_string();
    assert!(first.contains("- bake: How to bake") && !first.contains("- secret"), "{first}");
}

#[tokio::test]
async fn without_skills_there_is_no_tool_for_them() {
    let world = World::new();
    put(&world, "config/skills/bake/SKILL.md", "Bake.");
    let has_tool =
        |frames: &[Value]| init(frames)["tools"].as_array().unwrap().contains(&json!("Skill"));
    assert!(has_tool(&ask(&world, &nobody().await, &["/cost"]).await));
    for off in [
        &["--disable-slash-commands", "/cost"][..],
        &["--setting-sources", "", "/cost"],
        &["--disallowedTools", "Skill", "--", "/cost"],
    ] {
        assert!(!has_tool(&ask(&world, &nobody().await, off).await), "{off:?}");
    }
}

async fn hello(agent: &mut Agent) -> Value {
    let request = json!({"subtype": "initialize", "hooks": null});
    agent.send(json!({"type": "control_request", "request_id": "hello", "request": request})).await;
    let answer = agent.frame("an answer", |frame| frame["type"] == "control_response").await;
    answer["response"]["response"].clone()
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn hosts_are_told_what_there_is_and_what_is_new() {
    let world = World::new();
    let agent_file =
        "---\nname: critic\ndescription: Finds faults\nmodel: haiku\n---\nFind faults.";
    put(&world, "work/.claude/agents/critic.md", agent_file);
    put(&world, "p/.claude-plugin/plugin.json", r#"{"name": "garden"}"#);
    put(&world, "p/commands/water.md", "---\nargument-hint: \"[plant]\"\n---\nWater $0");
    put(&world, "config/output-styles/curt.md", "---\nname: Curt\n---\nBe curt.");
    put(&world, "config/settings.json", r#"{"outputStyle": "Curt"}"#);
    let plugin = world.path("p").display().to_string();
    let launch = world.tillerman().asks(&nobody().await).args(["--plugin-dir", plugin.as_str()]);
    let mut agent = launch.start();
    let greeting = hello(&mut agent).await;
    assert!(names(&greeting["commands"]).contains(&"garden:water"));
    let critic = json!({"name": "critic", "description": "Finds faults", "model": "haiku"});
    assert!(greeting["agents"].as_array().unwrap().contains(&critic), "{greeting}");
    assert_eq!(greeting["output_style"], "Curt");
    assert!(greeting["available_output_styles"].as_array().unwrap().contains(&json!("Curt")));
    put(&world, "config/commands/fresh.md", "Fresh");
    let request = json!({"subtype": "reload_skills"});
    agent.send(json!({"type": "control_request", "request_id": "r", "request": request})).await;
    let answer = agent.frame("an answer", |frame| frame["type"] == "control_response").await;
    assert!(names(&answer["response"]["response"]["commands"]).contains(&"fresh"), "{answer}");
    agent.prompt("/cost").await;
    let init = agent.frame("init", |frame| frame["subtype"] == "init").await;
    assert!(init["slash_commands"].as_array().unwrap().contains(&json!("fresh")));
    assert!(init["agents"].as_array().unwrap().contains(&json!("critic")), "{init}");
    assert_eq!(init["output_style"], "Curt");
    assert_eq!(
        init["plugins"],
        json!([{"name": "garden", "path": plugin, "source": "garden@inline"}])
    );
    agent.result().await;
    agent.finish().await.0.assert_code(0);
}

#[tokio::test]
async fn a_broken_file_is_reported_and_stops_nothing() {
    let world = World::new();
    put(&world, "work/.claude/agents/bad.md", "---\ndescription: nameless\n---\n");
    let launch = world.tillerman().asks(&nobody().await).args(FRAMES_OUT).args(["/cost"]);
    let finished = launch.run().await;
    finished.assert_code(0).assert_stderr("bad.md:1: the head has no name");
    let frames = finished.frames();
    assert!(init(&frames)["plugin_errors"][0]["message"].as_str().unwrap().contains("bad.md:1"));
}

#[tokio::test]
async fn a_cleared_conversation_is_stored_as_another() {
    let world = World::new();
    let replies = script().reply(response().text("One.")).reply(response().text("Two."));
    let server = ScriptedServer::start(replies).await;
    let mut agent = world.tillerman().asks(&server).start();
    agent.prompt("one").await;
    let old = agent.result().await["session_id"].clone();
    agent.prompt("/clear").await;
    let new = agent.result().await["session_id"].clone();
    assert_ne!(old, new);
    agent.prompt("two").await;
    assert_eq!(agent.result().await["session_id"], new);
    agent.finish().await.0.assert_code(0);
    let mut stored: Vec<String> = world
        .transcripts()
        .iter()
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    stored.sort();
    let mut expected = [old.as_str().unwrap(), new.as_str().unwrap()];
    expected.sort_unstable();
    assert_eq!(stored, expected);
}
