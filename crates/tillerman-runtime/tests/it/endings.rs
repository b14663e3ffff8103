//! How sessions end, and hosts that do not read or go away.

use std::time::Duration;

use serde_json::json;
use tillerman_runtime::Inbound;

use crate::model::{Gate, Script, calls, says, script};
use crate::stage::{kinds, stage};
use crate::tools::{Conduct, looking};

#[tokio::test(start_paused = true)]
async fn without_a_prompt_nothing_is_said_and_nothing_stored() {
    let play = stage([]).begin();
    let shelf = play.shelf.clone();
    let (frames, end) = play.close().await;
    assert_eq!(kinds(&frames), Vec::<String>::new());
    assert!(!end.last_result_failed);
    assert!(shelf.entries().is_empty());
}

#[tokio::test(start_paused = true)]
async fn what_was_begun_is_finished_after_the_input_was_closed() {
    let gate = Gate::closed();
    let look = looking("Look", Conduct::Succeed);
    let first = script().gate(&gate).call("Look", "toolu_1", &json!({})).done();
    let mut play = stage([first, says("Done.")]).tools([&look]).begin();
    play.say("Go").await;
    play.until("system/init").await;
    play.tell(Inbound::Closed).await;
    // What comes after the end of the input is not heard.
    play.say("One more thing").await;
    gate.open();
    let model = play.model.clone();
    let (frames, _) = play.rest().await;
    assert_eq!(kinds(&frames), ["assistant", "user", "assistant", "result/success"]);
    assert!(!model.heard().contains("One more thing"));
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_is_heard_after_the_input_was_closed() {
    let mut play = stage([script().then(crate::model::Step::Hang)]).begin();
    play.say("Go").await;
    play.until("system/init").await;
    play.tell(Inbound::Closed).await;
    play.tell(Inbound::Interrupt).await;
    let (frames, end) = play.rest().await;
    assert_eq!(frames.last().unwrap()["terminal_reason"], "aborted_streaming");
    assert!(end.last_result_failed);
}

#[tokio::test(start_paused = true)]
async fn a_host_that_hangs_up_has_closed_the_input() {
    let play = stage([says("Hm.")]).begin();
    play.say("Go").await;
    let (frames, end) = play.hang_up().rest().await;
    assert_eq!(kinds(&frames), ["system/init", "assistant", "result/success"]);
    assert!(!end.last_result_failed);
}

/// Ten turns with a call each, then a last word.
fn long_work() -> impl Iterator<Item = Script> {
    let turn = |n: u32| calls("Look", &format!("toolu_{n}"), &json!({"n": n}));
    (0..10).map(turn).chain([says("Done.")])
}

#[tokio::test(start_paused = true)]
async fn a_host_that_stops_reading_slows_the_work_and_loses_nothing() {
    let look = looking("Look", Conduct::Succeed);
    let mut play = stage(long_work()).tools([&look]).room(2).begin();
    play.say("Go").await;
    tokio::time::sleep(Duration::from_secs(3600)).await;
    assert!(look.log().len() < 3, "the work does not run ahead of its reader");
    let frames = play.round().await;
    assert_eq!(look.log().len(), 10);
    let shown = frames.iter().filter(|frame| frame["type"] == "user").count();
    assert_eq!(shown, 10);
    assert_eq!(play.shelf.kinds().iter().filter(|kind| *kind == "user").count(), 11);
}

#[tokio::test(start_paused = true)]
async fn a_host_that_is_gone_does_not_cost_the_transcript() {
    let look = looking("Look", Conduct::Succeed);
    let mut play = stage(long_work()).tools([&look]).room(2).begin();
    play.say("Go").await;
    play.until("assistant").await;
    let shelf = play.shelf.clone();
    let end = play.look_away().close().await;
    assert_eq!(end.storage_failure, None);
    assert_eq!(look.log().len(), 10);
    assert!(shelf.text().contains("Done."));
    assert_eq!(shelf.kinds().last().unwrap(), "last-prompt");
}

#[tokio::test(start_paused = true)]
async fn a_host_that_does_not_read_cannot_prevent_a_shutdown() {
    let look = looking("Look", Conduct::Succeed);
    let mut play = stage(long_work()).tools([&look]).room(2).begin();
    play.say("Go").await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let shelf = play.shelf.clone();
    play.shutdown.cancel();
    play.tell(Inbound::ShutDown).await;
    let end = play.end().await;
    assert_eq!(end.storage_failure, None);
    assert_eq!(shelf.kinds().last().unwrap(), "cost-state");
}
