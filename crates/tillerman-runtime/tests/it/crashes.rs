//! A panic in a tool or a model is a failed call or attempt; the session lives on.

use serde_json::json;

use crate::model::{Step, calls, only, says, script};
use crate::stage::{stage, tool_result};
use crate::tools::{Conduct, looking};

#[tokio::test(start_paused = true)]
async fn a_tool_that_panics_has_failed() {
    for (conduct, told) in [
        (Conduct::Panic, "The tool crashed"),
        (Conduct::PanicAtOnce, "The tool crashed"),
        (Conduct::PanicInCheck, "the tool crashed while it checked the input"),
    ] {
        let look = looking("Look", conduct);
        let scripts = [calls("Look", "toolu_1", &json!({})), says("Oh."), says("Still here.")];
        let mut play = stage(scripts).tools([&look]).begin();
        play.say("Go").await;
        let frames = play.round().await;
        let result = tool_result(&frames);
        assert_eq!(result["is_error"], true);
        assert!(result["content"].as_str().unwrap().contains(told), "{conduct:?}: {result}");
        assert_eq!(frames.last().unwrap()["result"], "Oh.");
        play.say("Are you there?").await;
        assert_eq!(play.round().await.last().unwrap()["result"], "Still here.");
        let (_, end) = play.close().await;
        assert_eq!(end.storage_failure, None);
    }
}

#[tokio::test(start_paused = true)]
async fn calls_beside_a_panic_are_not_lost() {
    let bad = looking("Bad", Conduct::Panic);
    let good = looking("Good", Conduct::Succeed);
    let response = script().call("Bad", "toolu_1", &json!({})).call("Good", "toolu_2", &json!({}));
    let mut play = stage([response.done(), says("Hm.")]).tools([&bad, &good]).begin();
    play.say("Go").await;
    play.round().await;
    let heard = play.model.heard();
    assert!(heard.contains("The tool crashed") && heard.contains("Good did"), "{heard}");
}

#[tokio::test(start_paused = true)]
async fn a_model_that_panics_is_asked_again() {
    let broken = [only(Step::PanicAtOnce), only(Step::Panic), script().then(Step::Panic)];
    for response in broken {
        let mut play = stage([response, says("Here I am.")]).begin();
        play.say("Go").await;
        let retry = play.until("system/api_retry").await;
        assert_eq!(retry["attempt"], 1);
        assert_eq!(play.round().await.last().unwrap()["result"], "Here I am.");
        assert_eq!(play.model.requests().len(), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn a_model_that_panics_in_the_middle_goes_on_where_it_stopped() {
    let response = script().text("The first half").then(Step::Panic);
    let mut play = stage([response, says("and the second.")]).begin();
    play.say("Go").await;
    let frames = play.round().await;
    assert_eq!(frames.last().unwrap()["result"], "and the second.");
    assert!(play.model.heard().contains("The first half"));
}
