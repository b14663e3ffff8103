//! Events are published once each, in order, and subscribers cannot break a run.

use std::sync::{Arc, Mutex};

use serde_json::json;
use tillerman::events::{Event, EventBus};
use tillerman::testing::{response, script};

use crate::world::{Way, World, over_every_transport};

over_every_transport![
    prompts_tools_and_results_are_published,
    a_subscriber_that_panics_breaks_nothing,
];

fn work() -> tillerman::testing::ScriptBuilder {
    let both = response()
        .tool_call_with_id("toolu_a", "Bash", json!({"command": "echo one"}))
        .tool_call_with_id("toolu_b", "Bash", json!({"command": "exit 3"}));
    script().reply(both).reply(response().text("done"))
}

async fn prompts_tools_and_results_are_published(way: Way) {
    let world = World::new(way, work()).await;
    let bus = EventBus::new();
    let events = Arc::new(Mutex::new(Vec::new()));
    let noting = Arc::clone(&events);
    let subscription = bus.subscribe(move |event| noting.lock().unwrap().push(event.clone()));
    world.ask("go", world.options().allow_tool("Bash").events(&bus)).await;
    drop(subscription);
    let events = events.lock().unwrap();
    let [Event::PromptRendered(prompt), tools @ .., Event::PromptExecuted(end)] = &events[..]
    else {
        panic!("{events:#?}");
    };
    assert_eq!(prompt.text, "go");
    assert_eq!((end.output.as_str(), end.is_error), ("done", false));
    assert_eq!(end.usage.output_tokens, 10);
    let mut calls: Vec<(&str, bool)> = tools
        .iter()
        .map(|event| match event {
            Event::ToolInvoked(tool) => (tool.call_id.as_str(), tool.is_error),
            other => panic!("{other:?}"),
        })
        .collect();
    calls.sort_unstable();
    assert_eq!(calls, [("toolu_a", false), ("toolu_b", true)]);
}

async fn a_subscriber_that_panics_breaks_nothing(way: Way) {
    let world = World::new(way, work()).await;
    let bus = EventBus::new();
    let count = Arc::new(Mutex::new(0));
    let _breaks = bus.subscribe(|_| panic!("a broken subscriber"));
    let counting = Arc::clone(&count);
    let _counts = bus.subscribe(move |_| *counting.lock().unwrap() += 1);
    let options = world.options().allow_tool("Bash").events(&bus);
    assert_eq!(world.answer("go", options).await.unwrap().text, "done");
    assert_eq!(*count.lock().unwrap(), 4);
}
