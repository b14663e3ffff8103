//! Messages to agents, and what agents cost, across their ends.

use std::time::Duration;

use serde_json::{Value, json};
use tillerman_engine::restore;

use crate::agent_stage::{helper, sends_helper, with_agents, with_budget};
use crate::model::{Gate, calls, says, script};
use crate::stage::{Play, kind};

fn message(to: &str, text: &str) -> Value {
    json!({"to": to, "message": text})
}

/// What the helper was asked last, as text to search in.
fn asked_of_helper(play: &Play) -> String {
    let asked = play.model.requests();
    let last = asked.iter().rfind(|request| request.system[0].text.contains("the helper"));
    serde_json::to_string(&last.unwrap().messages).unwrap()
}

#[tokio::test(start_paused = true)]
async fn an_agent_at_work_hears_a_message_before_its_call_is_answered() {
    let gate = Gate::closed();
    let (stage, shelves) = with_agents(
        [
            sends_helper("toolu_1", "find it", &json!({"run_in_background": true})),
            script().gate(&gate).text("Found it.").done().by_helper(),
            says("Sent."),
        ],
        [],
        vec![helper()],
    );
    let mut play = stage.begin();
    play.say("Go").await;
    play.round().await;
    play.model.then_play([
        calls("SendMessage", "toolu_2", &message(&shelves.ids()[0], "And the other one.")),
        says("Told it."),
        says("Found both.").by_helper(),
    ]);
    play.say("More").await;
    let frames = play.round().await;
    let told = frames.iter().find(|frame| kind(frame) == "user").unwrap();
    assert_eq!(told["tool_use_result"]["success"], true);
    gate.open();
    play.until("system/task_notification").await;
    assert!(asked_of_helper(&play).contains("And the other one."));
}

#[tokio::test(start_paused = true)]
async fn a_message_that_comes_as_its_agent_ends_has_it_go_on() {
    let (answer, ending) = (Gate::closed(), Gate::closed());
    let (stage, shelves) = with_agents(
        [
            sends_helper("toolu_1", "find it", &json!({"run_in_background": true})),
            script().gate(&answer).text("Found it.").done().by_helper(),
            says("Sent."),
        ],
        [],
        vec![helper()],
    );
    let mut play = stage.begin();
    play.say("Go").await;
    play.round().await;
    let (shelf, _) = shelves.only();
    shelf.hold_sync(&ending);
    answer.open();
    assert!(play.is_silent_for(1).await);
    assert_eq!(shelf.syncs(), 1, "the agent is about to end and hears nothing more");
    play.model.then_play([
        calls("SendMessage", "toolu_2", &message(&shelves.ids()[0], "And the other one.")),
        says("Found the other.").by_helper(),
        says("Told it."),
    ]);
    play.say("More").await;
    play.until("assistant").await;
    tokio::time::sleep(Duration::from_millis(1)).await;
    ending.open();
    let (mut told, mut ends) = (Vec::new(), 0);
    while ends < 2 {
        let frame = play.next().await.unwrap();
        ends += usize::from(kind(&frame) == "system/task_notification");
        if kind(&frame) == "user" && frame["parent_tool_use_id"].is_null() {
            told.push(frame["tool_use_result"]["status"].clone());
        }
    }
    assert_eq!(told, ["async_launched"]);
    let asked = asked_of_helper(&play);
    assert!(asked.contains("Found it.") && asked.contains("And the other one."), "{asked}");
    assert_eq!(shelves.ids().len(), 1, "it is the same agent");
}

fn tokens(result: &Value) -> u64 {
    let models = result["modelUsage"].as_object().unwrap().values();
    models
        .map(|it| it["inputTokens"].as_u64().unwrap() + it["outputTokens"].as_u64().unwrap())
        .sum()
}

fn assert_paid(result: &Value, responses: u32) {
    // Each response takes 17 tokens, at a tenth of a cent.
    assert_eq!(tokens(result), u64::from(responses) * 17, "{result}");
    let (cost, expected) =
        (result["total_cost_usd"].as_f64().unwrap(), f64::from(responses) * 0.017);
    assert!((cost - expected).abs() < 1e-9, "{cost} instead of {expected}");
}

#[tokio::test(start_paused = true)]
async fn the_sums_of_a_tree_go_on_after_a_resume() {
    let (stage, shelves) = with_agents(
        [sends_helper("toolu_1", "find it", &json!({})), says("Found it."), says("Good.")],
        [],
        vec![helper()],
    );
    let mut play = with_budget(stage, 10.0).begin();
    play.say("Go").await;
    assert_paid(play.round().await.last().unwrap(), 3);
    let shelf = play.shelf.clone();
    play.close().await;

    let again = [
        calls("SendMessage", "toolu_2", &message(&shelves.ids()[0], "And the other one.")),
        says("Found the other.").by_helper(),
        says("Told it."),
        says("Both were found."),
    ];
    let (stage, later) = with_agents(again, [], vec![helper()]);
    let mut stage = with_budget(stage, 10.0);
    later.take_over(&shelves);
    let entries: Vec<_> =
        shelf.entries().into_iter().map(|entry| serde_json::from_value(entry).unwrap()).collect();
    stage.setup.restored = restore(&entries);
    let play = stage.begin();
    play.say("More").await;
    let model = play.model.clone();
    let (frames, _) = play.close().await;
    let result = frames.iter().rfind(|frame| kind(frame).starts_with("result")).unwrap();
    let requests = model.requests();
    let of_helper = requests.iter().any(|it| it.system[0].text.contains("the helper"));
    assert!(of_helper, "the agent goes on in the new process");
    assert_paid(result, 3 + u32::try_from(requests.len()).unwrap());
}
