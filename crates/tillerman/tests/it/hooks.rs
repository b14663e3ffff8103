//! Every hook event reaches its callback with what it is about, and its answer counts.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use tillerman::callback::{
    HookEvent, HookMatcher, HookOutput, HookPoint, Notification, Observed, PermissionRequest,
    PermissionRequestAnswer, PostToolUse, PostToolUseFailure, PreCompact, PreToolUse, PromptAnswer,
    SessionEnd, SessionStart, Stop, StopAnswer, SubagentStart, SubagentStop, ToolAnswer,
    ToolReview, UserPromptSubmit,
};
use tillerman::testing::{Response, response, script};
use tillerman::{Client, Options};

use crate::world::{
    Way, World, drives_tillerman, over_every_transport, result, say, tool_results, within,
};

over_every_transport![
    hook_pre_tool_use,
    hook_post_tool_use,
    hook_post_tool_use_failure,
    hook_notification,
    hook_user_prompt_submit,
    hook_session_start,
    hook_session_end,
    hook_stop,
    hook_subagent_start,
    hook_subagent_stop,
    hook_pre_compact,
    hook_permission_request,
    hooks_that_take_too_long_do_not_hold_the_session_up,
    every_other_event_can_be_heard_as_it_comes,
];

fn run(command: &str) -> Response {
    response().tool_call("Bash", json!({"command": command}))
}

/// What hooks have heard.
#[derive(Clone, Debug)]
struct Heard<T>(Arc<Mutex<Vec<T>>>);

impl<T: Clone> Heard<T> {
    fn new() -> Self {
        Self(Arc::default())
    }

    fn note(&self, heard: T) {
        self.0.lock().unwrap().push(heard);
    }

    fn all(&self) -> Vec<T> {
        self.0.lock().unwrap().clone()
    }
}

/// Adds a hook that notes what it hears and has no opinion.
fn listen<P>(options: Options, heard: &Heard<P>) -> Options
where
    P: HookPoint + Clone,
    P::Answer: Default,
{
    let heard = heard.clone();
    options.hook(HookMatcher::all(), move |point: P| {
        heard.note(point);
        async { P::Answer::default() }
    })
}

async fn hook_pre_tool_use(way: Way) {
    let script = script().reply(run("echo one")).reply(response().text("done"));
    let world = World::new(way, script).await;
    let heard = Heard::new();
    let noting = heard.clone();
    let options = world.options().allow_tool("Bash").hook("Bash", move |call: PreToolUse| {
        noting.note(call.tool_input.clone());
        let changed = json!({"command": "echo two"});
        async { ToolAnswer::allow("fine").with_input(changed).with_context("by the way") }
    });
    let messages = world.ask("go", options).await;
    assert_eq!(heard.all(), [json!({"command": "echo one"})]);
    assert_eq!(tool_results(&messages)[0].trim(), "two");
    assert!(world.server.request(1).user_text().contains("by the way"));
}

async fn hook_post_tool_use(way: Way) {
    let script = script().reply(run("echo one")).reply(response().text("done"));
    let world = World::new(way, script).await;
    let options = world.options().allow_tool("Bash").hook("Bash", async |call: PostToolUse| {
        assert_eq!(call.tool_name, "Bash");
        assert!(call.tool_response.to_string().contains("one"), "{}", call.tool_response);
        ToolReview::pass().with_context("seen by the hook")
    });
    world.ask("go", options).await;
    assert!(world.server.request(1).user_text().contains("seen by the hook"));
}

async fn hook_post_tool_use_failure(way: Way) {
    let script = script().reply(run("exit 3")).reply(response().text("done"));
    let world = World::new(way, script).await;
    let heard = Heard::<PostToolUseFailure>::new();
    let options = listen(world.options().allow_tool("Bash"), &heard);
    world.ask("go", options).await;
    let heard = heard.all();
    assert_eq!(heard.len(), 1);
    assert!(!heard[0].error.is_empty() && heard[0].tool_name == "Bash");
}

async fn hook_notification(way: Way) {
    let script = script().reply(run("touch x")).reply(response().text("done"));
    let world = World::new(way, script).await;
    let heard = Heard::<Notification>::new();
    let options = world.options().can_use_tool(async |_| tillerman::Permission::allow());
    world.ask("go", listen(options, &heard)).await;
    let heard = heard.all();
    // The official program notifies nobody where it asks a host.
    if drives_tillerman() {
        assert!(!heard.is_empty() && !heard[0].message.is_empty(), "{heard:?}");
    }
}

async fn hook_user_prompt_submit(way: Way) {
    let world = World::new(way, script().reply(response().text("hi"))).await;
    let options = world.options().hook("", async |prompt: UserPromptSubmit| {
        if prompt.prompt.contains("secret") {
            PromptAnswer::block("no secrets")
        } else {
            PromptAnswer::pass().with_context("the weather is fine")
        }
    });
    let mut client = world.connect(options).await;
    say(&mut client, "hello").await;
    assert!(world.server.request(0).user_text().contains("the weather is fine"));
    say(&mut client, "a secret").await;
    assert_eq!(world.server.requests().len(), 1);
}

