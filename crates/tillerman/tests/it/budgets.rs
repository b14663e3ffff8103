//! Deadlines and budgets hold before each tool, with their reasons.

use std::time::Duration;

use serde_json::json;
use tillerman::ErrorKind;
use tillerman::budget::{Budget, Deadline};
use tillerman::message::Usage;
use tillerman::testing::{Response, response, script};

use crate::world::{Way, World, over_every_transport, tool_results};

over_every_transport![
    tools_are_denied_after_the_deadline,
    tools_are_denied_when_the_tokens_are_used_up,
    sessions_share_a_budget,
    dollars_are_counted_too,
];

fn run(command: &str) -> Response {
    response().tool_call("Bash", json!({"command": command}))
}

async fn tools_are_denied_after_the_deadline(way: Way) {
    let script = script().reply(run("touch made")).reply(response().text("out of time"));
    let world = World::new(way, script).await;
    let options = world.options().allow_tool("Bash");
    let deadline = Deadline::after(Duration::from_millis(200));
    let mut client = world.connect(options.deadline(deadline)).await;
    tokio::time::sleep(deadline.remaining()).await;
    let messages = crate::world::say(&mut client, "go").await;
    assert!(tool_results(&messages)[0].contains("Deadline exceeded"), "{messages:?}");
    assert!(!world.file("made").exists());
    let late = world.answer("go", world.options().deadline(Deadline::after(Duration::ZERO))).await;
    assert_eq!(late.unwrap_err().kind(), ErrorKind::Deadline);
}

async fn tools_are_denied_when_the_tokens_are_used_up(way: Way) {
    let usage = Usage { input_tokens: 900, output_tokens: 200, ..Usage::default() };
    let script =
        script().reply(run("touch made").usage(usage)).reply(response().text("no tokens left"));
    let world = World::new(way, script).await;
    let budget = Budget::tokens(500).unwrap();
    let options = world.options().allow_tool("Bash").budget(&budget);
    let messages = world.ask("go", options.clone()).await;
    assert!(tool_results(&messages)[0].contains("Token budget exhausted"), "{messages:?}");
    assert!(!world.file("made").exists());
    assert!(budget.spent().tokens >= 1100, "{:?}", budget.spent());
    let next = world.answer("go on", options).await.unwrap_err();
    assert_eq!(next.kind(), ErrorKind::MaxBudget);
}

async fn sessions_share_a_budget(way: Way) {
    let usage = Usage { input_tokens: 60, output_tokens: 10, ..Usage::default() };
    let script =
        (0..3).fold(script(), |script, _| script.reply(response().text("hi").usage(usage.clone())));
    let world = World::new(way, script).await;
    let budget = Budget::tokens(200).unwrap();
    let options = world.options().budget(&budget);
    for tokens in [70, 140, 210] {
        world.ask("hello", options.clone()).await;
        assert_eq!(budget.spent().tokens, tokens);
    }
    assert_eq!(world.answer("hello", options).await.unwrap_err().kind(), ErrorKind::MaxBudget);
}

async fn dollars_are_counted_too(way: Way) {
    let usage = Usage { input_tokens: 100_000, output_tokens: 1000, ..Usage::default() };
    let script = script().reply(response().text("hi").usage(usage));
    let world = World::new(way, script).await;
    let budget = Budget::dollars(0.10).unwrap();
    world.ask("hello", world.options().budget(&budget)).await;
    assert!(budget.spent().dollars > 0.3, "{:?}", budget.spent());
    assert_eq!(budget.exhausted(), Some("Dollar budget exhausted"));
}

#[test]
fn a_budget_of_nothing_is_refused() {
    for budget in [Budget::tokens(0), Budget::dollars(0.0), Budget::dollars(f64::NAN)] {
        assert_eq!(budget.unwrap_err().kind(), ErrorKind::InvalidOptions);
    }
    assert!(Budget::tokens_and_dollars(1, 0.01).unwrap().exhausted().is_none());
}
