//! Questions of MCP servers: cards that people accept, decline or put aside.

use std::time::Duration;

use serde_json::{Value, json};
use tillerman_host::Role;

use crate::harness::{Call, Puppet, World};

/// A form with one field of each kind that people fill in often.
fn form() -> Value {
    json!({"mode": "form", "message": "Which size?", "requested_schema": {
    "type": "object", "required": ["size", "mail"], "properties": {
        "size": {"type": "string", "title": "Size",
            "oneOf": [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}]},
        "mail": {"type": "string", "format": "email"},
        "count": {"type": "integer", "minimum": 1, "default": 1},
        "gift": {"type": "boolean"},
    }}})
}

async fn asked(world: &mut World, question: Value) -> (String, Puppet, Value) {
    let id = world.conversation().await;
    world.say(&id, "go").await;
    let (puppet, _) = world.prompted().await;
    puppet.elicit("e1", question).await;
    let card = world.card().await;
    (id, puppet, card)
}

#[tokio::test]
async fn a_form_is_a_card_and_its_values_reach_the_server() {
    let mut world = World::new().await;
    let (id, mut puppet, card) = asked(&mut world, form()).await;
    assert_eq!(card["kind"], "elicitation");
    assert_eq!(card["elicitation"]["server"], "shop");
    assert_eq!(card["elicitation"]["fields"][0]["label"], "Size");
    assert_eq!(card["display"]["title"], "shop asks for an answer");
    assert_eq!(card["display"]["lines"][0], "Which size?");
    assert_eq!(world.reaches(&id, "waiting").await["pending_approvals"], 1);
    let values = json!({"size": "l", "mail": "ada@example.com", "gift": true});
    let body = json!({"decision": "allow", "answers": values});
    assert_eq!(world.answer(&card, body).await.expect(200)["state"], "allowed");
    let given = puppet.hear().await;
    assert_eq!(given["response"]["request_id"], "e1");
    let content = json!({"size": "l", "mail": "ada@example.com", "count": 1, "gift": true});
    assert_eq!(given["response"]["response"], json!({"action": "accept", "content": content}));
    let audit = world.get("/audit").await.expect(200);
    let note = &audit["entries"][0];
    assert_eq!(note["action"], "approval.allow");
    let detail = note["detail"].as_str().unwrap();
    assert!(detail.contains("mcp__shop") && !detail.contains("ada@"), "{detail}");
    let events = world.events(&id).await;
    let cards: Vec<&Value> = events.iter().filter(|event| event["kind"] == "approval").collect();
    assert_eq!(cards.len(), 2, "asked and answered");
    assert!(!json!(events).to_string().contains("ada@"), "values are for the server alone");
}

#[tokio::test]
async fn wrong_values_are_refused_by_field_and_the_card_stays() {
    let mut world = World::new().await;
    let (_, mut puppet, card) = asked(&mut world, form()).await;
    let wrong = json!({"size": "Large", "count": 0, "gift": "yes", "more": 1});
    let body = json!({"decision": "allow", "answers": wrong});
    let refused = world.answer(&card, body).await.expect(400);
    let fields = refused["error"]["fields"].as_object().unwrap();
    let names: Vec<&str> = fields.keys().map(String::as_str).collect();
    assert_eq!(names, ["count", "gift", "mail", "more", "size"]);
    assert_eq!(fields["mail"], "This is needed.");
    assert_eq!(world.card().await["state"], "pending");
    world.answer(&card, json!({"decision": "deny"})).await.expect(200);
    assert_eq!(puppet.hear().await["response"]["response"], json!({"action": "decline"}));
}

#[tokio::test]
async fn a_question_is_put_aside_and_a_call_is_not() {
    let mut world = World::new().await;
    let (_, mut puppet, card) = asked(&mut world, form()).await;
    let body = json!({"decision": "cancel"});
    assert_eq!(world.answer(&card, body.clone()).await.expect(200)["state"], "cancelled");
    assert_eq!(puppet.hear().await["response"]["response"], json!({"action": "cancel"}));
    let audit = world.get("/audit").await.expect(200);
    assert_eq!(audit["entries"][0]["action"], "approval.cancel");
    puppet.ask("q1", "u1", "make").await;
    let call = world.card().await;
    assert_eq!(world.answer(&call, body).await.expect_error(400), "bad_request");
}