async fn hook_session_start(way: Way) {
    let script = script()
        .reply(response().text("hi"))
        .reply(response().text("a summary"))
        .reply(response().text("again").moves_prefix("compacted"));
    let world = World::new(way, script).await;
    let heard = Heard::<SessionStart>::new();
    let mut client = world.connect(listen(world.options(), &heard)).await;
    say(&mut client, "hello").await;
    say(&mut client, "/compact").await;
    let sources: Vec<String> = heard.all().into_iter().map(|start| start.source).collect();
    assert!(sources.contains(&"compact".to_owned()), "{sources:?}");
}

async fn hook_session_end(way: Way) {
    let world = World::new(way, script().reply(response().text("hi"))).await;
    let heard = Heard::<SessionEnd>::new();
    world.ask("hello", listen(world.options(), &heard)).await;
    let heard = heard.all();
    assert_eq!(heard.len(), 1);
    assert!(!heard[0].reason.is_empty());
}

async fn hook_stop(way: Way) {
    let script = script().reply(response().text("done?")).reply(response().text("really done"));
    let world = World::new(way, script).await;
    let options = world.options().hook("", async |stop: Stop| {
        if stop.stop_hook_active { StopAnswer::pass() } else { StopAnswer::go_on("check again") }
    });
    let messages = world.ask("go", options).await;
    assert_eq!(result(&messages).result.unwrap(), "really done");
    assert!(world.server.request(1).user_text().contains("check again"));
}

fn delegation() -> tillerman::testing::ScriptBuilder {
    let input = json!({
        "subagent_type": "general-purpose", "description": "a task", "prompt": "do the task",
        "run_in_background": false,
    });
    script()
        .reply_when("do the task", response().text("task done"))
        .reply(response().tool_call("Agent", input))
        .reply(response().text("all done"))
}

async fn hook_subagent_start(way: Way) {
    let world = World::new(way, delegation()).await;
    let heard = Heard::<SubagentStart>::new();
    world.ask("delegate", listen(world.options(), &heard)).await;
    let heard = heard.all();
    assert_eq!(heard.len(), 1);
    assert_eq!(heard[0].base.agent_type.as_deref(), Some("general-purpose"));
}

async fn hook_subagent_stop(way: Way) {
    let world = World::new(way, delegation()).await;
    let heard = Heard::<SubagentStop>::new();
    world.ask("delegate", listen(world.options(), &heard)).await;
    let heard = heard.all();
    assert_eq!(heard.len(), 1);
    assert_eq!(heard[0].last_assistant_message, "task done");
    assert!(!heard[0].agent_transcript_path.is_empty());
}

async fn hook_pre_compact(way: Way) {
    let script = script().reply(response().text("hi")).reply(response().text("a summary"));
    let world = World::new(way, script).await;
    let heard = Heard::<PreCompact>::new();
    let mut client = world.connect(listen(world.options(), &heard)).await;
    say(&mut client, "hello").await;
    say(&mut client, "/compact keep the names").await;
    let heard = heard.all();
    assert_eq!(heard.len(), 1);
    assert_eq!(heard[0].trigger, "manual");
    assert_eq!(heard[0].custom_instructions.as_deref(), Some("keep the names"));
}

async fn hook_permission_request(way: Way) {
    let script = script().reply(run("touch made")).reply(response().text("done"));
    let world = World::new(way, script).await;
    let options = world.options().hook("", async |request: PermissionRequest| {
        assert_eq!(request.tool_name, "Bash");
        PermissionRequestAnswer::allow()
    });
    world.ask("go", options).await;
    assert!(world.file("made").exists());
}

async fn hooks_that_take_too_long_do_not_hold_the_session_up(way: Way) {
    let script = script().reply(run("touch made")).reply(response().text("done"));
    let world = World::new(way, script).await;
    let matcher = HookMatcher::of("Bash").timeout(Duration::from_millis(50));
    let options = world.options().allow_tool("Bash").hook(matcher, async |_: PreToolUse| {
        std::future::pending::<()>().await;
        ToolAnswer::pass()
    });
    let messages = world.ask("go", options).await;
    assert!(!result(&messages).is_error);
    // A hook that may forbid a call and says nothing has not allowed it.
    assert!(!world.file("made").exists());
}

async fn every_other_event_can_be_heard_as_it_comes(way: Way) {
    let script = script().reply(run("echo one")).reply(response().text("done"));
    let world = World::new(way, script).await;
    let heard = Heard::new();
    let noting = heard.clone();
    let options = world.options().allow_tool("Bash");
    let options = options.hook_raw(HookEvent::PostToolBatch, "", move |input| {
        noting.note(input);
        async { HookOutput::default() }
    });
    let mut client = within(Client::connect(options)).await.unwrap();
    say(&mut client, "go").await;
    assert_eq!(heard.all().len(), 1);
    assert_eq!(Observed::pass(), Observed::default());
}
