//! When the transcript cannot be written.

use std::time::Duration;

use serde_json::json;
use tillerman_protocol::transcript::Entry;
use tillerman_runtime::Inbound;

use crate::model::{Gate, calls, says, script};
use crate::shelf::Fault;
use crate::stage::{Play, kinds, stage};
use crate::tools::{Conduct, TestTool, looking};

/// A session whose disk fails just before the model asks for a tool.
async fn failing(tool: &TestTool, fault: Fault) -> Play {
    let gate = Gate::closed();
    let response = script().gate(&gate).call("Look", "toolu_1", &json!({})).done();
    let mut play = stage([response, says("Done.")]).tools([tool]).mirrored().begin();
    play.say("Go").await;
    play.until("system/init").await;
    play.shelf.suffer(fault);
    gate.open();
    play
}

#[tokio::test(start_paused = true)]
async fn a_full_disk_holds_the_work_up_until_there_is_room() {
    let look = looking("Look", Conduct::Succeed);
    let mut play = failing(&look, Fault::Full).await;
    let told = play.next().await.unwrap();
    assert_eq!(told["key"], "transcript_paused");
    assert!(told["text"].as_str().unwrap().contains("Free some space"), "{told}");
    assert!(play.is_silent_for(600).await, "it is told once");
    assert!(play.shelf.refused() > 1000, "it is tried again and again");
    assert!(look.log().is_empty(), "nothing runs that is not written down");

    play.shelf.suffer(Fault::Nothing);
    let frames = play.round().await;
    assert_eq!(frames.last().unwrap()["result"], "Done.");
    assert_eq!(look.log().len(), 1);
    assert_eq!(
        play.shelf.kinds(),
        ["user", "assistant", "user", "assistant", "cost-state", "last-prompt"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_prompt_waits_for_room_too() {
    let play = stage([says("Hm.")]).begin();
    play.shelf.suffer(Fault::Full);
    play.say("Go").await;
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert!(play.model.requests().is_empty(), "the model is not asked yet");
    play.shelf.suffer(Fault::Nothing);
    let (frames, end) = play.close().await;
    let expected = ["system/notification", "system/init", "assistant", "result/success"];
    assert_eq!(kinds(&frames), expected);
    assert_eq!(end.storage_failure, None);
}

#[tokio::test(start_paused = true)]
async fn a_broken_disk_ends_the_session() {
    let look = looking("Look", Conduct::Succeed);
    let play = failing(&look, Fault::Broken).await;
    let shelf = play.shelf.clone();
    let (frames, end) = play.rest().await;
    assert_eq!(kinds(&frames), ["system/notification"], "nothing is shown that is not stored");
    assert_eq!(frames[0]["key"], "transcript_failed");
    assert!(end.storage_failure.unwrap().contains("resume it once this is mended"));
    assert!(look.log().is_empty());
    assert_eq!(shelf.kinds(), ["user"]);
    assert_eq!(shelf.refused(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_broken_disk_begins_nothing() {
    let play = stage([says("Unheard.")]).begin();
    play.shelf.suffer(Fault::Broken);
    play.say("Go").await;
    let model = play.model.clone();
    let (frames, end) = play.rest().await;
    assert_eq!(kinds(&frames), ["system/notification"]);
    assert!(end.storage_failure.is_some());
    assert!(model.requests().is_empty(), "nobody pays for an answer that cannot be kept");
}

#[tokio::test(start_paused = true)]
async fn a_round_that_cannot_be_made_to_last_has_no_result() {
    let play = stage([says("Hm.")]).begin();
    play.shelf.suffer(Fault::BrokenSync);
    play.say("Go").await;
    let (frames, end) = play.rest().await;
    assert_eq!(kinds(&frames), ["system/init", "assistant", "system/notification"]);
    assert!(end.storage_failure.is_some());
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_does_not_wait_for_room() {
    let look = looking("Look", Conduct::Succeed);
    let mut play = failing(&look, Fault::Full).await;
    play.until("system/notification").await;
    play.shutdown.cancel();
    play.tell(Inbound::ShutDown).await;
    let (frames, end) = play.rest().await;
    assert_eq!(kinds(&frames), ["system/notification"]);
    assert!(end.storage_failure.is_some());
    assert!(look.log().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_fork_that_cannot_be_stored_is_tried_once() {
    let old = |uuid: &str| -> Entry {
        let message = json!({"role": "user", "content": "Before"});
        let old = json!({"type": "user", "uuid": uuid, "parentUuid": null, "message": message});
        serde_json::from_value(old).unwrap()
    };
    let play = stage([]).copied(vec![old("a"), old("b"), old("c")]).begin();
    play.shelf.suffer(Fault::Broken);
    play.say("After").await;
    let shelf = play.shelf.clone();
    let (frames, end) = play.rest().await;
    assert_eq!(kinds(&frames), ["system/notification"]);
    assert!(end.storage_failure.is_some());
    assert_eq!(shelf.refused(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_resumed_conversation_goes_on() {
    let look = looking("Look", Conduct::Succeed);
    let scripts = [calls("Look", "toolu_1", &json!({})), says("Noted.")];
    let mut first = stage(scripts).tools([&look]).begin();
    first.say("Remember: seven").await;
    first.round().await;
    let entries: Vec<Entry> = first
        .shelf
        .entries()
        .into_iter()
        .map(|entry| serde_json::from_value(entry).unwrap())
        .collect();
    let mut second = stage([says("Seven.")]);
    second.setup.restored = tillerman_engine::restore(&entries);
    let mut play = second.begin();
    play.say("What was it?").await;
    play.round().await;
    let heard = play.model.heard();
    assert!(heard.contains("Remember: seven") && heard.contains("Look did"), "{heard}");
}
