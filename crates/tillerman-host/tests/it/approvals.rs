//! Cards: shown whole, stored first, answered once, by those who may.

use std::time::Duration;

use serde_json::{Value, json};
use tillerman_host::Role;

use crate::harness::{Call, World};

#[tokio::test]
async fn an_allowed_call_runs_with_exactly_what_was_shown() {
    let mut world = World::new().await;
    let (id, mut puppet, card) = world.asked("rm -rf build\n# \u{202e}tidy").await;
    assert_eq!(world.reaches(&id, "waiting").await["pending_approvals"], 1);
    assert_eq!(card["display"]["lines"], json!(["command: rm -rf build", "    # \\u{202e}tidy"]));
    assert_eq!(card["kind"], "permission");
    assert_eq!(card["suggestions"], json!([]), "a call that hides something gets no rule");
    let answered = world.answer(&card, json!({"decision": "allow"})).await.expect(200);
    assert_eq!(
        (&answered["state"], &answered["answered_by"]),
        (&json!("allowed"), &json!("owner"))
    );
    let answer = puppet.hear().await;
    assert_eq!(answer["response"]["request_id"], "q1");
    let given = &answer["response"]["response"];
    assert_eq!(given["behavior"], "allow");
    assert_eq!(given["updatedInput"]["command"], "rm -rf build\n# \u{202e}tidy");
    let audit = world.get("/audit").await.expect(200);
    let note = &audit["entries"][0];
    assert_eq!((&note["action"], &note["user"]), (&json!("approval.allow"), &json!("owner")));
    assert!(note["detail"].as_str().unwrap().contains(card["input_hash"].as_str().unwrap()));
}

#[tokio::test]
async fn a_denial_carries_its_message_and_may_end_the_round() {
    let mut world = World::new().await;
    let (_, mut puppet, card) = world.asked("make").await;
    let body = json!({"decision": "deny", "message": "use ninja", "interrupt": true});
    world.answer(&card, body).await.expect(200);
    let given = puppet.hear().await["response"]["response"].clone();
    assert_eq!(given, json!({"behavior": "deny", "message": "use ninja", "interrupt": true}));
}

#[tokio::test]
async fn of_two_answers_exactly_one_counts() {
    let mut world = World::new().await;
    let (_, mut puppet, card) = world.asked("make").await;
    let (one, other) = tokio::join!(
        world.answer(&card, json!({"decision": "allow"})),
        world.answer(&card, json!({"decision": "deny"})),
    );
    let mut codes = [one.status, other.status];
    codes.sort_unstable();
    assert_eq!(codes, [200, 409]);
    let late = if one.status == 409 { one.json() } else { other.json() };
    let given = puppet.hear().await["response"]["response"]["behavior"].clone();
    let expected = if late["state"] == "allowed" { "allow" } else { "deny" };
    assert_eq!(given, expected);
    let third = world.answer(&card, json!({"decision": "allow"})).await;
    assert_eq!(third.expect(409)["id"], card["id"]);
}

#[tokio::test]
async fn an_edited_call_and_a_lasting_rule_reach_the_session() {
    let mut world = World::new().await;
    let (_, mut puppet, card) = world.asked("make").await;
    assert_eq!(card["suggestions"][0]["label"], "Always allow Bash(make) in this project");
    let body = json!({"decision": "allow", "updated_input": {"command": "make -n"}, "always": [0]});
    world.answer(&card, body).await.expect(200);
    let given = puppet.hear().await["response"]["response"].clone();
    assert_eq!(given["updatedInput"], json!({"command": "make -n"}));
    assert_eq!(given["updatedPermissions"], json!([card["suggestions"][0]["update"]]));
}

#[tokio::test]
async fn a_rule_that_was_not_offered_is_refused_and_the_card_stays() {
    let mut world = World::new().await;
    let (_, _puppet, card) = world.asked("make").await;
    let refused = world.answer(&card, json!({"decision": "allow", "always": [7]})).await;
    assert_eq!(refused.expect_error(400), "bad_request");
    assert_eq!(world.card().await["state"], "pending");
}

#[tokio::test]
async fn answers_to_questions_go_into_the_input() {
    let mut world = World::new().await;
    let id = world.conversation().await;
    world.say(&id, "go").await;
    let (mut puppet, _) = world.prompted().await;
    let question = json!({"question": "Which?", "header": "Pick", "multiSelect": false,
        "options": [{"label": "a", "description": ""}, {"label": "b", "description": ""}]});
    let body = json!({"subtype": "can_use_tool", "tool_name": "AskUserQuestion",
        "tool_use_id": "u1", "input": {"questions": [question]}});
    puppet.say(json!({"type": "control_request", "request_id": "q", "request": body})).await;
    let card = world.card().await;
    assert_eq!(card["kind"], "question");
    let answer = json!({"decision": "allow", "answers": {"Which?": "b"}});
    world.answer(&card, answer).await.expect(200);
    let given = puppet.hear().await["response"]["response"]["updatedInput"].clone();
    assert_eq!(given["answers"], json!({"Which?": "b"}));
    assert_eq!(given["questions"][0]["header"], "Pick");
}

