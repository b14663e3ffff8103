//! Failed requests are repeated, with longer and longer pauses.

use serde_json::Value;
use tillerman_protocol::model::FailureKind;
use tillerman_runtime::Inbound;

use crate::model::{fails, says};
use crate::stage::{kinds, stage};

#[tokio::test(start_paused = true)]
async fn pauses_grow_and_are_kept() {
    let overloaded = || fails(FailureKind::Overloaded, Some(529));
    let scripts = [overloaded(), overloaded(), overloaded(), overloaded(), says("At last.")];
    let mut play = stage(scripts).begin();
    play.say("Go").await;
    let frames = play.round().await;
    assert_eq!(frames.last().unwrap()["result"], "At last.");
    let retries: Vec<&Value> =
        frames.iter().filter(|frame| frame["subtype"] == "api_retry").collect();
    let delays: Vec<u64> =
        retries.iter().map(|retry| retry["retry_delay_ms"].as_u64().unwrap()).collect();
    assert_eq!(delays.len(), 4);
    assert!(delays.windows(2).all(|pair| pair[0] < pair[1]), "{delays:?}");
    assert_eq!(retries[0]["error_status"], 529);
    assert_eq!(retries[0]["error"], "overloaded");
    let asked = play.model.asked_at();
    for (pair, delay) in asked.windows(2).zip(delays) {
        let waited = u64::try_from((pair[1] - pair[0]).as_millis()).unwrap();
        assert!((delay..delay + 5).contains(&waited), "{waited} for {delay}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_repeating_cannot_mend_is_reported_at_once() {
    let scripts = [fails(FailureKind::InvalidRequest, Some(400)), says("Better.")];
    let mut play = stage(scripts).begin();
    play.say("Go").await;
    let frames = play.round().await;
    assert_eq!(kinds(&frames), ["system/init", "assistant", "result/success"]);
    let result = frames.last().unwrap();
    assert_eq!((&result["is_error"], &result["api_error_status"]), (&true.into(), &400.into()));
    assert_eq!(frames[1]["message"]["model"], "<synthetic>");
    let (_, end) = play.close().await;
    assert!(end.last_result_failed);
}

#[tokio::test(start_paused = true)]
async fn there_is_an_end_to_repeating() {
    let mut stage = stage((0..20).map(|_| fails(FailureKind::Connection, None)));
    stage.setup.engine.limits.max_retries = 3;
    let mut play = stage.begin();
    play.say("Go").await;
    let result = play.until("result").await;
    assert_eq!(result["terminal_reason"], "api_error");
    assert_eq!(play.model.requests().len(), 4);
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_ends_the_pause() {
    let scripts = [fails(FailureKind::Server, Some(500)), says("Unheard.")];
    let mut play = stage(scripts).begin();
    play.say("Go").await;
    play.until("system/api_retry").await;
    play.tell(Inbound::Interrupt).await;
    play.until("result/error_during_execution").await;
    assert!(play.is_silent_for(3600).await);
    assert_eq!(play.model.requests().len(), 1);
}