#[tokio::test]
async fn a_page_is_shown_whole_and_only_one_of_the_web_is_accepted() {
    let mut world = World::new().await;
    let url = "https://pay.example/checkout?id=7#top";
    let page = json!({"mode": "url", "message": "Pay here.", "url": url, "elicitation_id": "p1"});
    let (_, mut puppet, card) = asked(&mut world, page).await;
    assert_eq!(card["elicitation"]["url"], url);
    assert_eq!(card["display"]["lines"], json!(["Pay here.", url]));
    world.answer(&card, json!({"decision": "allow"})).await.expect(200);
    assert_eq!(puppet.hear().await["response"]["response"], json!({"action": "accept"}));
    let trap = json!({"mode": "url", "message": "Open.", "url": "javascript:alert(1)"});
    puppet.elicit("e2", trap).await;
    let card = world.card().await;
    assert!(card["elicitation"]["problem"].is_string());
    let refused = world.answer(&card, json!({"decision": "allow"})).await;
    assert_eq!(refused.expect_error(400), "bad_request");
    world.answer(&card, json!({"decision": "deny"})).await.expect(200);
    assert_eq!(puppet.hear().await["response"]["response"], json!({"action": "decline"}));
}

#[tokio::test]
async fn a_page_that_is_done_with_closes_its_card() {
    let mut world = World::new().await;
    let page = |id: &str| {
        json!({"mode": "url", "message": "Pay here.", "url": "https://pay.example/7",
            "elicitation_id": id})
    };
    let (id, mut puppet, card) = asked(&mut world, page("p1")).await;
    let done = |server: &str, id: &str| {
        json!({"type": "system", "subtype": "elicitation_complete", "session_id": "s",
            "uuid": "c", "mcp_server_name": server, "elicitation_id": id})
    };
    // Another server's page, and one that nobody asked about, close nothing.
    puppet.say(done("bank", "p1")).await;
    puppet.say(done("shop", "p7")).await;
    puppet.text("still waiting").await;
    world.reaches_text(&id, "still waiting").await;
    assert_eq!(world.card().await["state"], "pending");
    puppet.say(done("shop", "p1")).await;
    let given = puppet.hear().await;
    assert_eq!(given["response"]["request_id"], "e1");
    assert_eq!(given["response"]["response"], json!({"action": "accept"}));
    let late = world.answer(&card, json!({"decision": "deny"})).await.expect(409);
    assert_eq!(late["state"], "withdrawn");
    assert_eq!(world.reaches(&id, "running").await["pending_approvals"], 0);
    let told = world.events(&id).await;
    let told = told.iter().filter(|event| event["frame"]["subtype"] == "elicitation_complete");
    assert_eq!(told.count(), 3, "the page hears of it");
    // What people could only decline is not agreed to in this way either.
    let trap = json!({"mode": "url", "message": "Open.", "url": "javascript:alert(1)",
        "elicitation_id": "p2"});
    puppet.elicit("e2", trap).await;
    world.card().await;
    puppet.say(done("shop", "p2")).await;
    assert_eq!(puppet.hear().await["response"]["response"], json!({"action": "decline"}));
}

#[tokio::test]
async fn a_question_that_nobody_answers_is_declined() {
    let mut world = World::new().await;
    let policy = json!({"mode": "normal", "expires_after_seconds": 60});
    world.send("PATCH", "/approvals/policy", policy).await.expect(200);
    let (_, mut puppet, card) = asked(&mut world, form()).await;
    world.advance(Duration::from_secs(61));
    assert_eq!(puppet.hear().await["response"]["response"], json!({"action": "decline"}));
    let late = world.answer(&card, json!({"decision": "deny"})).await.expect(409);
    assert_eq!(late["state"], "expired");
    assert!(late["message"].as_str().unwrap().contains("declined"));
}

