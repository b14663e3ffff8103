//! Answers that find no session to take them: whatever had become of it, the run goes on once.

use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};
use tillerman_host::{LaunchError, SessionStart};

use crate::harness::{Puppet, World};

const SERVER: &str = "has now declined it";

fn page() -> Value {
    json!({"mode": "url", "message": "Sign in.", "url": "https://shop.example/in"})
}

/// A conversation with nothing to do but a server's question.
async fn while_idle(world: &mut World) -> (String, Puppet, Value) {
    let id = world.conversation().await;
    world.say(&id, "go").await;
    let (puppet, _) = world.prompted().await;
    puppet.elicit("e1", page()).await;
    let card = world.card().await;
    puppet.result(0.0).await;
    world.reaches(&id, "idle").await;
    (id, puppet, card)
}

/// The next session, which cannot take anything up again, and what it is told.
async fn told(world: &mut World) -> (Puppet, String) {
    let mut puppet = world.puppet().await;
    puppet.greet().await;
    let reopening = puppet.hear().await;
    assert_eq!(reopening["request"]["subtype"], "reopen_calls", "{reopening}");
    puppet.answer(&reopening, json!({"reopened": []})).await;
    let told = puppet.hear().await;
    assert_eq!(told["isSynthetic"], true, "{told}");
    let text = told["message"]["content"].as_str().unwrap().to_owned();
    (puppet, text)
}

async fn deny(world: &World, card: &Value) {
    world.answer(card, json!({"decision": "deny"})).await.expect(200);
}

#[tokio::test]
async fn a_session_that_died_just_before_its_host_takes_the_answer_after_the_restart() {
    for _ in 0..12 {
        let mut world = World::new().await;
        let (id, puppet, card) = world.asked("make").await;
        // The host is still busy noticing that the session is gone.
        drop(puppet);
        let mut world = world.again(|_| {}).await;
        world.answer(&card, json!({"decision": "allow"})).await.expect(200);
        let mut puppet = world.puppet().await;
        puppet.greet().await;
        let reopening = puppet.hear().await;
        assert_eq!(reopening["request"]["tool_use_ids"], json!(["u1"]));
        puppet.answer(&reopening, json!({"reopened": ["u1"]})).await;
        puppet.state("running").await;
        puppet.ask("q9", "u1", "make").await;
        let given = puppet.hear().await;
        assert_eq!(given["response"]["response"]["behavior"], "allow", "{given}");
        puppet.result(0.0).await;
        world.reaches(&id, "idle").await;
    }
}

#[tokio::test]
async fn a_card_that_its_session_gives_up_because_the_host_ends_stays_open() {
    let mut world = World::new().await;
    world.puppeteer.lingers.store(true, Ordering::Relaxed);
    let (_, puppet, card) = world.asked("make").await;
    let leaving = async {
        puppet.stop.cancelled().await;
        puppet.say(json!({"type": "control_cancel_request", "request_id": "q1"})).await;
        puppet.end();
    };
    tokio::join!(world.shut_down(), leaving);
    let mut world = world.again(|_| {}).await;
    assert_eq!(world.card().await, card, "the card is as it was");
    deny(&world, &card).await;
    let (_, text) = told(&mut world).await;
    assert!(text.contains("denied it"), "{text}");
}

#[tokio::test]
async fn an_answer_that_no_session_could_be_started_for_is_taken_up_by_the_next_host() {
    let mut world = World::new().await;
    let (id, puppet, card) = while_idle(&mut world).await;
    let mut world = world.again(|_| {}).await;
    drop(puppet);
    world.puppeteer.refuse(LaunchError::new("out of memory"));
    deny(&world, &card).await;
    world.reaches(&id, "failed").await;
    world = world.again(|_| {}).await;
    let (puppet, text) = told(&mut world).await;
    assert!(text.contains(SERVER), "{text}");
    puppet.result(0.0).await;
    world.reaches(&id, "idle").await;
    // Once is enough.
    let world = world.again(|_| {}).await;
    world.reaches(&id, "idle").await;
    assert!(
        world.run_messages(&id).await.iter().filter(|text| text.contains("goes on")).count() == 1
    );
}

