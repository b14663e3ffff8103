//! Runs that break, providers that are out of order, sessions that say nothing.

use std::time::Duration;

use serde_json::json;
use tillerman_host::{Health, HostSettings, LaunchError};

use crate::harness::World;

fn quick(settings: &mut HostSettings) {
    settings.timeouts.restart = Duration::from_millis(5);
    settings.timeouts.outage = Duration::from_millis(20);
}

#[tokio::test]
async fn a_run_that_breaks_is_started_again_but_not_for_ever() {
    let mut world = World::with(quick).await;
    let id = world.conversation().await;
    let message = world.say(&id, "go").await;
    for _ in 0..4 {
        let (puppet, prompt) = world.prompted().await;
        assert_eq!(prompt["uuid"], message.as_str());
        puppet.crash("out of memory");
    }
    world.reaches(&id, "failed").await;
    let told = world.run_messages(&id).await;
    assert!(told.last().unwrap().contains("4 times in a row (out of memory)"), "{told:?}");
    // A person may try again, and what was cut off goes first.
    world.say(&id, "again").await;
    let (mut puppet, prompt) = world.prompted().await;
    assert_eq!(prompt["uuid"], message.as_str());
    assert_eq!(puppet.hear().await["message"]["content"], "again");
}

#[tokio::test]
async fn a_session_that_refuses_to_start_is_told_with_its_last_words_and_not_repeated() {
    let mut world = World::with(quick).await;
    let id = world.conversation().await;
    let message = world.say(&id, "go").await;
    world.puppet().await.exit(3, "settings.json, line 4: no such key");
    world.reaches(&id, "failed").await;
    let told = world.run_messages(&id).await;
    let [told] = told.as_slice() else { panic!("{told:?}") };
    for part in ["exit code 3", "settings.json, line 4: no such key", "send a message"] {
        assert!(told.contains(part), "{part} is not in {told}");
    }
    // A person may try again, and nothing that was sent is lost.
    world.say(&id, "again").await;
    let (mut puppet, prompt) = world.prompted().await;
    assert_eq!(prompt["uuid"], message.as_str());
    assert_eq!(puppet.hear().await["message"]["content"], "again");
}

#[tokio::test]
async fn a_session_that_a_signal_ended_at_its_start_is_started_again() {
    let mut world = World::with(quick).await;
    let id = world.conversation().await;
    let message = world.say(&id, "go").await;
    world.puppet().await.exit(137, "");
    let (_puppet, prompt) = world.prompted().await;
    assert_eq!(prompt["uuid"], message.as_str());
    let told = world.run_messages(&id).await;
    assert!(told[0].contains("(exit code 137) and is started again"), "{told:?}");
}

#[tokio::test]
async fn three_outages_in_a_row_pause_until_the_provider_is_back() {
    let mut world = World::with(quick).await;
    *world.puppeteer.health.lock().unwrap() = Health::Down;
    let id = world.conversation().await;
    let failed = json!({"is_error": true, "terminal_reason": "api_error", "api_error_status": 529});
    for number in 0..3 {
        world.say(&id, &format!("try {number}")).await;
        let (puppet, prompt) = world.prompted().await;
        puppet.lifecycle(&prompt["uuid"], "completed").await;
        puppet.finish(failed.clone()).await;
        if number < 2 {
            world.reaches(&id, "idle").await;
            // The count belongs to the conversation, not to a run or a host.
            world = world.again(quick).await;
            *world.puppeteer.health.lock().unwrap() = Health::Down;
        } else {
            world.reaches(&id, "paused").await;
            let path = format!("/conversations/{id}/messages");
            let body = json!({"text": "kept", "client_id": "kept"});
            let kept = world.send("POST", &path, body).await.expect(202);
            assert_eq!(kept["position"], 1);
            *world.puppeteer.health.lock().unwrap() = Health::Up;
            let mut puppet = puppet;
            assert_eq!(puppet.prompt().await["message"]["content"], "kept");
            puppet.result(0.0).await;
            world.reaches(&id, "idle").await;
        }
    }
}

