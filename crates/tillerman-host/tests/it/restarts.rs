//! What outlives a host: cards, messages, queues, and what was answered in between.

use serde_json::json;
use tillerman_host::{LaunchError, SessionStart};

use crate::harness::{Puppet, World};

/// A session that is asked to take up a call again, does so, and asks about it.
async fn taken_up(puppet: &mut Puppet, request: &str, call: &str, command: &str) {
    puppet.greet().await;
    let reopening = puppet.hear().await;
    assert_eq!(reopening["request"]["subtype"], "reopen_calls");
    assert_eq!(reopening["request"]["tool_use_ids"], json!([call]));
    puppet.answer(&reopening, json!({"reopened": [call]})).await;
    puppet.state("running").await;
    puppet.ask(request, call, command).await;
}

/// The same for a session that is told of another mode meanwhile.
async fn taken_up_in_mode(puppet: &mut Puppet, request: &str, call: &str, command: &str) {
    puppet.greet().await;
    for _ in 0..2 {
        let heard = puppet.hear().await;
        let answer = match heard["request"]["subtype"].as_str().unwrap() {
            "reopen_calls" => json!({"reopened": [call]}),
            _ => json!({}),
        };
        puppet.answer(&heard, answer).await;
    }
    puppet.state("running").await;
    puppet.ask(request, call, command).await;
}

#[tokio::test]
async fn a_card_outlives_the_host_and_its_answer_continues_the_run() {
    let mut world = World::new().await;
    let (id, puppet, card) = world.asked("make").await;
    let session = puppet.order.session.id().to_owned();
    // Aborting the tasks leaves the database as kill -9 would.
    let mut world = world.again(|_| {}).await;
    assert_eq!(world.card().await, card, "the card is as it was");
    let shown = world.reaches(&id, "waiting").await;
    assert_eq!(shown["session_id"], session.as_str());
    world.answer(&card, json!({"decision": "allow"})).await.expect(200);
    let mut puppet = world.puppet().await;
    assert_eq!(puppet.order.session, SessionStart::Resume(session));
    taken_up(&mut puppet, "q9", "u1", "make").await;
    let given = puppet.hear().await;
    assert_eq!(given["response"]["request_id"], "q9");
    assert_eq!(given["response"]["response"]["behavior"], "allow");
    puppet.result(0.0).await;
    world.reaches(&id, "idle").await;
    // The answer is used up: the same call asked about again needs another one.
    puppet.ask("q10", "u1", "make").await;
    assert_ne!(world.card().await["id"], card["id"]);
}

#[tokio::test]
async fn an_answer_that_was_used_is_not_taken_again_after_a_restart() {
    let mut world = World::new().await;
    let (_id, mut puppet, card) = world.asked("make").await;
    world.answer(&card, json!({"decision": "allow"})).await.expect(200);
    assert_eq!(puppet.hear().await["response"]["response"]["behavior"], "allow");
    let mut world = world.again(|_| {}).await;
    let replayed = world.answer(&card, json!({"decision": "allow"})).await.expect(409);
    assert_eq!(replayed["state"], "allowed");
    // The very same call under its old id is a new question.
    let mut puppet = world.puppet().await;
    puppet.greet().await;
    puppet.hear().await;
    puppet.ask("q1", "u1", "make").await;
    assert_ne!(world.card().await["id"], card["id"]);
}

#[tokio::test]
async fn a_call_that_would_run_otherwise_after_a_restart_is_asked_about_anew() {
    let mut world = World::new().await;
    let (id, _puppet, card) = world.asked("make").await;
    let mut world = world.again(|_| {}).await;
    world.answer(&card, json!({"decision": "allow"})).await.expect(200);
    let mode = json!({"permission_mode": "acceptEdits"});
    world.send("PATCH", &format!("/conversations/{id}"), mode).await.expect(200);
    let mut puppet = world.puppet().await;
    taken_up_in_mode(&mut puppet, "q9", "u1", "make").await;
    let anew = world.card().await;
    assert_ne!(anew["id"], card["id"], "another mode needs another answer");
    assert_ne!(anew["input_hash"], card["input_hash"]);
}