#[tokio::test]
async fn a_session_that_breaks_while_it_is_told_of_an_answer_is_told_by_the_next() {
    let mut world = World::new().await;
    let (_, puppet, card) = while_idle(&mut world).await;
    let mut world = world.again(|it| it.timeouts.restart = Duration::from_millis(5)).await;
    drop(puppet);
    deny(&world, &card).await;
    let mut puppet = world.puppet().await;
    puppet.greet().await;
    puppet.hear().await;
    puppet.crash("gone");
    let (_, text) = told(&mut world).await;
    assert!(text.contains(SERVER), "{text}");
}

#[tokio::test]
async fn an_answer_for_a_run_that_is_told_to_end_goes_to_the_next() {
    let mut world = World::with(|it| it.timeouts.idle = Duration::from_millis(20)).await;
    let (_, mut puppet, card) = while_idle(&mut world).await;
    assert!(puppet.is_closed().await, "nothing to do, so it is let go");
    deny(&world, &card).await;
    puppet.end();
    let (_, text) = told(&mut world).await;
    assert!(text.contains(SERVER), "{text}");
}

#[tokio::test]
async fn an_answer_for_a_session_that_is_gone_has_a_new_one_go_on() {
    let gone =
        || LaunchError { message: "No conversation found".to_owned(), session_is_gone: true };
    let mut world = World::new().await;
    let (id, puppet, card) = world.asked("make").await;
    let mut world = world.again(|_| {}).await;
    drop(puppet);
    world.puppeteer.refuse(gone());
    deny(&world, &card).await;
    let mut puppet = world.puppet().await;
    assert!(matches!(puppet.order.session, SessionStart::Begin(_)));
    let hello = puppet.greet().await;
    assert!(hello["appendSystemPrompt"].as_str().unwrap().contains("denied it"), "{hello}");
    assert_eq!(puppet.prompt().await["message"]["content"], "go");
    puppet.result(0.0).await;
    world.reaches(&id, "idle").await;

    let (_, puppet, card) = while_idle(&mut world).await;
    let mut world = world.again(|_| {}).await;
    drop(puppet);
    world.puppeteer.refuse(gone());
    deny(&world, &card).await;
    let mut puppet = world.puppet().await;
    puppet.greet().await;
    let nudge = puppet.hear().await;
    assert!(nudge["message"]["content"].as_str().unwrap().contains("Go on"), "{nudge}");
}

#[tokio::test]
async fn a_session_that_takes_nothing_up_and_has_nothing_to_do_is_idle() {
    let mut world = World::new().await;
    let (id, puppet, card) = while_idle(&mut world).await;
    let mut world = world.again(|_| {}).await;
    drop(puppet);
    let asking = world.call("GET", &format!("/api/v1/conversations/{id}/context")).send();
    let playing = async {
        let mut puppet = world.puppet().await;
        puppet.greet().await;
        for _ in 0..2 {
            let asked = puppet.hear().await;
            puppet.answer(&asked, json!({"reopened": []})).await;
        }
        puppet
    };
    let (_, _puppet) = tokio::join!(asking, playing);
    world.reaches(&id, "idle").await;
    let late = world.answer(&card, json!({"decision": "deny"})).await.expect(409);
    assert_eq!(late["state"], "withdrawn");
}

#[tokio::test]
async fn an_answer_that_a_dead_session_did_not_take_goes_to_the_next() {
    let mut world = World::with(|it| it.timeouts.restart = Duration::from_millis(5)).await;
    let (_, mut puppet, card) = world.asked("make").await;
    puppet.stop_listening();
    world.answer(&card, json!({"decision": "allow"})).await.expect(200);
    puppet.crash("gone");
    let mut puppet = world.puppet().await;
    puppet.greet().await;
    let reopening = puppet.hear().await;
    assert_eq!(reopening["request"]["tool_use_ids"], json!(["u1"]), "{reopening}");
    puppet.answer(&reopening, json!({"reopened": ["u1"]})).await;
    puppet.ask("q9", "u1", "make").await;
    let given = puppet.hear().await;
    assert_eq!(given["response"]["request_id"], "q9");
    assert_eq!(given["response"]["response"]["behavior"], "allow");
}
