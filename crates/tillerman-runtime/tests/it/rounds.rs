//! Whole rounds: what is shown, what is stored, and in which order.

use serde_json::{Value, json};
use tillerman_protocol::transcript::Entry;

use crate::model::{calls, says, script};
use crate::stage::{kinds, stage, tool_result};
use crate::tools::{Conduct, changing, looking};

#[tokio::test(start_paused = true)]
async fn a_text_is_answered() {
    let mut play = stage([says("Good day.")]).begin();
    play.say("Hello").await;
    let frames = play.round().await;
    assert_eq!(kinds(&frames), ["system/init", "assistant", "result/success"]);
    assert_eq!(frames[1]["message"]["content"][0]["text"], "Good day.");
    assert_eq!(frames[2]["result"], "Good day.");
    assert_eq!(frames[2]["is_error"], false);
    let (shelf, model) = (play.shelf.clone(), play.model.clone());
    let (rest, end) = play.close().await;
    assert_eq!(kinds(&rest), Vec::<String>::new());
    assert!(!end.last_result_failed);
    assert_eq!(end.storage_failure, None);
    assert_eq!(shelf.kinds(), ["user", "assistant", "cost-state", "last-prompt"]);
    assert!(model.heard().contains("Hello"));
}

#[tokio::test(start_paused = true)]
async fn a_tool_runs_and_the_model_hears_of_it() {
    let look = looking("Look", Conduct::Succeed);
    let scripts = [calls("Look", "toolu_1", &json!({"at": "the sky"})), says("It is blue.")];
    let mut play = stage(scripts).tools([&look]).begin();
    play.say("What color is the sky?").await;
    let frames = play.round().await;
    assert_eq!(kinds(&frames), ["system/init", "assistant", "user", "assistant", "result/success"]);
    assert_eq!(frames[1]["message"]["content"][0]["name"], "Look");
    let result = tool_result(&frames);
    assert_eq!(result["tool_use_id"], "toolu_1");
    assert_eq!(result["content"], r#"Look did {"at":"the sky"}"#);
    assert_eq!(frames[2]["tool_use_result"], json!({"did": {"at": "the sky"}}));
    assert_eq!(frames[4]["num_turns"], 2);
    assert_eq!(look.log(), [json!({"at": "the sky"})]);
    assert!(play.model.heard().contains("toolu_1"));
}

#[tokio::test(start_paused = true)]
async fn a_failure_and_a_refused_input_are_told_to_the_model() {
    let fall = looking("Fall", Conduct::Fail);
    let picky = looking("Picky", Conduct::RefuseInput);
    let response = script().call("Fall", "toolu_1", &json!({}));
    let response =
        response.call("Picky", "toolu_2", &json!({})).call("Gone", "toolu_3", &json!({}));
    let mut play = stage([response.done(), says("Well.")]).tools([&fall, &picky]).begin();
    play.say("Try").await;
    play.round().await;
    let heard = play.model.heard();
    for expected in
        ["that did not work", "the field `what` is missing", "There is no tool named Gone"]
    {
        assert!(heard.contains(expected), "{expected} is not in {heard}");
    }
    assert!(picky.log().is_empty());
}

#[tokio::test(start_paused = true)]
async fn everything_is_stored_before_it_is_shown() {
    let look = looking("Look", Conduct::Succeed);
    let scripts = [calls("Look", "toolu_1", &json!({})), says("Done.")];
    let mut play = stage(scripts).tools([&look]).mirrored().begin();
    play.say("Go").await;
    let frames = play.round().await;
    let mut stored = Vec::new();
    for frame in &frames {
        match frame["type"].as_str() {
            Some("transcript_mirror") => {
                assert_eq!(frame["filePath"], "/sessions/session.jsonl");
                let entries = frame["entries"].as_array().unwrap();
                stored.extend(entries.iter().map(|entry| entry["uuid"].clone()));
            }
            Some("assistant" | "user") => assert!(stored.contains(&frame["uuid"]), "{frame}"),
            _ => {}
        }
    }
    assert_eq!(stored.len(), 6);
    assert_eq!(kinds(&frames).iter().filter(|kind| *kind == "transcript_mirror").count(), 6);
    let mirrored: Vec<Value> =
        frames.iter().filter_map(|frame| frame["entries"].as_array()).flatten().cloned().collect();
    assert_eq!(mirrored, play.shelf.entries());
    assert!(play.shelf.syncs() >= 2, "a turn and a round ended");
}

#[tokio::test(start_paused = true)]
async fn states_tell_when_somebody_has_to_act() {
    let touch = changing("Touch", Conduct::Succeed);
    let scripts = [calls("Touch", "toolu_1", &json!({})), says("Done.")];
    let mut play = stage(scripts).tools([&touch]).with_states().begin();
    play.say("Go").await;
    let state = |frame: &Value| frame["state"].clone();
    assert_eq!(state(&play.until("system/session_state_changed").await), "running");
    assert_eq!(state(&play.until("system/session_state_changed").await), "requires_action");
    let question = play.until("control_request/can_use_tool").await;
    play.answer(&question, json!({"behavior": "allow"})).await;
    assert_eq!(state(&play.until("system/session_state_changed").await), "running");
    play.until("result/success").await;
    assert_eq!(state(&play.until("system/session_state_changed").await), "idle");
}

#[tokio::test(start_paused = true)]
async fn a_fork_is_stored_with_its_first_new_entry() {
    let old = json!({"type": "user", "uuid": "old", "parentUuid": null, "sessionId": "s",
        "message": {"role": "user", "content": "Before"}});
    let copied: Vec<Entry> = vec![serde_json::from_value(old).unwrap()];
    let mut play = stage([says("Hm.")]).copied(copied.clone()).begin();
    play.say("After").await;
    play.round().await;
    let entries = play.shelf.entries();
    assert_eq!(entries[0]["uuid"], "old");
    assert_eq!(entries[1]["message"]["content"], "After");
    play.say("Again").await;
    play.round().await;
    assert_eq!(play.shelf.text().matches("Before").count(), 1);

    let unused = stage([]).copied(copied).begin();
    let shelf = unused.shelf.clone();
    unused.close().await;
    assert_eq!(shelf.entries(), Vec::<Value>::new());
}
