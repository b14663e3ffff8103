//! Every option about surroundings and extensions does what its description says.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use tillerman::options::{AgentDefinition, SandboxSettings, SettingSource, Settings};
use tillerman::testing::{Gate, response, script};
use tillerman::tools::Tool;
use tillerman::transport::{Runtime, Subprocess};
use tillerman::{ControlBody, ErrorKind, Message, create_mcp_server, query};

use crate::world::{
    Way, World, collect, drives_tillerman, over_every_transport, program, result, tool_results,
    within,
};

over_every_transport![
    option_abort_controller,
    option_agents,
    option_cwd,
    option_env,
    option_executable,
    option_include_partial_messages,
    option_mcp_servers,
    option_path_to_claude_code_executable,
    option_plugins,
    option_sandbox,
    option_setting_sources,
    option_settings,
    option_stderr,
];

fn run(command: &str) -> tillerman::testing::Response {
    response().tool_call("Bash", json!({"command": command}))
}

async fn option_abort_controller(way: Way) {
    let gate = Gate::new();
    let world = World::new(way, script().reply(response().text("late").hold_before(&gate))).await;
    let token = tokio_util::sync::CancellationToken::new();
    let asking = collect(query("hello", world.options().cancel_with(token.clone())));
    let cancelling = async {
        world.server.wait_for_requests(1).await;
        token.cancel();
    };
    let (messages, ()) = within(async { tokio::join!(asking, cancelling) }).await;
    let error = messages.into_iter().find_map(Result::err).unwrap();
    assert_eq!(error.kind(), ErrorKind::Cancelled);
}

async fn option_agents(way: Way) {
    let input = json!({
        "subagent_type": "poet", "description": "a poem", "prompt": "write a poem",
        "run_in_background": false,
    });
    let script = script()
        .reply_when("ask the poet", response().tool_call("Agent", input))
        .reply_when("write a poem", response().text("a rose"))
        .reply(response().text("the poet says: a rose"));
    let world = World::new(way, script).await;
    let poet = AgentDefinition {
        description: "writes poems".to_owned(),
        prompt: "You are a poet of few words.".to_owned(),
        ..AgentDefinition::default()
    };
    let messages = world.ask("ask the poet", world.options().agent("poet", poet)).await;
    assert_eq!(result(&messages).result.unwrap(), "the poet says: a rose");
    let told = world.server.request(1).system_text();
    assert!(told.contains("You are a poet of few words."), "{told}");
}

async fn option_cwd(way: Way) {
    let script = script().reply(run("pwd")).reply(response().text("done"));
    let world = World::new(way, script).await;
    let messages = world.ask("where", world.options().allow_tool("Bash(pwd)")).await;
    let cwd = world.path("work").to_string_lossy().into_owned();
    assert_eq!(messages.iter().find_map(Message::as_init).unwrap().cwd, cwd);
    assert_eq!(tool_results(&messages)[0].trim(), cwd);
}

async fn option_env(way: Way) {
    let script = script().reply(run("echo $FLAVOR")).reply(response().text("done"));
    let world = World::new(way, script).await;
    let options = world.options().env("FLAVOR", "vanilla").allow_tool("Bash");
    let messages = world.ask("which", options).await;
    assert_eq!(tool_results(&messages)[0].trim(), "vanilla");
}

async fn option_executable(way: Way) {
    let world = World::new(way, script().reply(response().text("hi"))).await;
    // A runtime that passes everything on to the program behind the script.
    let folder = world.path("home");
    let text = format!("#!/bin/sh\nshift\nexec {} \"$@\"\n", program().display());
    std::fs::write(folder.join("bun"), text).unwrap();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(folder.join("bun"), executable).unwrap();
    let path = format!("{}:/usr/bin:/bin", folder.display());
    let options = world.surroundings().env("PATH", path).executable(Runtime::Bun);
    let options = options.path_to_executable("cli.js");
    match way {
        Way::Subprocess => {
            let options = options.transport(Subprocess::new());
            assert_eq!(world.answer("hello", options).await.unwrap().text, "hi");
        }
        Way::InProcess | Way::WebSocket => {
            let options = world.options().executable(Runtime::Bun);
            let error = world.answer("hello", options).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unsupported);
        }
    }
}

