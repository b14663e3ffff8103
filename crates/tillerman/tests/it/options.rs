//! Every option about models, permissions and sessions does what its description says.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use tillerman::message::{ResultSubtype, Usage};
use tillerman::options::{SystemPrompt, ToolSet};
use tillerman::testing::{fault, response, script};
use tillerman::{Client, ErrorKind, Message, Options, Permission, PermissionMode};

use crate::world::{Way, World, over_every_transport, result, say, tool_results, within};

over_every_transport![
    option_additional_directories,
    option_allow_dangerously_skip_permissions,
    option_allowed_tools,
    option_betas,
    option_can_use_tool,
    option_continue,
    option_disallowed_tools,
    option_enable_file_checkpointing,
    option_fallback_model,
    option_fork_session,
    option_hooks,
    option_max_budget_usd,
    option_max_thinking_tokens,
    option_max_turns,
    option_model,
    option_output_format,
    option_permission_mode,
    option_resume,
    option_resume_session_at,
    option_system_prompt,
    option_tools,
];

fn run(command: &str) -> tillerman::testing::Response {
    response().tool_call("Bash", json!({"command": command}))
}

async fn option_additional_directories(way: Way) {
    let world = World::new(way, script()).await;
    let other = world.path("home").join("other");
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join("note.txt"), "found me").unwrap();
    let read = response().tool_call("Read", json!({"file_path": other.join("note.txt")}));
    let script = script()
        .reply(read.clone())
        .reply(response().text("done"))
        .reply(read)
        .reply(response().text("done"));
    let server = tillerman::testing::ScriptedServer::start(script).await;
    let options = world.options().env("ANTHROPIC_BASE_URL", server.url());
    let messages = world.ask("read it", options.clone()).await;
    assert!(!tool_results(&messages)[0].contains("found me"), "{messages:?}");
    let messages = world.ask("read it", options.additional_directory(&other)).await;
    assert!(tool_results(&messages)[0].contains("found me"), "{messages:?}");
}

async fn option_allow_dangerously_skip_permissions(way: Way) {
    let script = script().reply(run("touch made")).reply(response().text("done"));
    let world = World::new(way, script).await;
    let options = world.options().permission_mode(PermissionMode::BypassPermissions);
    let refused = world.answer("go", options.clone()).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidOptions);
    world.ask("go", options.allow_dangerously_skip_permissions()).await;
    assert!(world.file("made").exists());
}

async fn option_allowed_tools(way: Way) {
    let script = script()
        .reply(run("touch made"))
        .reply(run("touch not-made"))
        .reply(response().text("done"));
    let world = World::new(way, script).await;
    world.ask("go", world.options().allowed_tools(["Bash(touch made)"])).await;
    assert!(world.file("made").exists());
    assert!(!world.file("not-made").exists());
}

async fn option_betas(way: Way) {
    let world = World::new(way, script().reply(response().text("hi"))).await;
    world.ask("hello", world.options().beta("context-1m-2025-08-07")).await;
    let request = world.server.single_request();
    let betas = request.header("anthropic-beta").unwrap_or_default();
    assert!(betas.contains("context-1m-2025-08-07"), "{betas}");
}

async fn option_can_use_tool(way: Way) {
    let script = script()
        .reply(run("touch made"))
        .reply(run("touch denied"))
        .reply(run("touch other"))
        .reply(response().text("done"));
    let world = World::new(way, script).await;
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&asked);
    let options = world.options().can_use_tool(move |call| {
        counter.fetch_add(1, Ordering::SeqCst);
        async move {
            assert_eq!(call.tool_name, "Bash");
            match call.input["command"].as_str().unwrap() {
                "touch made" => Permission::allow(),
                "touch other" => Permission::allow_with(json!({"command": "touch changed"})),
                _ => Permission::deny("not that one"),
            }
        }
    });
    let messages = world.ask("go", options).await;
    assert_eq!(asked.load(Ordering::SeqCst), 3);
    assert!(world.file("made").exists() && world.file("changed").exists());
    assert!(!world.file("denied").exists() && !world.file("other").exists());
    assert!(tool_results(&messages)[1].contains("not that one"));
    assert_eq!(result(&messages).permission_denials.len(), 1);
}

async fn option_continue(way: Way) {
    let script = script().reply(response().text("first")).reply(response().text("second"));
    let world = World::new(way, script).await;
    let first = world.answer("remember", world.options()).await.unwrap();
    let second = world.answer("and now", world.options().continue_conversation()).await.unwrap();
    assert_eq!(first.session_id(), second.session_id());
    assert!(world.server.request(1).user_text().contains("remember"));
}