#[tokio::test]
async fn a_card_that_nobody_answers_expires_as_a_denial() {
    let mut world = World::new().await;
    let policy = json!({"mode": "normal", "expires_after_seconds": 60});
    world.send("PATCH", "/approvals/policy", policy).await.expect(200);
    let (_, mut puppet, card) = world.asked("make").await;
    assert!(card["expires_at"].is_string());
    world.advance(Duration::from_secs(61));
    let given = puppet.hear().await["response"]["response"].clone();
    assert_eq!(given["behavior"], "deny");
    let late = world.answer(&card, json!({"decision": "allow"})).await.expect(409);
    assert_eq!(late["state"], "expired");
}

#[tokio::test]
async fn a_paused_host_denies_at_once_and_shows_no_card() {
    let mut world = World::new().await;
    let policy = json!({"mode": "paused", "expires_after_seconds": null});
    world.send("PATCH", "/approvals/policy", policy).await.expect(200);
    let id = world.conversation().await;
    world.say(&id, "go").await;
    let (mut puppet, _) = world.prompted().await;
    puppet.ask("q1", "u1", "make").await;
    assert_eq!(puppet.hear().await["response"]["response"]["behavior"], "deny");
    let all = world.get("/approvals?state=all").await.expect(200);
    assert_eq!(all["approvals"], json!([]));
}

#[tokio::test]
async fn another_call_under_the_same_id_needs_its_own_answer() {
    let mut world = World::new().await;
    let (_, mut puppet, card) = world.asked("ls").await;
    puppet.ask("q2", "u1", "rm -rf /").await;
    let other = loop {
        let other = world.card().await;
        if other["id"] != card["id"] {
            break other;
        }
    };
    assert_ne!(other["input_hash"], card["input_hash"]);
    let late = world.answer(&card, json!({"decision": "allow"})).await.expect(409);
    assert_eq!(late["state"], "withdrawn");
    world.answer(&other, json!({"decision": "deny"})).await.expect(200);
    let given = puppet.hear().await;
    assert_eq!(given["response"]["request_id"], "q2");
    assert_eq!(given["response"]["response"]["behavior"], "deny");
}

#[tokio::test]
async fn an_answer_that_comes_after_the_round_was_stopped_runs_nothing() {
    let mut world = World::new().await;
    let (id, mut puppet, card) = world.asked("make").await;
    world.send("POST", &format!("/conversations/{id}/interrupt"), json!({})).await.expect(204);
    let request = puppet.hear().await;
    assert_eq!(request["request"]["subtype"], "interrupt");
    puppet.say(json!({"type": "control_cancel_request", "request_id": "q1"})).await;
    puppet.answer(&request, json!({})).await;
    puppet.result(0.0).await;
    world.reaches(&id, "idle").await;
    let late = world.answer(&card, json!({"decision": "allow"})).await.expect(409);
    assert_eq!(late["state"], "withdrawn");
    // The next thing the session hears is the next message, and no permission.
    world.say(&id, "next").await;
    assert_eq!(puppet.hear().await["message"]["content"], "next");
    assert_eq!(world.get("/approvals").await.expect(200)["approvals"], json!([]));
}

#[tokio::test]
async fn only_those_who_may_answer_do() {
    let mut world = World::new().await;
    let (_, mut puppet, card) = world.asked("make").await;
    let viewer = world.user("vera", Role::Viewer).await;
    let approver = world.user("anna", Role::Approver).await;
    let path = format!("/api/v1/approvals/{}/answer", card["id"].as_str().unwrap());
    let answer = |token: &str, body: Value| {
        Call::new(world.address, "POST", &path).bearer(token).json(&body).send()
    };
    let allow = json!({"decision": "allow"});
    assert_eq!(answer(&viewer, allow.clone()).await.expect_error(403), "forbidden");
    let edit = json!({"decision": "allow", "updated_input": {"command": "other"}});
    assert_eq!(answer(&approver, edit).await.expect_error(403), "forbidden");
    assert_eq!(answer(&approver, allow).await.expect(200)["answered_by"], "anna");
    assert_eq!(puppet.hear().await["response"]["response"]["behavior"], "allow");
    let call = Call::new(world.address, "POST", "/api/v1/conversations").bearer(&approver);
    assert_eq!(call.json(&json!({})).send().await.expect_error(403), "forbidden");
}

#[tokio::test]
async fn a_program_is_told_of_every_card() {
    let root = tempfile::tempdir().unwrap();
    let told = root.path().join("told");
    let script = root.path().join("tell");
    std::fs::write(&script, format!("#!/bin/sh\necho \"$1\" > {}\n", told.display())).unwrap();
    let notify = vec!["/bin/sh".to_owned(), script.display().to_string()];
    let mut world = World::with(|settings| settings.notify = notify).await;
    let (_, _puppet, _) = world.asked("make").await;
    let look = async {
        loop {
            match std::fs::read_to_string(&told) {
                Ok(text) if !text.is_empty() => return text,
                _ => tokio::time::sleep(Duration::from_millis(2)).await,
            }
        }
    };
    assert_eq!(crate::harness::within("the program", look).await, "Run a command\n");
}