#[tokio::test]
async fn a_paused_host_declines_at_once_and_a_server_may_take_its_question_back() {
    let mut world = World::new().await;
    let (id, mut puppet, _) = asked(&mut world, form()).await;
    puppet.say(json!({"type": "control_cancel_request", "request_id": "e1"})).await;
    let gone = async {
        loop {
            let all = world.get("/approvals?state=all").await.expect(200);
            if all["approvals"][0]["state"] == "withdrawn" {
                return;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    crate::harness::within("the withdrawal", gone).await;
    let policy = json!({"mode": "paused", "expires_after_seconds": null});
    world.send("PATCH", "/approvals/policy", policy).await.expect(200);
    puppet.elicit("e2", form()).await;
    assert_eq!(puppet.hear().await["response"]["response"], json!({"action": "decline"}));
    let events = world.events(&id).await;
    assert_eq!(events.iter().filter(|event| event["kind"] == "approval").count(), 2);
}

#[tokio::test]
async fn two_questions_that_are_alike_are_two_cards() {
    let mut world = World::new().await;
    let (_, mut puppet, first) = asked(&mut world, form()).await;
    puppet.elicit("e2", form()).await;
    let both = async {
        loop {
            let all = world.get("/approvals").await.expect(200)["approvals"].clone();
            if all.as_array().unwrap().len() == 2 {
                return;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    crate::harness::within("two cards", both).await;
    world.answer(&first, json!({"decision": "deny"})).await.expect(200);
    assert_eq!(puppet.hear().await["response"]["request_id"], "e1");
    let second = world.card().await;
    world.answer(&second, json!({"decision": "cancel"})).await.expect(200);
    assert_eq!(puppet.hear().await["response"]["request_id"], "e2");
}

#[tokio::test]
async fn a_question_outlives_the_host_and_its_answer_waits_for_the_server() {
    let mut world = World::new().await;
    let (id, puppet, card) = asked(&mut world, form()).await;
    let mut world = world.again(|_| {}).await;
    drop(puppet);
    assert_eq!(world.card().await, card, "the card is as it was");
    world.reaches(&id, "waiting").await;
    let values = json!({"size": "s", "mail": "a@b.c"});
    world.answer(&card, json!({"decision": "allow", "answers": values})).await.expect(200);
    let mut puppet = world.puppet().await;
    puppet.greet().await;
    let reopening = puppet.hear().await;
    assert_eq!(reopening["request"]["tool_use_ids"], json!([]));
    puppet.answer(&reopening, json!({"reopened": []})).await;
    let told = puppet.hear().await["message"]["content"].as_str().unwrap().to_owned();
    assert!(told.contains("shop") && told.contains("has now answered it"), "{told}");
    assert!(!told.contains("a@b.c"), "values are for the server alone");
    puppet.elicit("e7", form()).await;
    let given = puppet.hear().await;
    assert_eq!(given["response"]["request_id"], "e7");
    assert_eq!(given["response"]["response"]["content"]["size"], "s");
    // The answer is used up.
    puppet.elicit("e8", form()).await;
    assert_ne!(world.card().await["id"], card["id"]);
}

#[tokio::test]
async fn a_session_is_told_of_an_answer_once() {
    let mut world = World::new().await;
    let (id, puppet, card) = asked(&mut world, form()).await;
    let mut world = world.again(|_| {}).await;
    drop(puppet);
    world.answer(&card, json!({"decision": "deny"})).await.expect(200);
    let mut puppet = world.puppet().await;
    puppet.greet().await;
    let reopening = puppet.hear().await;
    puppet.answer(&reopening, json!({"reopened": []})).await;
    let told = puppet.hear().await["message"]["content"].as_str().unwrap().to_owned();
    assert!(told.contains("declined it"), "{told}");
    puppet.result(0.0).await;
    world.reaches(&id, "idle").await;
    let mut world = world.again(|_| {}).await;
    world.say(&id, "and now?").await;
    let mut puppet = world.puppet().await;
    puppet.greet().await;
    let next = puppet.hear().await;
    assert_eq!(next["type"], "user", "{next}");
}

#[tokio::test]
async fn approvers_answer_servers_and_viewers_do_not() {
    let mut world = World::new().await;
    let (_, mut puppet, card) = asked(&mut world, form()).await;
    let viewer = world.user("vera", Role::Viewer).await;
    let approver = world.user("anna", Role::Approver).await;
    let path = format!("/api/v1/approvals/{}/answer", card["id"].as_str().unwrap());
    let body = json!({"decision": "allow", "answers": {"size": "s", "mail": "a@b.c"}});
    let answer =
        |token: &str| Call::new(world.address, "POST", &path).bearer(token).json(&body).send();
    assert_eq!(answer(&viewer).await.expect_error(403), "forbidden");
    assert_eq!(answer(&approver).await.expect(200)["answered_by"], "anna");
    assert_eq!(puppet.hear().await["response"]["response"]["action"], "accept");
}