async fn option_disallowed_tools(way: Way) {
    let world = World::new(way, script().reply(response().text("hi"))).await;
    let messages = world.ask("hello", world.options().disallowed_tools(["Bash"])).await;
    let tools = &messages.iter().find_map(Message::as_init).unwrap().tools;
    assert!(!tools.contains(&"Bash".to_owned()) && tools.contains(&"Read".to_owned()));
}

async fn option_enable_file_checkpointing(way: Way) {
    let script = script().reply(run("echo new > a.txt")).reply(response().text("done"));
    let world = World::new(way, script).await;
    world.write("a.txt", "old");
    let options = world.options().enable_file_checkpointing().allow_tool("Bash");
    let mut client = world.connect(options).await;
    let prompt = client.send("change it").await.unwrap();
    within(client.answer()).await.unwrap();
    assert_eq!(std::fs::read_to_string(world.file("a.txt")).unwrap(), "new\n");
    assert!(client.rewind_files(&prompt).await.unwrap().can_rewind);
    assert_eq!(std::fs::read_to_string(world.file("a.txt")).unwrap(), "old");
}

async fn option_fallback_model(way: Way) {
    let script = script()
        .reply(fault::status(529).says_do_not_retry())
        .reply(response().text("from the other").moves_prefix("another model"));
    let world = World::new(way, script).await;
    let answer = world.answer("hello", world.options().fallback_model("claude-haiku-4-5")).await;
    assert_eq!(answer.unwrap().text, "from the other");
    assert_eq!(world.server.request(1).model(), "claude-haiku-4-5");
}

async fn option_fork_session(way: Way) {
    let script = script().reply(response().text("first")).reply(response().text("second"));
    let world = World::new(way, script).await;
    let first = world.answer("remember", world.options()).await.unwrap();
    let options = world.options().resume(first.session_id().as_str()).fork_session();
    let second = world.answer("and now", options).await.unwrap();
    assert_ne!(first.session_id(), second.session_id());
    assert!(world.server.request(1).user_text().contains("remember"));
    let lonely = world.answer("x", world.options().fork_session()).await.unwrap_err();
    assert_eq!(lonely.kind(), ErrorKind::InvalidOptions);
}

async fn option_hooks(way: Way) {
    use tillerman::callback::{PreToolUse, ToolAnswer};
    let script = script().reply(run("touch made")).reply(response().text("done"));
    let world = World::new(way, script).await;
    let options = world
        .options()
        .allow_tool("Bash")
        .hook("Bash", async |_: PreToolUse| ToolAnswer::deny("the hook says no"));
    let messages = world.ask("go", options).await;
    assert!(tool_results(&messages)[0].contains("the hook says no"));
    assert!(!world.file("made").exists());
}

async fn option_max_budget_usd(way: Way) {
    let usage = Usage { input_tokens: 100_000, output_tokens: 1000, ..Usage::default() };
    let script = script()
        .reply(run("echo hi").usage(usage.clone()))
        .reply(response().text("too late").usage(usage));
    let world = World::new(way, script).await;
    let options = world.options().max_budget_usd(0.05).allow_tool("Bash");
    let messages = world.ask("go", options).await;
    assert_eq!(result(&messages).subtype, ResultSubtype::ErrorMaxBudgetUsd);
    let zero = world.answer("go", world.options().max_budget_usd(0.0)).await.unwrap_err();
    assert_eq!(zero.kind(), ErrorKind::InvalidOptions);
}

async fn option_max_thinking_tokens(way: Way) {
    let world = World::new(way, script().reply(response().text("hi"))).await;
    world.ask("hello", world.options().max_thinking_tokens(2048)).await;
    let thinking = world.server.single_request().body["thinking"].clone();
    assert_eq!(thinking["budget_tokens"], 2048, "{thinking}");
}

async fn option_max_turns(way: Way) {
    let script = script().reply(run("echo one")).reply(run("echo two"));
    let world = World::new(way, script).await;
    let options = world.options().max_turns(2).allow_tool("Bash");
    let error = world.answer("go", options).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::MaxTurns);
    assert_eq!(error.result().unwrap().subtype, ResultSubtype::ErrorMaxTurns);
}

async fn option_model(way: Way) {
    let world = World::new(way, script().reply(response().text("hi"))).await;
    world.ask("hello", world.options().model("claude-opus-4-6")).await;
    assert_eq!(world.server.single_request().model(), "claude-opus-4-6");
}

