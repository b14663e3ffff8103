//! `tillerman serve` as a new user meets it: the rehearsal model, cards, kills and restarts.

use std::path::Path;

use rustix::process::Signal;
use serde_json::json;

use crate::harness::{World, is_root, within};
use crate::served::Served;

fn exists(path: &Path) -> bool {
    path.exists()
}

#[tokio::test]
async fn a_new_user_approves_denies_and_answers_with_the_rehearsal_model() {
    let world = World::new();
    let host = Served::start(&world, &[]).await;
    let info = host.get("/info").await;
    assert_eq!((&info["rehearsal"], &info["model"]), (&json!(true), &json!("rehearsal")));
    let id = host.say("run `touch made`").await;
    let card = host.card().await;
    assert!(card["display"]["lines"].to_string().contains("touch made"), "{card}");
    assert!(!exists(&world.file("made")));
    host.answer(&card, json!({"decision": "allow"})).await;
    host.reaches(&id, "idle").await;
    assert!(exists(&world.file("made")));
    host.say_to(&id, "run `touch unmade`").await;
    let card = host.card().await;
    host.answer(&card, json!({"decision": "deny", "message": "rather not"})).await;
    host.reaches(&id, "idle").await;
    assert!(!exists(&world.file("unmade")));
    assert!(host.events(&id).await.contains("rather not"));
    host.say_to(&id, "ask me a question").await;
    let card = host.card().await;
    assert_eq!(card["kind"], "question");
    let question = &card["input"]["questions"][0];
    let choice = &question["options"][0]["label"];
    let answers = json!({question["question"].as_str().unwrap(): choice});
    host.answer(&card, json!({"decision": "allow", "answers": answers})).await;
    host.reaches(&id, "idle").await;
    assert!(host.events(&id).await.contains(choice.as_str().unwrap()));
}

#[tokio::test]
async fn a_card_outlives_kill_minus_nine_and_answering_it_runs_the_call() {
    let world = World::new();
    let mut host = Served::start(&world, &[]).await;
    let id = host.say("run `echo once >> made`").await;
    let card = host.card().await;
    let before = host.get(&format!("/conversations/{id}")).await;
    host.process.signal(Signal::KILL);
    within("the end", host.process.child.wait()).await.unwrap();
    let host = Served::again(&world, &host.token, &[]).await;
    assert_eq!(host.card().await, card);
    host.answer(&card, json!({"decision": "allow"})).await;
    let after = host.reaches(&id, "idle").await;
    assert_eq!(std::fs::read_to_string(world.file("made")).unwrap(), "once\n");
    assert_eq!(after["session_id"], before["session_id"]);
    assert_eq!(host.get("/approvals").await["approvals"], json!([]));
    // The session goes on as if nothing had happened.
    host.say_to(&id, "run `echo twice >> made`").await;
    let card = host.card().await;
    host.answer(&card, json!({"decision": "allow"})).await;
    host.reaches(&id, "idle").await;
    assert_eq!(std::fs::read_to_string(world.file("made")).unwrap(), "once\ntwice\n");
}

#[tokio::test]
async fn a_card_outlives_sigterm_and_answering_it_runs_the_call() {
    for more in [&[][..], &["--isolate"]] {
        let world = World::new();
        let mut host = Served::start(&world, more).await;
        let id = host.say("run `echo once >> made`").await;
        let card = host.card().await;
        host.process.signal(Signal::TERM);
        within("the end", host.process.child.wait()).await.unwrap();
        let host = Served::again(&world, &host.token, more).await;
        assert_eq!(host.card().await, card, "its session did not take it back");
        host.answer(&card, json!({"decision": "allow"})).await;
        host.reaches(&id, "idle").await;
        assert_eq!(std::fs::read_to_string(world.file("made")).unwrap(), "once\n");
    }
}

#[tokio::test]
async fn isolated_sessions_do_the_same() {
    let world = World::new();
    let mut host = Served::start(&world, &["--isolate"]).await;
    let id = host.say("run `echo $$ > made`").await;
    let card = host.card().await;
    host.process.signal(Signal::KILL);
    within("the end", host.process.child.wait()).await.unwrap();
    let host = Served::again(&world, &host.token, &["--isolate"]).await;
    host.answer(&card, json!({"decision": "allow"})).await;
    host.reaches(&id, "idle").await;
    assert!(exists(&world.file("made")));
}

