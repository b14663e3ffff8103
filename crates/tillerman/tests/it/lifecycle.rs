//! When sessions end, and that nothing is lost before they do.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::StreamExt as _;
use serde_json::json;
use tillerman::testing::{Gate, response, script};
use tillerman::{Message, Permission, Prompt, query};

use crate::world::{Way, World, collect, over_every_transport, tool_results, within};

over_every_transport![
    callbacks_are_answered_after_the_prompt_was_sent,
    a_background_agent_keeps_the_query_open_and_its_result_is_delivered,
    prompts_sent_together_are_all_answered,
    a_query_that_is_dropped_leaves_no_process,
    requests_are_answered_while_nobody_reads_messages,
    pictures_and_long_texts_travel,
    ending_the_input_lets_the_session_finish,
];

async fn callbacks_are_answered_after_the_prompt_was_sent(way: Way) {
    let script = (0..3).fold(script(), |script, number| {
        script.reply(response().tool_call("Bash", json!({"command": format!("touch {number}")})))
    });
    let world = World::new(way, script.reply(response().text("done"))).await;
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&asked);
    let options = world.options().can_use_tool(move |_| {
        counter.fetch_add(1, Ordering::SeqCst);
        async { Permission::allow() }
    });
    world.ask("go", options).await;
    assert_eq!(asked.load(Ordering::SeqCst), 3);
}

async fn a_background_agent_keeps_the_query_open_and_its_result_is_delivered(way: Way) {
    let gate = Gate::new();
    let input = json!({
        "subagent_type": "general-purpose",
        "description": "research",
        "prompt": "look into the archive",
        "run_in_background": true,
    });
    let ask = response().tool_call("Bash", json!({"command": "touch from-agent"}));
    let script = script()
        .reply_when("look into the archive", ask.hold_before(&gate))
        .reply_when("look into the archive", response().text("found it"))
        .reply(response().tool_call("Agent", input))
        .reply(response().text("it is under way"))
        .reply(response().text("the agent found it"));
    let world = World::new(way, script).await;
    let options = world.options().can_use_tool(async |_| Permission::allow());
    let mut messages = query("research this", options);
    let mut results = Vec::new();
    let mut all = Vec::new();
    while let Some(message) = within(messages.next()).await {
        let message = message.unwrap();
        if let Some(result) = message.as_result() {
            results.push(result.result.clone().unwrap_or_default());
            gate.open();
        }
        all.push(message);
    }
    assert_eq!(results, ["it is under way", "the agent found it"], "{all:#?}");
    // Its permission question was answered although the first result had come.
    assert!(world.file("from-agent").exists());
}

async fn prompts_sent_together_are_all_answered(way: Way) {
    let script = tillerman::testing::Script::from_fn(|_| response().text("ok").into());
    let world = World::new(way, script).await;
    let prompts = tillerman::message::Prompts::stream(futures_util::stream::iter([
        Prompt::text("first"),
        Prompt::text("second"),
        Prompt::text("third"),
    ]));
    let messages = collect(query(prompts, world.options())).await;
    let results = messages.into_iter().filter(|message| {
        message.as_ref().is_ok_and(|message| matches!(message, Message::Result(_)))
    });
    assert!(results.count() >= 1);
    let last = world.server.requests().last().unwrap().user_text();
    for prompt in ["first", "second", "third"] {
        assert!(last.contains(prompt), "{last}");
    }
}

async fn a_query_that_is_dropped_leaves_no_process(way: Way) {
    let gate = Gate::new();
    let world = World::new(way, script().reply(response().text("x").hold_before(&gate))).await;
    let options = world.options().close_timeout(std::time::Duration::from_millis(10));
    let mut messages = query("think long", options);
    let reading = async { while messages.next().await.is_some() {} };
    within(async {
        tokio::select! {
            () = reading => panic!("the session ended by itself"),
            () = world.server.wait_for_requests(1) => {}
        }
    })
    .await;
    drop(messages);
    let outcome = world.server.wait_for_outcome(0).await;
    assert_eq!(outcome, tillerman::testing::Outcome::ClientGone);
}

async fn requests_are_answered_while_nobody_reads_messages(way: Way) {
    let text = "word ".repeat(2000);
    let script = script().reply(response().text(text).delta_chars(5)).reply(response().text("x"));
    let world = World::new(way, script).await;
    let mut client = world.connect(world.options().include_partial_messages()).await;
    client.send("say much").await.unwrap();
    world.server.wait_for_outcome(0).await;
    // More than two thousand messages wait by now, and none was taken.
    let usage = within(client.context_usage()).await.unwrap();
    assert!(usage["totalTokens"].is_u64());
    let messages = within(client.receive_response().collect::<Vec<_>>()).await;
    assert!(messages.len() > 2000, "{}", messages.len());
}

async fn pictures_and_long_texts_travel(way: Way) {
    let world = World::new(way, script().reply(response().text("a dot"))).await;
    let text = "x".repeat(3 << 20);
    let prompt = Prompt::text(text.clone()).with_image("image/png", &PNG);
    let messages = within(async { collect(query(prompt, world.options())).await }).await;
    assert!(messages.iter().all(Result::is_ok));
    let body = world.server.single_request().body.to_string();
    assert!(body.contains(&text) && body.contains("image/png"));
}

/// One pixel.
const PNG: [u8; 67] = [
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44, 0x52,
    0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x00, 0x00, 0x00, 0x00, 0x3a, 0x7e, 0x9b,
    0x55, 0x00, 0x00, 0x00, 0x0a, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9c, 0x63, 0x60, 0x00, 0x00, 0x00,
    0x02, 0x00, 0x01, 0x48, 0xaf, 0xa4, 0x71, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae,
    0x42, 0x60, 0x82,
];

async fn ending_the_input_lets_the_session_finish(way: Way) {
    let gate = Gate::new();
    let call = response().tool_call("Bash", json!({"command": "echo finished"}));
    let script = script().reply(call.hold_before(&gate)).reply(response().text("done"));
    let world = World::new(way, script).await;
    let mut client = world.connect(world.options().allow_tool("Bash")).await;
    client.send("go").await.unwrap();
    client.end_input().await.unwrap();
    gate.open();
    let messages = within(client.stream().collect::<Vec<_>>()).await;
    let messages: Vec<Message> = messages.into_iter().map(Result::unwrap).collect();
    assert_eq!(tool_results(&messages)[0].trim(), "finished");
}