async fn option_output_format(way: Way) {
    let script = script().reply(response().tool_call("StructuredOutput", json!({"age": 7})));
    let world = World::new(way, script).await;
    let schema = json!({
        "type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"],
    });
    let answer = world.answer("how old?", world.options().output_format(schema)).await.unwrap();
    assert_eq!(answer.structured_output, Some(json!({"age": 7})));
}

async fn option_permission_mode(way: Way) {
    let write = json!({"file_path": "made.txt", "content": "x"});
    let script =
        script().reply(response().tool_call("Write", write)).reply(response().text("done"));
    let world = World::new(way, script).await;
    let options = world.options().permission_mode(PermissionMode::AcceptEdits);
    let messages = world.ask("go", options).await;
    let init = messages.iter().find_map(Message::as_init).unwrap();
    assert_eq!(init.permission_mode, PermissionMode::AcceptEdits);
    assert!(world.file("made.txt").exists(), "{:?}", tool_results(&messages));
}

async fn option_resume(way: Way) {
    let script = script().reply(response().text("first")).reply(response().text("second"));
    let world = World::new(way, script).await;
    let first = world.answer("remember", world.options()).await.unwrap();
    let id = first.session_id().as_str();
    let second = world.answer("and now", world.options().resume(id)).await.unwrap();
    assert_eq!(second.session_id().as_str(), id);
    assert!(world.server.request(1).user_text().contains("remember"));
    let unknown = world.options().resume("6ba7b810-9dad-41d1-80b4-00c04fd430c8");
    let error = world.answer("x", unknown).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::SessionNotFound, "{error}");
}

async fn option_resume_session_at(way: Way) {
    let script = script()
        .reply(response().text("one"))
        .reply(response().text("two"))
        .reply(response().text("three").moves_prefix("resumed in the middle"));
    let world = World::new(way, script).await;
    let mut client = world.connect(world.options()).await;
    let first = say(&mut client, "first question").await;
    say(&mut client, "second question").await;
    client.close().await.unwrap();
    let at = first.iter().find_map(|message| match message {
        Message::Assistant(frame) => Some(frame.uuid.clone()),
        _ => None,
    });
    let id = result(&first).session_id;
    let options = world.options().resume(id.as_str()).resume_session_at(at.unwrap().as_str());
    world.ask("third question", options).await;
    let told = world.server.request(2).user_text();
    assert!(told.contains("first question") && !told.contains("second question"), "{told}");
}

async fn option_system_prompt(way: Way) {
    let script = (0..3).fold(script(), |script, _| script.reply(response().text("hi")));
    let world = World::new(way, script).await;
    world.ask("hello", world.options().system_prompt("You are a pirate.")).await;
    let preset = SystemPrompt::preset_with("You are a pirate too.");
    world.ask("hello", world.options().system_prompt(preset)).await;
    world.ask("hello", world.options()).await;
    assert!(world.server.request(0).system_text().contains("You are a pirate."));
    let preset = world.server.request(1).system_text();
    assert!(preset.contains("You are a pirate too.") && preset.len() > 500, "{preset}");
    assert!(!world.server.request(2).system_text().contains("pirate"));
}

async fn option_tools(way: Way) {
    let script = script().reply(response().text("one")).reply(response().text("two"));
    let world = World::new(way, script).await;
    let messages = world.ask("hello", world.options().tools(["Read", "Grep"])).await;
    let init = messages.iter().find_map(Message::as_init).unwrap();
    let mut tools = init.tools.clone();
    tools.sort_unstable();
    assert_eq!(tools, ["Grep", "Read"]);
    world.ask("hello", world.options().tools(ToolSet::None)).await;
    assert_eq!(world.server.request(1).tool_names(), [] as [&str; 0]);
}

#[tokio::test]
async fn options_that_contradict_each_other_are_refused_before_anything_starts() {
    let wrong = [
        Options::new().resume_session_at("x"),
        Options::new().fork_session(),
        Options::new().max_turns(0),
        Options::new().resume("a").session_id("b"),
        Options::new()
            .permission_prompt_tool("mcp__a__b")
            .can_use_tool(async |_| Permission::allow()),
    ];
    for options in wrong {
        let error = Client::connect(options.path_to_executable("/bin/true")).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidOptions, "{error}");
        assert!(error.to_string().contains("nothing was started"), "{error}");
    }
}
