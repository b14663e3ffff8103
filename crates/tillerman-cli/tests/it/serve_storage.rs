//! `tillerman serve` on disks and databases that are not as they should be.

use rustix::mount::MountFlags;
use rustix::process::Signal;
use serde_json::json;

use crate::harness::{World, within};
use crate::served::Served;
use crate::small_disk::SmallDisk;

async fn end(mut host: Served) {
    host.process.signal(Signal::TERM);
    within("the end", host.process.child.wait()).await.unwrap();
}

#[tokio::test]
async fn a_database_of_a_newer_program_is_refused_and_left_alone() {
    let world = World::new();
    end(Served::start(&world, &[]).await).await;
    let path = world.path("data/host.db");
    let database = rusqlite::Connection::open(&path).unwrap();
    database.pragma_update(None, "user_version", 99).unwrap();
    drop(database);
    let newer = std::fs::read(&path).unwrap();
    let data = world.path("data");
    for command in ["serve", "ipc"] {
        let launch = world.tillerman().args([command, "--data-dir", data.to_str().unwrap()]);
        let refused = launch.run().await;
        refused.assert_code(1).assert_stderr("version 99").assert_stderr("left as it is");
        refused.assert_no_panic();
        assert_eq!(std::fs::read(&path).unwrap(), newer, "{command} changed it");
    }
}

#[tokio::test]
async fn a_damaged_database_is_named_and_conversations_are_found_again() {
    let world = World::new();
    let host = Served::start(&world, &[]).await;
    let id = host.say("list the files here").await;
    host.reaches(&id, "idle").await;
    end(host).await;
    let path = world.path("data/host.db");
    // What was written last lies beside the database, which would be whole with it.
    for beside in ["host.db-wal", "host.db-shm"] {
        drop(std::fs::remove_file(world.path("data").join(beside)));
    }
    let length = 8_192;
    std::fs::write(&path, vec![0x5a; length]).unwrap();
    let refused = world
        .tillerman()
        .env("TILLERMAN_HOME", world.path("data"))
        .args(["serve", "--port", "0"])
        .run()
        .await;
    refused.assert_code(1).assert_stderr("is damaged").assert_stderr("tillerman reindex");
    assert_eq!(std::fs::read(&path).unwrap(), vec![0x5a; length], "it was changed");
    // What the sentence says to do is enough.
    std::fs::rename(&path, world.path("damaged.db")).unwrap();
    let home = world.path("data");
    let done = world.tillerman().env("TILLERMAN_HOME", home).args(["reindex"]).run().await;
    done.assert_code(0);
    let host = Served::start(&world, &[]).await;
    let found = host.get("/conversations").await;
    assert_eq!(found["conversations"][0]["title"], "list the files here");
}

#[tokio::test]
async fn a_full_disk_refuses_messages_and_loses_none() {
    let world = World::new();
    std::fs::create_dir(world.path("data")).unwrap();
    let Some(disk) = SmallDisk::mount(world.path("data"), c"size=6m", MountFlags::empty()) else {
        return;
    };
    let host = Served::start(&world, &[]).await;
    let id = host.say("list the files here").await;
    host.reaches(&id, "idle").await;
    disk.fill();
    let path = format!("/conversations/{id}/messages");
    let text = format!("say hello {}", "x".repeat(400_000));
    let message = json!({"text": text, "client_id": "second"});
    let (status, refused) = host.ask("POST", &path, message.clone()).await;
    assert_eq!((status, &refused["error"]["code"]), (507, &json!("disk_full")), "{refused}");
    let told = refused["error"]["message"].as_str().unwrap();
    assert!(told.contains("Make room and try again"), "{told}");
    // People can still look, and nothing was taken.
    assert_eq!(host.get(&format!("/conversations/{id}")).await["state"], "idle");
    disk.free();
    let (status, taken) = host.ask("POST", &path, message.clone()).await;
    assert_eq!(status, 202, "{taken}");
    let (_, again) = host.ask("POST", &path, message).await;
    assert_eq!(again["message_id"], taken["message_id"], "a message is taken once");
    host.reaches(&id, "idle").await;
    let events = host.get(&format!("/conversations/{id}/events?after=0&limit=2000")).await;
    let said = events["events"].as_array().unwrap();
    let prompts = said.iter().filter(|event| event["event"]["kind"] == "user").count();
    assert_eq!(prompts, 2);
    assert_eq!(events["last_seq"].as_u64(), Some(said.len() as u64), "numbers have no gap");
    end(host).await;
}

#[tokio::test]
async fn an_isolated_session_that_refuses_to_start_says_why() {
    let world = World::new();
    let host = Served::start(&world, &["--isolate"]).await;
    // The place for transcripts is gone, which only a session notices.
    std::fs::remove_dir_all(world.config()).unwrap();
    std::fs::write(world.config(), "in the way").unwrap();
    let id = host.say("list the files here").await;
    host.reaches(&id, "failed").await;
    let events = host.events(&id).await;
    for part in ["could not be started", "exit code 1", "It said", "send a message to try again"] {
        assert!(events.contains(part), "{part} is not in {events}");
    }
    std::fs::remove_file(world.config()).unwrap();
    std::fs::create_dir(world.config()).unwrap();
    host.say_to(&id, "and again").await;
    host.reaches(&id, "idle").await;
    end(host).await;
}