#[tokio::test]
async fn a_session_whose_transcript_is_gone_is_healed() {
    let world = World::new();
    let mut host = Served::start(&world, &[]).await;
    let id = host.say("list the files here").await;
    host.reaches(&id, "idle").await;
    host.process.signal(Signal::TERM);
    let status = within("the end", host.process.child.wait()).await.unwrap();
    assert_eq!(status.code(), Some(0));
    for transcript in world.transcripts() {
        std::fs::remove_file(transcript).unwrap();
    }
    let host = Served::again(&world, &host.token, &[]).await;
    host.say_to(&id, "what can you do?").await;
    host.reaches(&id, "idle").await;
    let events = host.events(&id).await;
    assert!(events.contains("could not be found any more"), "{events}");
}

#[tokio::test]
async fn root_is_refused_unless_told() {
    if !is_root() {
        return;
    }
    let world = World::new();
    let refused =
        world.tillerman().without("IS_SANDBOX").args(["serve", "--port", "0"]).run().await;
    refused.assert_code(1).assert_stderr("does not run agents as root");
    let refused = world.tillerman().args(["serve", "--run-as", "no-such-user"]).run().await;
    refused.assert_code(1).assert_stderr("there is no such user");
}

#[tokio::test]
async fn a_second_host_on_the_same_data_says_so() {
    let world = World::new();
    let _host = Served::start(&world, &[]).await;
    let data = world.path("data");
    let second = world
        .tillerman()
        .args(["serve", "--port", "0", "--data-dir", data.to_str().unwrap()])
        .run()
        .await;
    second.assert_code(1).assert_stderr("another host is using");
}

#[tokio::test]
async fn users_are_added_beside_a_running_host() {
    let world = World::new();
    let host = Served::start(&world, &[]).await;
    let data = world.path("data");
    let data = data.to_str().unwrap();
    let added = world.tillerman().args(["users", "add", "vera", "--data-dir", data]).run().await;
    added.assert_code(0);
    let token = added.text().lines().last().unwrap().to_owned();
    let vera = Served { token, ..host };
    assert_eq!(vera.get("/info").await["user"], json!({"name": "vera", "role": "viewer"}));
    assert_eq!(vera.ask("POST", "/conversations", json!({})).await.0, 403);
    let list = world.tillerman().args(["users", "list", "--data-dir", data]).run().await;
    assert_eq!(list.text(), "owner owner\nvera viewer\n");
}

#[tokio::test]
async fn a_lost_database_is_built_anew_from_transcripts() {
    let world = World::new();
    let mut host = Served::start(&world, &[]).await;
    let id = host.say("list the files here").await;
    let before = host.reaches(&id, "idle").await;
    host.process.signal(Signal::TERM);
    within("the end", host.process.child.wait()).await.unwrap();
    std::fs::remove_dir_all(world.path("data")).unwrap();
    let data = world.path("data");
    let data = data.to_str().unwrap();
    let done = world.tillerman().args(["reindex", "--data-dir", data]).run().await;
    done.assert_code(0);
    assert!(done.text().contains("1 found"), "{}", done.text());
    let host = Served::start(&world, &[]).await;
    let all = host.get("/conversations?search=files").await;
    let found = &all["conversations"][0];
    assert_eq!(found["session_id"], before["session_id"]);
    assert_eq!(found["title"], "list the files here");
    // The session goes on where it was.
    let id = found["id"].as_str().unwrap().to_owned();
    host.say_to(&id, "list the files here again").await;
    let after = host.reaches(&id, "idle").await;
    assert_eq!(after["session_id"], before["session_id"]);
}

#[tokio::test]
async fn a_debug_bundle_holds_no_secrets() {
    let world = World::new();
    let host = Served::start(&world, &[]).await;
    let id = host.say("list the files of a very private matter").await;
    host.reaches(&id, "idle").await;
    let (data, bundle) = (world.path("data"), world.path("bundle.md"));
    let done = world
        .tillerman()
        .env("ANTHROPIC_API_KEY", "sk-ant-very-secret-0123456789")
        .args(["debug-bundle", bundle.to_str().unwrap(), "--data-dir", data.to_str().unwrap()])
        .run()
        .await;
    done.assert_code(0);
    let text = std::fs::read_to_string(bundle).unwrap();
    for secret in ["very-secret", "very private", host.token.as_str()] {
        assert!(!text.contains(secret), "{secret} is in {text}");
    }
    assert!(text.contains("ANTHROPIC_API_KEY") && text.contains("conversations idle: 1"), "{text}");
}
