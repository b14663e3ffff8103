//! Ending a round, and ending a session, while something is under way.

use std::time::Duration;

use serde_json::{Value, json};
use tillerman_runtime::Inbound;
use tokio::time::Instant;

use crate::model::{Step, calls, says, script};
use crate::stage::{Play, kinds, stage, tool_result};
use crate::tools::{Conduct, TestTool, looking};

/// A session in which a tool runs that does not end by itself.
async fn at_work(tool: &TestTool) -> Play {
    let scripts = [calls("Look", "toolu_1", &json!({})), says("And now?")];
    let mut play = stage(scripts).tools([tool]).begin();
    play.say("Go").await;
    play.until("assistant").await;
    // The tool has been started once nothing else happens.
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert_eq!(tool.log().len(), 1);
    play
}

#[tokio::test(start_paused = true)]
async fn a_round_does_not_wait_for_a_tool_that_does_not_listen() {
    let stubborn = looking("Look", Conduct::Hang);
    let mut play = at_work(&stubborn).await;
    let began = Instant::now();
    let answer = play.ask(json!({"subtype": "interrupt"})).await;
    assert_eq!(answer["subtype"], "success");
    let frames = play.round().await;
    assert_eq!(kinds(&frames), ["user", "user", "result/error_during_execution"]);
    assert_eq!(tool_result(&frames)["is_error"], true);
    assert_eq!(frames[2]["terminal_reason"], "aborted_tools");
    assert_eq!(began.elapsed(), Duration::ZERO);

    // The conversation goes on although the tool never ended.
    play.say("Go on").await;
    assert_eq!(play.round().await.last().unwrap()["result"], "And now?");
    assert_eq!(began.elapsed(), Duration::ZERO);

    // The end of the session gives it a moment, and no more than that.
    let (_, end) = play.close().await;
    assert!(!end.last_result_failed);
    assert_eq!(began.elapsed(), Duration::from_secs(5));
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_listens_is_waited_for_at_the_end() {
    let gentle = looking("Look", Conduct::EndWhenTold(Duration::from_secs(2)));
    let mut play = at_work(&gentle).await;
    let began = Instant::now();
    play.tell(Inbound::Interrupt).await;
    play.until("result").await;
    assert_eq!(gentle.log().len(), 1, "the round did not wait for it");
    play.close().await;
    assert_eq!(gentle.log()[1], "ended");
    assert_eq!(began.elapsed(), Duration::from_secs(2));
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_ends_tools_and_shows_no_result() {
    let gentle = looking("Look", Conduct::EndWhenTold(Duration::from_secs(1)));
    let play = at_work(&gentle).await;
    let shelf = play.shelf.clone();
    play.tell(Inbound::ShutDown).await;
    let (frames, end) = play.rest().await;
    assert_eq!(kinds(&frames), Vec::<String>::new());
    assert_eq!(gentle.log()[1], "ended");
    assert_eq!(end.storage_failure, None);
    assert_eq!(shelf.kinds(), ["user", "assistant", "cost-state"]);
}

#[tokio::test(start_paused = true)]
async fn an_interrupted_answer_is_kept_as_far_as_it_came() {
    let response = script().text("As far as I came").then(Step::Hang);
    let mut play = stage([response, says("Yes?")]).begin();
    play.say("Tell me everything").await;
    play.until("assistant").await;
    play.tell(Inbound::Interrupt).await;
    let result = play.until("result").await;
    assert_eq!(result["terminal_reason"], "aborted_streaming");
    assert_eq!(result["is_error"], true);
    play.say("Go on").await;
    play.until("result/success").await;
    assert!(play.model.heard().contains("As far as I came"));
    assert!(play.shelf.text().contains("As far as I came"));
}

#[tokio::test(start_paused = true)]
async fn interrupting_twice_or_between_rounds_is_harmless() {
    let response = script().then(Step::Hang);
    let mut play = stage([response, says("Fine.")]).begin();
    play.tell(Inbound::Interrupt).await;
    play.say("Go").await;
    play.until("system/init").await;
    play.tell(Inbound::Interrupt).await;
    play.tell(Inbound::Interrupt).await;
    play.until("result/error_during_execution").await;
    play.tell(Inbound::Interrupt).await;
    play.say("Again").await;
    let frames = play.round().await;
    assert_eq!(frames.last().unwrap()["result"], "Fine.");
    let results: Vec<&Value> = frames.iter().filter(|frame| frame["type"] == "result").collect();
    assert_eq!(results.len(), 1);
}
