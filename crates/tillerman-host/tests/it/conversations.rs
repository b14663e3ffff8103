//! Conversations: begin, talk, queue, take back, search, export, spend.

use serde_json::{Value, json};

use crate::harness::World;

#[tokio::test]
async fn a_message_is_answered_and_everything_is_numbered() {
    let mut world = World::new().await;
    let id = world.conversation().await;
    let message = world.say(&id, "hello there").await;
    let (puppet, prompt) = world.prompted().await;
    assert_eq!(prompt["uuid"], message.as_str());
    assert_eq!(prompt["message"]["content"], "hello there");
    puppet.text("general greetings").await;
    puppet.lifecycle(&prompt["uuid"], "completed").await;
    puppet.result(0.25).await;
    let shown = world.reaches(&id, "idle").await;
    assert_eq!(shown["title"], "hello there");
    assert_eq!(shown["last_text"], "general greetings");
    assert_eq!(shown["cost_usd"], 0.25);
    assert_eq!(shown["model"], "test-model");
    let found = world.get(&format!("/conversations/{id}/events")).await.expect(200);
    let events = found["events"].as_array().unwrap();
    let numbers: Vec<u64> = events.iter().map(|it| it["seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=found["last_seq"].as_u64().unwrap()).collect::<Vec<_>>());
    assert_eq!(events[0]["event"]["kind"], "user");
    assert_eq!(events[0]["event"]["by"], "owner");
}

#[tokio::test]
async fn a_message_that_comes_twice_is_taken_once() {
    let mut world = World::new().await;
    let id = world.conversation().await;
    let body = json!({"text": "once", "client_id": "c1"});
    let path = format!("/conversations/{id}/messages");
    let first = world.send("POST", &path, body.clone()).await.expect(202);
    let (puppet, prompt) = world.prompted().await;
    let second = world.send("POST", &path, body).await.expect(202);
    assert_eq!(first, second);
    puppet.lifecycle(&prompt["uuid"], "completed").await;
    puppet.result(0.0).await;
    world.reaches(&id, "idle").await;
    let users = world.events(&id).await.iter().filter(|it| it["kind"] == "user").count();
    assert_eq!(users, 1);
}

#[tokio::test]
async fn messages_for_a_busy_run_have_a_place_and_can_be_taken_back() {
    let mut world = World::new().await;
    let id = world.conversation().await;
    world.say(&id, "first").await;
    let (mut puppet, _) = world.prompted().await;
    let path = format!("/conversations/{id}/messages");
    let second = json!({"text": "second", "client_id": "2"});
    let second = world.send("POST", &path, second).await.expect(202);
    assert_eq!(second["position"], 1);
    let third = json!({"text": "third", "client_id": "3"});
    assert_eq!(world.send("POST", &path, third).await.expect(202)["position"], 2);
    // Both are with the run already, which may take them in while it works.
    assert_eq!(puppet.hear().await["message"]["content"], "second");
    assert_eq!(puppet.hear().await["message"]["content"], "third");
    let queue = format!("/conversations/{id}/queue/{}", second["message_id"].as_str().unwrap());
    let taking_back = world.send("DELETE", &queue, json!({}));
    let playing = async {
        let request = puppet.hear().await;
        assert_eq!(request["request"]["subtype"], "cancel_async_message");
        assert_eq!(request["request"]["message_uuid"], second["message_id"]);
        puppet.answer(&request, json!({"cancelled": true})).await;
    };
    let (taken_back, ()) = tokio::join!(taking_back, playing);
    taken_back.expect(204);
    assert_eq!(world.send("DELETE", &queue, json!({})).await.expect_error(404), "not_found");
    let shown = world.get(&format!("/conversations/{id}")).await.expect(200);
    assert_eq!(shown["queued"], 1);
    let kinds: Vec<Value> =
        world.events(&id).await.iter().map(|event| event["kind"].clone()).collect();
    assert!(kinds.contains(&json!("queued")) && kinds.contains(&json!("unqueued")));
}

/// Where each message stands in the queue, by what clients were told last.
async fn places(world: &World, id: &str) -> Vec<(String, u64)> {
    let mut places: Vec<(String, u64)> = Vec::new();
    for event in world.events(id).await {
        let message = event["message_id"].as_str().unwrap_or_default();
        if matches!(event["kind"].as_str(), Some("queued" | "unqueued")) {
            places.retain(|(held, _)| held != message);
        }
        if let Some(position @ 1..) = event["position"].as_u64() {
            places.push((message.to_owned(), position));
        }
    }
    places.sort_by_key(|(_, position)| *position);
    places
}

#[tokio::test]
async fn whoever_waits_hears_of_a_new_place_when_one_leaves_the_queue() {
    let mut world = World::new().await;
    let id = world.conversation().await;
    world.say(&id, "first").await;
    let (mut puppet, prompt) = world.prompted().await;
    let mut waiting = Vec::new();
    for text in ["two", "three", "four"] {
        waiting.push(world.say(&id, text).await);
        puppet.hear().await;
    }
    let stand = |messages: &[&String]| -> Vec<(String, u64)> {
        messages.iter().map(|it| (*it).clone()).zip(1..).collect()
    };
    let [two, three, four] = waiting.as_slice() else { panic!("{waiting:?}") };
    assert_eq!(places(&world, &id).await, stand(&[two, three, four]));
    // One is taken back, and those behind it move up.
    let queue = format!("/conversations/{id}/queue/{three}");
    let playing = async {
        let request = puppet.hear().await;
        puppet.answer(&request, json!({"cancelled": true})).await;
    };
    let (taken_back, ()) = tokio::join!(world.send("DELETE", &queue, json!({})), playing);
    taken_back.expect(204);
    assert_eq!(places(&world, &id).await, stand(&[two, four]));
    // One is taken up; a socket hears of both.
    let mut socket = world.socket().await;
    let last = world.get(&format!("/conversations/{id}/events")).await.expect(200);
    socket.subscribe(&id, last["last_seq"].as_u64().unwrap()).await;
    puppet.lifecycle(&prompt["uuid"], "completed").await;
    puppet.lifecycle(&json!(two), "started").await;
    let mut told = Vec::new();
    while told.len() < 2 {
        let event = socket.next_of("event").await["event"].clone();
        if event["kind"] == "queued" {
            told.push((event["message_id"].clone(), event["position"].clone()));
        }
    }
    assert_eq!(told, [(json!(two), json!(0)), (json!(four), json!(1))]);
    // A new message takes the next place, also under a new host.
    let five = world.say(&id, "five").await;
    assert_eq!(places(&world, &id).await, stand(&[four, &five]));
    drop((puppet, socket));
    let world = world.again(|_| {}).await;
    assert_eq!(places(&world, &id).await, stand(&[four, &five]));
}

#[tokio::test]
async fn mode_and_model_reach_a_run_that_is_under_way() {
    let mut world = World::new().await;
    let id = world.conversation().await;
    world.say(&id, "go").await;
    let (mut puppet, _) = world.prompted().await;
    let path = format!("/conversations/{id}");
    let patch = json!({"permission_mode": "plan", "model": "other", "title": "Named"});
    let changed = world.send("PATCH", &path, patch).await.expect(200);
    assert_eq!((&changed["model"], &changed["title"]), (&json!("other"), &json!("Named")));
    let mode = puppet.hear().await;
    assert_eq!(mode["request"], json!({"subtype": "set_permission_mode", "mode": "plan"}));
    let model = puppet.hear().await;
    assert_eq!(model["request"], json!({"subtype": "set_model", "model": "other"}));
    let bypass = json!({"permission_mode": "bypassPermissions"});
    assert_eq!(world.send("PATCH", &path, bypass).await.expect_error(403), "forbidden");
    let nonsense = json!({"permission_mode": "yes"});
    assert_eq!(world.send("PATCH", &path, nonsense).await.expect_error(400), "bad_request");
}

#[tokio::test]
async fn an_interrupt_reaches_the_run_and_keeps_the_session() {
    let mut world = World::new().await;
    let id = world.conversation().await;
    world.say(&id, "go").await;
    let (mut puppet, prompt) = world.prompted().await;
    puppet.ask("q1", "u1", "sleep 100").await;
    let card = world.card().await;
    world.send("POST", &format!("/conversations/{id}/interrupt"), json!({})).await.expect(204);
    assert_eq!(puppet.hear().await["request"]["subtype"], "interrupt");
    puppet.say(json!({"type": "control_cancel_request", "request_id": "q1"})).await;
    puppet.lifecycle(&prompt["uuid"], "completed").await;
    puppet.finish(json!({"subtype": "error_during_execution", "is_error": true})).await;
    world.reaches(&id, "idle").await;
    let late = world.answer(&card, json!({"decision": "allow"})).await.expect(409);
    assert_eq!(late["state"], "withdrawn");
    world.say(&id, "again").await;
    assert_eq!(puppet.prompt().await["message"]["content"], "again");
}

#[tokio::test]
async fn words_are_found_in_what_people_and_agents_said() {
    let mut world = World::new().await;
    let (one, other) = (world.conversation().await, world.conversation().await);
    world.say(&one, "please fix the <b>lighthouse</b>").await;
    let (puppet, _) = world.prompted().await;
    puppet.text("The lantern room was dark.").await;
    puppet.result(0.0).await;
    world.reaches(&one, "idle").await;
    world.say(&other, "something else").await;
    let found = world.get("/conversations?search=LANTERN%20roo").await.expect(200);
    let found = found["conversations"].as_array().unwrap();
    assert_eq!((found.len(), &found[0]["id"]), (1, &json!(one)));
    assert!(found[0]["snippet"].as_str().unwrap().contains("\u{2}lantern\u{3}"));
    for nothing in ["zebra", "%22", "%2A", "lantern%20zebra"] {
        let found = world.get(&format!("/conversations?search={nothing}")).await.expect(200);
        assert_eq!(found["conversations"].as_array().unwrap().len(), 0, "{nothing}");
    }
    world.send("DELETE", &format!("/conversations/{one}"), json!({})).await.expect(204);
    let found = world.get("/conversations?search=lantern").await.expect(200);
    assert_eq!(found["conversations"], json!([]));
    assert_eq!(world.get(&format!("/conversations/{one}")).await.expect_error(404), "not_found");
}

#[tokio::test]
async fn lists_go_on_where_they_stopped() {
    let world = World::new().await;
    for _ in 0..5 {
        world.conversation().await;
    }
    let mut seen = Vec::new();
    let mut path = "/conversations?limit=2".to_owned();
    loop {
        let page = world.get(&path).await.expect(200);
        seen.extend(page["conversations"].as_array().unwrap().iter().map(|it| it["id"].clone()));
        let Some(next) = page["next"].as_str() else { break };
        path = format!("/conversations?limit=2&before={next}");
    }
    let all = world.get("/conversations").await.expect(200);
    let all = all["conversations"].as_array().unwrap().iter().map(|it| it["id"].clone());
    assert_eq!(seen, all.collect::<Vec<_>>());
    assert_eq!(seen.len(), 5);
    let first = format!("/conversations/{}", seen[0].as_str().unwrap());
    world.send("PATCH", &first, json!({"archived": true})).await.expect(200);
    let put_away = world.get("/conversations?archived=true").await.expect(200);
    assert_eq!(put_away["conversations"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn an_export_cannot_be_broken_out_of() {
    let mut world = World::new().await;
    let id = world.conversation().await;
    world.say(&id, "<script>alert(1)</script>").await;
    let (puppet, _) = world.prompted().await;
    let message = json!({"role": "assistant", "id": "m", "model": "m", "content": [{"type":
        "tool_use", "id": "u", "name": "Bash", "input": {"command": "echo '```'"}}]});
    let frame = json!({"type": "assistant", "message": message, "uuid": "a", "session_id": "s",
        "parent_tool_use_id": null});
    puppet.say(frame).await;
    puppet.result(0.0).await;
    world.reaches(&id, "idle").await;
    let markdown = world.get(&format!("/conversations/{id}/export?format=markdown")).await;
    assert!(markdown.header("content-disposition").unwrap().starts_with("attachment"));
    assert_eq!(markdown.header("x-content-type-options"), Some("nosniff"));
    assert!(markdown.text.contains("````json"), "{}", markdown.text);
    let whole = world.get(&format!("/conversations/{id}/export")).await.expect(200);
    assert_eq!(whole["events"][0]["event"]["text"], "<script>alert(1)</script>");
    let bad = world.get(&format!("/conversations/{id}/export?format=html")).await;
    assert_eq!(bad.expect_error(400), "bad_request");
}

#[tokio::test]
async fn spending_is_summed_up_and_limited_by_day() {
    let mut world = World::with(|settings| settings.daily_budget_usd = Some(1.0)).await;
    let id = world.conversation().await;
    world.say(&id, "one").await;
    let (puppet, prompt) = world.prompted().await;
    puppet.lifecycle(&prompt["uuid"], "completed").await;
    puppet.result(0.4).await;
    world.reaches(&id, "idle").await;
    world.say(&id, "two").await;
    let mut puppet = puppet;
    let prompt = puppet.prompt().await;
    puppet.lifecycle(&prompt["uuid"], "completed").await;
    // Sessions report what they spent so far, not what a round did.
    puppet.result(1.1).await;
    world.reaches(&id, "idle").await;
    let usage = world.get("/usage?days=2").await.expect(200);
    assert_eq!(usage["days"].as_array().unwrap().len(), 2);
    assert_eq!(usage["days"][1]["runs"], 2);
    assert_eq!(usage["today_cost_usd"], 1.1);
    assert_eq!(usage["by_model"][0]["output_tokens"], 10);
    let more = json!({"text": "three", "client_id": "3"});
    let path = format!("/conversations/{id}/messages");
    assert_eq!(world.send("POST", &path, more.clone()).await.expect_error(402), "limit_reached");
    world.advance(std::time::Duration::from_secs(24 * 3_600));
    world.send("POST", &path, more).await.expect(202);
}

#[tokio::test]
async fn attachments_come_after_the_text_in_their_own_blocks() {
    let mut world = World::new().await;
    let id = world.conversation().await;
    let path = format!("/conversations/{id}/messages");
    let image = json!({"name": "a.png", "media_type": "image/png", "data_base64": "aGk="});
    let text = json!({"name": "a.txt", "media_type": "text/plain", "data_base64": "aGk="});
    let body = json!({"text": "look", "client_id": "1", "attachments": [image, text]});
    world.send("POST", &path, body).await.expect(202);
    let (_puppet, prompt) = world.prompted().await;
    let blocks = prompt["message"]["content"].as_array().unwrap();
    let kinds: Vec<&str> = blocks.iter().map(|block| block["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["text", "image", "text"]);
    assert_eq!(blocks[1]["source"]["data"], "aGk=");
    assert_eq!(world.events(&id).await[0]["attachments"][0]["name"], "a.png");
    for (kind, data) in [("image/svg+xml", "aGk="), ("image/png", "data:image/png;base64,aGk=")] {
        let wrong = json!({"name": "x", "media_type": kind, "data_base64": data});
        let body = json!({"text": "look", "client_id": kind, "attachments": [wrong]});
        assert_eq!(world.send("POST", &path, body).await.expect_error(400), "bad_request");
    }
}

#[tokio::test]
async fn completions_and_context_wake_a_session_that_sleeps() {
    let mut world = World::new().await;
    std::fs::write(world.root.path().join("work/notes.md"), "x").unwrap();
    let id = world.conversation().await;
    let files = world.get(&format!("/conversations/{id}/completions?kind=file&query=@not")).await;
    assert_eq!(files.expect(200)["items"][0]["value"], "notes.md");
    let path = format!("/conversations/{id}/completions?kind=command&query=/co");
    // The question starts the session that answers it.
    let asking = world.call("GET", &format!("/api/v1{path}")).send();
    let (answer, mut puppet) = tokio::join!(asking, async {
        let mut puppet = world.puppet().await;
        puppet.greet().await;
        puppet
    });
    assert_eq!(answer.expect(200)["items"][0]["value"], "compact");
    let context = format!("/conversations/{id}/context");
    let (context, ()) = tokio::join!(world.get(&context), async {
        let request = puppet.hear().await;
        puppet.answer(&request, json!({"totalTokens": 5})).await;
    });
    assert_eq!(context.expect(200)["totalTokens"], 5);
}
