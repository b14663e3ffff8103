//! Budgets beyond dollars: tokens, turns and time, for a session and its agents together.

use serde_json::{Value, json};
use tillerman_engine::{Deadline, Limits};
use tillerman_protocol::Moment;

use crate::agent_stage::{helper, sends_helper, with_agents};
use crate::model::{Gate, calls, says, script};
use crate::stage::{Play, Stage, stage};
use crate::tools::{Conduct, looking};

/// The clock of the stage stands still; the timer of a deadline runs all the same.
const NOW: i64 = 1_700_000_000_000;

fn within_seconds(mut stage: Stage, seconds: i64) -> Stage {
    let (set_at, at) = (NOW, NOW + seconds * 1000);
    stage.setup.engine.limits.deadline =
        Some(Deadline { set_at: Moment::from_millis(set_at), at: Moment::from_millis(at) });
    stage
}

/// A round within limits in which a helper looks once and would go on.
async fn with_helper(limit: impl FnOnce(&mut Limits)) -> (Play, Vec<Value>) {
    let look = looking("Look", Conduct::Succeed);
    let scripts = [
        sends_helper("toolu_1", "x", &json!({})),
        calls("Look", "toolu_2", &json!({})),
        says("Too late."),
    ];
    let (mut stage, _) = with_agents(scripts, [&look], vec![helper()]);
    limit(&mut stage.setup.engine.limits);
    let mut play = stage.begin();
    play.say("Go").await;
    let frames = play.round().await;
    (play, frames)
}

fn tokens(result: &Value) -> u64 {
    let models = result["modelUsage"].as_object().unwrap().values();
    let kinds = ["inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens"];
    models.flat_map(|model| kinds.map(|kind| model[kind].as_u64().unwrap_or(0))).sum()
}

#[tokio::test(start_paused = true)]
async fn nobody_uses_tokens_that_the_tree_does_not_have() {
    // Each response takes 17 tokens.
    let (play, frames) = with_helper(|limits| limits.max_total_tokens = Some(20)).await;
    let result = frames.last().unwrap();
    assert_eq!(result["subtype"], "error_during_execution");
    assert_eq!(result["terminal_reason"], "token_budget_exhausted");
    assert_eq!(result["errors"], json!(["Reached the budget of 20 tokens"]));
    assert_eq!(play.model.requests().len(), 2);
    assert_eq!(tokens(result), 34, "the books cover the agent: {result}");
    let denied = frames.iter().any(|frame| frame.to_string().contains("Token budget exhausted"));
    assert!(denied, "the agent's call is denied: {frames:?}");
}

#[tokio::test(start_paused = true)]
async fn nobody_makes_turns_that_the_tree_does_not_have() {
    let (play, frames) = with_helper(|limits| limits.max_total_turns = Some(2)).await;
    let result = frames.last().unwrap();
    assert_eq!(result["subtype"], "error_max_turns");
    assert_eq!(result["terminal_reason"], "turn_budget_exhausted");
    assert_eq!(play.model.requests().len(), 2);
    let told = frames.iter().any(|frame| {
        frame.to_string().contains("failed: Reached the budget of 2 turns for the session")
    });
    assert!(told, "the agent's end is named: {frames:?}");
}

#[tokio::test(start_paused = true)]
async fn a_tool_does_not_outlast_the_deadline() {
    let look = looking("Look", Conduct::Hang);
    let scripts = [calls("Look", "toolu_1", &json!({})), says("Never said.")];
    let mut play = within_seconds(stage(scripts).tools([&look]), 30).begin();
    play.say("Go").await;
    let frames = play.round().await;
    let result = frames.last().unwrap();
    assert_eq!(result["terminal_reason"], "deadline_exceeded");
    assert_eq!(result["is_error"], true);
    assert_eq!(play.model.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn agents_in_the_background_end_at_the_deadline_too() {
    let gate = Gate::closed();
    let endless = script().gate(&gate).text("Never said.").done().by_helper();
    let background = json!({"run_in_background": true});
    let scripts = [sends_helper("toolu_1", "x", &background), endless, says("Sent.")];
    let (stage, _) = with_agents(scripts, [], vec![helper()]);
    let mut play = within_seconds(stage, 30).begin();
    play.say("Go").await;
    play.until("result").await;
    let end = play.until("system/task_notification").await;
    assert!(end.to_string().contains("deadline"), "{end}");
}