#[tokio::test]
async fn other_errors_are_no_outage() {
    let mut world = World::with(quick).await;
    let id = world.conversation().await;
    world.say(&id, "0").await;
    let (mut puppet, _) = world.prompted().await;
    for number in 1..5 {
        let failed =
            json!({"is_error": true, "terminal_reason": "api_error", "api_error_status": 401});
        puppet.finish(failed).await;
        world.reaches(&id, "idle").await;
        world.say(&id, &number.to_string()).await;
        puppet.prompt().await;
    }
}

#[tokio::test]
async fn a_session_that_says_nothing_is_ended() {
    let startup = |settings: &mut HostSettings| {
        settings.timeouts.startup = Duration::from_millis(30);
    };
    let mut world = World::with(startup).await;
    let id = world.conversation().await;
    world.say(&id, "go").await;
    let puppet = world.puppet().await;
    crate::harness::within("the stop", puppet.stop.cancelled()).await;
    world.reaches(&id, "failed").await;
}

#[tokio::test]
async fn signs_of_life_are_no_progress() {
    let impatient = |settings: &mut HostSettings| {
        settings.timeouts.inactivity = Duration::from_millis(80);
    };
    let mut world = World::with(impatient).await;
    let id = world.conversation().await;
    world.say(&id, "go").await;
    let (puppet, _) = world.prompted().await;
    let alive = async {
        loop {
            puppet.say(json!({"type": "keep_alive"})).await;
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::select! {
        // A session that was stopped is not listened to any more.
        biased;
        () = crate::harness::within("the stop", puppet.stop.cancelled()) => {}
        () = alive => {}
    }
    world.reaches(&id, "failed").await;
    assert!(world.run_messages(&id).await.last().unwrap().contains("stopped"));
}

#[tokio::test]
async fn a_question_may_wait_longer_than_a_silence() {
    let impatient = |settings: &mut HostSettings| {
        settings.timeouts.inactivity = Duration::from_millis(40);
    };
    let mut world = World::with(impatient).await;
    let id = world.conversation().await;
    world.say(&id, "go").await;
    let (mut puppet, _) = world.prompted().await;
    puppet.ask("q1", "u1", "make").await;
    let card = world.card().await;
    tokio::time::sleep(Duration::from_millis(120)).await;
    assert!(!puppet.stop.is_cancelled());
    world.answer(&card, json!({"decision": "allow"})).await.expect(200);
    assert_eq!(puppet.hear().await["response"]["request_id"], "q1");
}

#[tokio::test]
async fn a_session_with_nothing_to_do_is_let_go_and_resumed() {
    let short = |settings: &mut HostSettings| settings.timeouts.idle = Duration::from_millis(20);
    let mut world = World::with(short).await;
    let id = world.conversation().await;
    world.say(&id, "go").await;
    let (mut puppet, prompt) = world.prompted().await;
    puppet.lifecycle(&prompt["uuid"], "completed").await;
    puppet.result(0.0).await;
    assert!(puppet.is_closed().await);
    puppet.crash("");
    world.reaches(&id, "idle").await;
    world.say(&id, "more").await;
    let (_puppet, prompt) = world.prompted().await;
    assert_eq!(prompt["message"]["content"], "more");
}

#[tokio::test]
async fn a_run_that_cannot_be_started_says_why_and_keeps_the_message() {
    let mut world = World::new().await;
    world.puppeteer.refuse(LaunchError::new("The working directory is not there."));
    let id = world.conversation().await;
    world.say(&id, "go").await;
    world.reaches(&id, "failed").await;
    assert!(world.run_messages(&id).await[0].contains("directory is not there"));
    world.say(&id, "again").await;
    let (mut puppet, prompt) = world.prompted().await;
    assert_eq!(prompt["message"]["content"], "go");
    assert_eq!(puppet.hear().await["message"]["content"], "again");
}
