//! Whose a conversation is, and whose sessions it starts.

use std::sync::Arc;

use serde_json::{Value, json};
use tillerman_host::{Memory, Role, SessionStart};

use crate::harness::{Call, Shell, World};

const FIRST: &str = include_str!("../../src/store/schema/0001.sql");
const SECOND: &str = include_str!("../../src/store/schema/0002.sql");

async fn send(world: &World, token: &str, path: &str, body: Value) -> Value {
    let path = format!("/api/v1{path}");
    let sent = Call::new(world.address, "POST", &path).bearer(token).json(&body).send().await;
    sent.expect(if path.ends_with("/messages") { 202 } else { 201 })
}

#[tokio::test]
async fn a_conversation_belongs_to_whoever_made_it_whoever_talks_in_it() {
    let mut world = World::new().await;
    let vera = world.user("vera", Role::Owner).await;
    let ours = world.conversation().await;
    let hers = send(&world, &vera, "/conversations", json!({})).await;
    assert_eq!(hers["owner"], "vera");
    let hers = hers["id"].as_str().unwrap().to_owned();
    let said = json!({"text": "go", "client_id": "1"});
    // Each talks in the other's conversation.
    send(&world, &vera, &format!("/conversations/{ours}/messages"), said.clone()).await;
    let (puppet, _) = world.prompted().await;
    assert_eq!(puppet.order.owner, None, "the first owner's memory stays where it was");
    world.send("POST", &format!("/conversations/{hers}/messages"), said).await.expect(202);
    let (puppet, _) = world.prompted().await;
    assert_eq!(puppet.order.owner.as_deref(), Some("vera"));
    let listed = world.get("/conversations").await.expect(200);
    let mut owners: Vec<&str> = listed["conversations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["owner"].as_str().unwrap())
        .collect();
    owners.sort_unstable();
    assert_eq!(owners, ["owner", "vera"]);
    // Neither a restart nor the end of a user makes it somebody else's.
    world.store.remove_user("owner").await.unwrap();
    let world = world.again(|_| {}).await;
    let shown = Call::new(world.address, "GET", &format!("/api/v1/conversations/{ours}"));
    assert_eq!(shown.bearer(&vera).send().await.expect(200)["owner"], "owner");
    let later = send(&world, &vera, "/conversations", json!({})).await;
    let path = format!("/conversations/{}/messages", later["id"].as_str().unwrap());
    send(&world, &vera, &path, json!({"text": "go", "client_id": "1"})).await;
    let mut world = world;
    // The others go on where they were.
    let found = loop {
        let puppet = world.puppet().await;
        if matches!(puppet.order.session, SessionStart::Begin(_)) {
            break puppet.order.owner;
        }
    };
    assert_eq!(found.as_deref(), Some("vera"), "she does not come into the first owner's place");
}

#[tokio::test]
async fn sessions_of_programs_belong_to_whoever_opens_them() {
    let mut world = World::new().await;
    let vera = world.user("vera", Role::Owner).await;
    let bearer = |token: &str| ("authorization", format!("Bearer {token}"));
    let mut socket = world.connect_to("/api/v1/sdk", &[bearer(&vera)]).await.unwrap();
    socket.send(json!({"type": "open", "options": {"args": []}})).await;
    assert_eq!(world.puppet().await.order.owner.as_deref(), Some("vera"));
    let mut socket = world.connect_to("/api/v1/sdk", &[bearer(&world.token)]).await.unwrap();
    let options = json!({"args": [], "env": {"TILLERMAN_OWNER": "vera"}});
    socket.send(json!({"type": "open", "options": options})).await;
    assert_eq!(socket.next().await["type"], "refused");
}

#[tokio::test]
async fn conversations_of_an_older_database_belong_to_its_first_owner() {
    let world = World::new().await;
    let root = world.root.path().to_owned();
    let old = root.join("old");
    std::fs::create_dir_all(&old).unwrap();
    let db = rusqlite::Connection::open(old.join("host.db")).unwrap();
    db.execute_batch(&format!(
        "{FIRST}; {SECOND}; PRAGMA user_version = 2; \
         INSERT INTO users VALUES ('zoe', 'viewer', x'00', 1), ('owner', 'owner', x'01', 3), \
         ('ada', 'owner', x'02', 2); \
         INSERT INTO conversations (id, cwd, permission_mode, created_at, updated_at) \
         VALUES ('c', '/', 'default', 1, 1);"
    ))
    .unwrap();
    drop(db);
    drop(tillerman_host::Store::open(&old).unwrap());
    let look = async {
        loop {
            let db = rusqlite::Connection::open(old.join("host.db")).unwrap();
            let owner = db.query_row("SELECT owner FROM conversations", [], |row| row.get(0));
            if let Ok(owner) = owner {
                return owner;
            }
            tokio::task::yield_now().await;
        }
    };
    let owner: String = crate::harness::within("the owner", look).await;
    assert_eq!(owner, "ada");
}

#[tokio::test]
async fn passages_come_from_conversations_of_the_same_owner_only() {
    let data = Arc::new(tempfile::tempdir().unwrap());
    let mut shell = Shell::open(Arc::clone(&data), Memory::On).await;
    shell.round("r1", "the rudder creaks at night", "It needs grease.").await;
    let db = rusqlite::Connection::open(data.path().join("data/host.db")).unwrap();
    let give = |owner: &str| {
        let sql = "UPDATE conversations SET owner = ?1 WHERE title LIKE '%creaks%'";
        assert_eq!(db.execute(sql, [owner]).unwrap(), 1);
    };
    for (owner, is_remembered) in [("vera", false), ("owner", true)] {
        give(owner);
        shell.answer(json!({"id": "clear", "kind": "clear_history"})).await;
        shell.say(owner, "what about the rudder").await;
        let (puppet, prompt) = shell.prompted().await;
        let text = prompt["message"]["content"].as_str().unwrap().to_owned();
        assert_eq!(text.contains("creaks at night"), is_remembered, "{text}");
        puppet.result(0.0).await;
        assert_eq!(shell.hear().await["type"], "done");
    }
}