#[tokio::test]
async fn a_session_that_cannot_take_a_call_up_is_told_of_the_answer() {
    let mut world = World::new().await;
    let (_id, _puppet, card) = world.asked("make").await;
    let mut world = world.again(|_| {}).await;
    world.answer(&card, json!({"decision": "allow"})).await.expect(200);
    let mut puppet = world.puppet().await;
    puppet.greet().await;
    let reopening = puppet.hear().await;
    puppet.answer(&reopening, json!({"reopened": []})).await;
    let told = puppet.hear().await;
    assert!(told["message"]["content"].as_str().unwrap().contains("allowed it"));
    // The model makes the call again under another id; exactly that call is allowed, once.
    puppet.ask("q2", "u7", "make clean").await;
    let other = world.card().await;
    assert_eq!(other["input"]["command"], "make clean");
    puppet.ask("q3", "u8", "make").await;
    let given = puppet.hear().await;
    assert_eq!(given["response"]["request_id"], "q3");
    assert_eq!(given["response"]["response"]["behavior"], "allow");
}

#[tokio::test]
async fn a_run_that_was_cut_off_goes_on_with_the_same_message() {
    let mut world = World::new().await;
    let id = world.conversation().await;
    let message = world.say(&id, "go").await;
    let (puppet, _) = world.prompted().await;
    puppet.text("half an ans").await;
    world.reaches_text(&id, "half an ans").await;
    let path = format!("/conversations/{id}/messages");
    let next = json!({"text": "next", "client_id": "2"});
    world.send("POST", &path, next).await.expect(202);
    let mut world = world.again(|_| {}).await;
    let mut puppet = world.puppet().await;
    assert!(matches!(puppet.order.session, SessionStart::Resume(_)));
    puppet.greet().await;
    assert_eq!(puppet.hear().await["uuid"], message.as_str());
    assert_eq!(puppet.hear().await["message"]["content"], "next");
    let told = world.run_messages(&id).await;
    assert!(told.iter().any(|text| text.contains("restarted")), "{told:?}");
}

#[tokio::test]
async fn sigterm_drains_and_the_run_goes_on_afterwards() {
    let mut world = World::new().await;
    let id = world.conversation().await;
    let message = world.say(&id, "go").await;
    let (puppet, _) = world.prompted().await;
    world.shut_down().await;
    assert!(puppet.stop.is_cancelled());
    drop(puppet);
    let mut world = world.again(|_| {}).await;
    let mut puppet = world.puppet().await;
    puppet.greet().await;
    assert_eq!(puppet.prompt().await["uuid"], message.as_str());
    puppet.result(0.0).await;
    world.reaches(&id, "idle").await;
    // Nothing is left to go on with.
    let world = world.again(|_| {}).await;
    world.reaches(&id, "idle").await;
}

#[tokio::test]
async fn a_session_that_is_gone_is_healed_once_and_says_so() {
    let mut world = World::new().await;
    let id = world.conversation().await;
    world.say(&id, "remember the milk").await;
    let (puppet, prompt) = world.prompted().await;
    puppet.text("noted").await;
    puppet.lifecycle(&prompt["uuid"], "completed").await;
    puppet.result(0.0).await;
    world.reaches(&id, "idle").await;
    let stale = puppet.order.session.id().to_owned();
    let mut world = world.again(|_| {}).await;
    world
        .puppeteer
        .refuse(LaunchError { message: "No conversation found".to_owned(), session_is_gone: true });
    world.say(&id, "what was it?").await;
    let mut puppet = world.puppet().await;
    let SessionStart::Begin(fresh) = puppet.order.session.clone() else { panic!("not begun") };
    assert_ne!(fresh, stale);
    let hello = puppet.greet().await;
    let told = hello["appendSystemPrompt"].as_str().unwrap();
    assert!(told.contains("remember the milk") && told.contains("noted"), "{told}");
    puppet.prompt().await;
    let told = world.run_messages(&id).await;
    assert!(told.iter().any(|text| text.contains("could not be found")), "{told:?}");
}