async fn option_include_partial_messages(way: Way) {
    let reply = response().text("piece by piece").delta_chars(5);
    let world = World::new(way, script().reply(reply.clone()).reply(reply)).await;
    let messages = world.ask("hello", world.options().include_partial_messages()).await;
    let pieces: Vec<&str> = messages.iter().filter_map(Message::text_delta).collect();
    assert_eq!(pieces.concat(), "piece by piece");
    assert!(pieces.len() > 1);
    let whole = world.ask("hello", world.options()).await;
    assert!(!whole.iter().any(|message| matches!(message, Message::StreamEvent(_))));
}

async fn option_mcp_servers(way: Way) {
    let script = script()
        .reply(response().tool_call("mcp__shop__price", json!({"of": "tea"})))
        .reply(response().text("it costs 3"));
    let world = World::new(way, script).await;
    let schema = json!({"type": "object", "properties": {"of": {"type": "string"}}});
    let price =
        Tool::with_schema("price", "What something costs.", schema, |input, _| async move {
            format!("{} costs 3", input["of"].as_str().unwrap())
        });
    let server = create_mcp_server("shop", "1.0.0", [price]).unwrap();
    let options = world.options().mcp_server("shop", server).allow_tool("mcp__shop__price");
    let messages = world.ask("how much is tea?", options).await;
    assert_eq!(tool_results(&messages), ["tea costs 3"]);
}

async fn option_path_to_claude_code_executable(way: Way) {
    let world = World::new(way, script().reply(response().text("hi"))).await;
    if way != Way::Subprocess {
        let options = world.options().path_to_executable(program());
        let error = world.answer("hello", options).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        return;
    }
    let options = world.surroundings().path_to_executable(program());
    assert_eq!(world.answer("hello", options).await.unwrap().text, "hi");
    let missing = world.surroundings().path_to_executable("/nowhere/tillerman");
    let error = world.answer("hello", missing).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
}

async fn option_plugins(way: Way) {
    let world = World::new(way, script()).await;
    let plugin = world.path("home").join("greeter");
    for (name, text) in [
        (".claude-plugin/plugin.json", r#"{"name": "greeter", "version": "1.0.0"}"#),
        ("commands/greet.md", "---\ndescription: greets\n---\nSay hello.\n"),
    ] {
        std::fs::create_dir_all(plugin.join(name).parent().unwrap()).unwrap();
        std::fs::write(plugin.join(name), text).unwrap();
    }
    let client = world.connect(world.options().plugin(&plugin)).await;
    let commands = client.supported_commands().await.unwrap();
    let names: Vec<&str> = commands.iter().map(|command| command.name.as_str()).collect();
    assert!(names.iter().any(|name| name.contains("greet")), "{names:?}");
}

async fn option_sandbox(way: Way) {
    let world = World::new(way, script()).await;
    let sandbox = SandboxSettings {
        enabled: Some(true),
        excluded_commands: vec!["docker".to_owned()],
        ..SandboxSettings::default()
    };
    let client = world.connect(world.options().sandbox(sandbox)).await;
    let settings = client.request(ControlBody::GetSettings).await.unwrap();
    let text = settings.to_string();
    assert!(text.contains("docker"), "{text}");
}

async fn option_setting_sources(way: Way) {
    let script = script().reply(response().text("one")).reply(response().text("two"));
    let world = World::new(way, script).await;
    world.write("CLAUDE.md", "The password is swordfish.");
    world.ask("hello", world.options()).await;
    world.ask("hello", world.options().setting_sources([SettingSource::Project])).await;
    let knows = |number: usize| {
        world.server.request(number).body.to_string().contains("The password is swordfish.")
    };
    assert!(!knows(0) && knows(1));
}

async fn option_settings(way: Way) {
    let script = script().reply(run("touch made")).reply(response().text("done"));
    let world = World::new(way, script).await;
    let settings = json!({"permissions": {"allow": ["Bash(touch made)"]}});
    let settings = Settings::Json(settings.as_object().unwrap().clone());
    world.ask("go", world.options().settings(settings)).await;
    assert!(world.file("made").exists());
}

async fn option_stderr(way: Way) {
    let world = World::new(way, script().reply(response().text("hi"))).await;
    let lines = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&lines);
    // The official program writes to a file otherwise.
    let wordy = if drives_tillerman() { "debug" } else { "debug-to-stderr" };
    let options = world.options().extra_arg(wordy, None).stderr(move |line| {
        assert!(!line.is_empty());
        counter.fetch_add(1, Ordering::SeqCst);
    });
    match way {
        Way::Subprocess => {
            world.ask("hello", options).await;
            assert!(lines.load(Ordering::SeqCst) > 0);
        }
        Way::InProcess | Way::WebSocket => {
            let error = world.answer("hello", options).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unsupported);
        }
    }
}
