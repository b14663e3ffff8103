//! Files of messages: there to look at for as long as the conversation is, for those who may.

use serde_json::{Value, json};
use tillerman_host::wire::Event;
use tillerman_host::{Reindexed, Retold, Role};
use tillerman_protocol::Moment;

use crate::harness::{Call, World};

const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

async fn sent(world: &World, id: &str, files: Value) -> (String, Vec<Value>) {
    let body = json!({"text": "look", "client_id": "1", "attachments": files});
    let path = format!("/conversations/{id}/messages");
    let accepted = world.send("POST", &path, body).await.expect(202);
    let notes = world.events(id).await[0]["attachments"].as_array().unwrap().clone();
    (accepted["message_id"].as_str().unwrap().to_owned(), notes)
}

#[tokio::test]
async fn pictures_are_shown_and_other_files_saved_after_the_run_and_a_restart() {
    let mut world = World::new().await;
    let id = world.conversation().await;
    let files = json!([
        {"name": "dot.png", "media_type": "image/png", "data_base64": PIXEL},
        {"name": "bö\"se\r\n.html", "media_type": "text/html", "data_base64": "PGI+"},
    ]);
    let (_, notes) = sent(&world, &id, files).await;
    assert_eq!(notes[0]["size"], 70);
    assert_eq!(notes[1]["size"], 3);
    let (puppet, prompt) = world.prompted().await;
    puppet.lifecycle(&prompt["uuid"], "completed").await;
    puppet.result(0.0).await;
    world.reaches(&id, "idle").await;
    let world = world.again(|_| {}).await;
    let url = |place: usize| notes[place]["url"].as_str().unwrap();
    let picture = world.call("GET", url(0)).send().await;
    assert_eq!(picture.status, 200);
    assert_eq!(picture.header("content-type"), Some("image/png"));
    assert_eq!(picture.header("x-content-type-options"), Some("nosniff"));
    assert!(picture.header("content-disposition").unwrap().starts_with("inline; "));
    let policy = picture.header("content-security-policy").unwrap();
    assert_eq!(policy, "default-src 'none'; sandbox");
    let page = world.call("GET", url(1)).send().await;
    assert_eq!(page.text, "<b>");
    assert_eq!(page.header("content-type"), Some("text/plain; charset=utf-8"));
    assert_eq!(
        page.header("content-disposition"),
        Some("attachment; filename=\"b__se__.html\"; filename*=utf-8''b%c3%b6%22se%0d%0a.html")
    );
}

#[tokio::test]
async fn files_are_behind_the_door_and_under_their_conversation_only() {
    let world = World::new().await;
    let id = world.conversation().await;
    let file = json!([{"name": "a.txt", "media_type": "text/plain", "data_base64": "aGk="}]);
    let (message, notes) = sent(&world, &id, file).await;
    let url = notes[0]["url"].as_str().unwrap();
    let stranger = Call::new(world.address, "GET", url).send().await;
    assert_eq!(stranger.expect_error(401), "unauthorized");
    let viewer = world.user("vera", Role::Viewer).await;
    assert_eq!(Call::new(world.address, "GET", url).bearer(&viewer).send().await.text, "hi");
    let other = world.conversation().await;
    for wrong in [
        format!("/conversations/{other}/attachments/{message}/0"),
        format!("/conversations/{id}/attachments/{message}/1"),
        format!("/conversations/{id}/attachments/{message}/x"),
        format!("/conversations/{id}/attachments/gone/0"),
    ] {
        assert_eq!(world.get(&wrong).await.expect_error(404), "not_found", "{wrong}");
    }
    world.send("DELETE", &format!("/conversations/{id}"), json!({})).await.expect(204);
    assert_eq!(world.call("GET", url).send().await.expect_error(404), "not_found");
}

#[tokio::test]
async fn a_message_that_waits_keeps_its_files_over_a_restart_and_loses_them_when_taken_back() {
    let mut world = World::new().await;
    let id = world.conversation().await;
    let file = json!([{"name": "dot.png", "media_type": "image/png", "data_base64": PIXEL}]);
    let (_, notes) = sent(&world, &id, file.clone()).await;
    let (puppet, _) = world.prompted().await;
    drop(puppet);
    let mut world = world.again(|_| {}).await;
    let mut puppet = world.puppet().await;
    puppet.greet().await;
    let prompt = puppet.prompt().await;
    assert_eq!(prompt["message"]["content"][1]["source"]["data"], PIXEL);
    let body = json!({"text": "later", "client_id": "2", "attachments": file});
    let path = format!("/conversations/{id}/messages");
    let queued = world.send("POST", &path, body).await.expect(202);
    assert_eq!(puppet.hear().await["message"]["content"][0]["text"], "later");
    let message = queued["message_id"].as_str().unwrap();
    let url = format!("/conversations/{id}/attachments/{message}/0");
    assert_eq!(world.get(&url).await.status, 200);
    let place = format!("/conversations/{id}/queue/{message}");
    let (taken, ()) = tokio::join!(world.send("DELETE", &place, json!({})), async {
        let request = puppet.hear().await;
        puppet.answer(&request, json!({"cancelled": true})).await;
    });
    taken.expect(204);
    assert_eq!(world.get(&url).await.expect_error(404), "not_found");
    let first = notes[0]["url"].as_str().unwrap();
    assert_eq!(world.call("GET", first).send().await.status, 200);
}

#[tokio::test]
async fn a_database_that_is_built_anew_still_knows_the_files() {
    let mut world = World::new().await;
    let id = world.conversation().await;
    let file = json!([{"name": "dot.png", "media_type": "image/png", "data_base64": PIXEL}]);
    let (message_id, notes) = sent(&world, &id, file).await;
    let (puppet, prompt) = world.prompted().await;
    puppet.lifecycle(&prompt["uuid"], "completed").await;
    puppet.result(0.0).await;
    let session_id = world.reaches(&id, "idle").await["session_id"].as_str().unwrap().to_owned();
    let event = Event::User {
        message_id,
        text: "look".to_owned(),
        attachments: Vec::new(),
        by: "transcript".to_owned(),
        client_id: String::new(),
    };
    let events = vec![(Moment::from_millis(1), event)];
    let retold = Retold { session_id, events, ..Retold::default() };
    assert_eq!(world.store.reindex(retold).await.unwrap(), Reindexed::Rebuilt);
    let events = world.events(&id).await;
    assert_eq!(events.len(), 1);
    assert_eq!(events[0]["attachments"], json!(notes));
}
