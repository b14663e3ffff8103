//! The data directory: its rights, its lock, its versions.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;
use tillerman_host::{OpenStoreError, Store};

use crate::harness::World;

#[tokio::test]
async fn nobody_else_can_read_the_data() {
    let world = World::new().await;
    world.conversation().await;
    let data = world.root.path().join("data");
    let mode =
        |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&data), 0o700);
    for file in std::fs::read_dir(&data).unwrap() {
        let path = file.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
    let files = std::fs::read_dir(&data).unwrap().map(|file| std::fs::read(file.unwrap().path()));
    let token = world.token.as_bytes();
    for bytes in files {
        let found = bytes.unwrap().windows(token.len()).any(|part| part == token);
        assert!(!found, "the token is written down");
    }
}

#[tokio::test]
async fn a_second_host_is_kept_out() {
    let world = World::new().await;
    let refused = Store::open(&world.root.path().join("data"));
    let Err(error @ OpenStoreError::Busy { .. }) = refused else { panic!("let in") };
    assert!(error.to_string().contains("another host"));
    Store::open_beside(&world.root.path().join("data")).unwrap();
}

#[tokio::test]
async fn a_database_of_a_later_program_is_left_alone() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("host.db");
    let database = rusqlite::Connection::open(&path).unwrap();
    database.execute_batch("CREATE TABLE a (b)").unwrap();
    database.pragma_update(None, "user_version", 99).unwrap();
    drop(database);
    let before = std::fs::read(&path).unwrap();
    let Err(error) = Store::open_beside(root.path()) else { panic!("opened") };
    let text = error.to_string();
    assert!(text.contains("99") && text.contains("left as it is"), "{text}");
    assert!(std::fs::read(&path).unwrap() == before, "it was changed");
}

#[tokio::test]
async fn a_damaged_database_is_named_left_alone_and_says_what_to_do() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("host.db");
    let database = rusqlite::Connection::open(&path).unwrap();
    database.execute_batch("CREATE TABLE a (b); CREATE TABLE c (d)").unwrap();
    drop(database);
    let mut scrambled = std::fs::read(&path).unwrap();
    scrambled[100..4_000].fill(0xa5);
    for damaged in [b"this is no database, whatever its name is".repeat(50), scrambled] {
        std::fs::write(&path, &damaged).unwrap();
        let Err(error) = Store::open(root.path()) else { panic!("opened") };
        assert!(matches!(error, OpenStoreError::Damaged { .. }), "{error}");
        let text = error.to_string();
        assert!(text.contains("host.db") && text.contains("tillerman reindex"), "{text}");
        assert_eq!(std::fs::read(&path).unwrap(), damaged, "it was changed");
    }
    // Moving it away is enough to go on.
    std::fs::rename(&path, root.path().join("damaged.db")).unwrap();
    Store::open(root.path()).unwrap();
}

#[tokio::test]
async fn a_database_that_refuses_loses_nothing_and_the_run_waits() {
    let mut world = World::new().await;
    let id = world.conversation().await;
    world.say(&id, "go").await;
    let (puppet, _) = world.prompted().await;
    world.reaches(&id, "running").await;
    let path = world.root.path().join("data/host.db");
    let database = rusqlite::Connection::open(&path).unwrap();
    // A trigger stands in for a disk that is full.
    let refuse =
        "CREATE TRIGGER full BEFORE INSERT ON events BEGIN SELECT RAISE(FAIL, 'full'); END";
    database.execute_batch(refuse).unwrap();
    let mut socket = world.socket().await;
    socket.subscribe(&id, 0).await;
    socket.next_of("caught_up").await;
    puppet.text("kept for later").await;
    let told = socket.next_of("event").await;
    assert!(told["event"]["message"].as_str().unwrap().contains("cannot be stored"));
    let body = json!({"text": "more", "client_id": "2"});
    let other = world.conversation().await;
    let refused = world.send("POST", &format!("/conversations/{other}/messages"), body).await;
    assert!(!refused.text.contains("RAISE") && !refused.text.contains("events"), "{refused:?}");
    assert_eq!(refused.expect_error(500), "storage_failed");
    database.execute_batch("DROP TRIGGER full").unwrap();
    let stored = loop {
        let event = socket.next_of("event").await;
        if event["event"].to_string().contains("kept for later") {
            break event;
        }
    };
    assert!(stored["seq"].is_u64());
    let seqs = world.get(&format!("/conversations/{id}/events")).await.expect(200);
    let count = seqs["events"].as_array().unwrap().len() as u64;
    assert_eq!(seqs["last_seq"].as_u64(), Some(count), "numbers have no gap");
}

#[tokio::test]
async fn metrics_tell_what_happened() {
    let mut world = World::new().await;
    let id = world.conversation().await;
    world.say(&id, "go").await;
    let (puppet, _) = world.prompted().await;
    puppet.ask("q1", "u1", "make").await;
    world.card().await;
    let metrics = world.call("GET", "/metrics").send().await;
    assert_eq!(metrics.status, 200);
    for line in ["tillerman_approvals_total 1", "tillerman_sessions 1", "tillerman_sockets 0"] {
        assert!(metrics.text.contains(line), "{line} is not in {}", metrics.text);
    }
    assert!(!metrics.text.contains(&id));
}
