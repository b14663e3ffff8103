//! Sessions that were kept, in every store: listed, read, forked, renamed, tagged, deleted.

use std::sync::Arc;

use serde_json::json;
use tillerman::sessions::{
    FileStore, MemoryStore, SessionStore, Sessions, Speaker, SqliteStore, check_session_store,
};
use tillerman::testing::{response, script};
use tillerman::{ErrorKind, SessionId};

use crate::world::{Way, World, over_every_transport};

over_every_transport![
    sessions_on_disk_can_be_listed_and_changed,
    a_fork_can_be_resumed,
    transcripts_of_subagents_can_be_read,
    a_session_moves_to_another_machine_through_a_store,
    a_store_that_fails_is_reported_and_the_session_goes_on,
];

#[tokio::test]
async fn stores_keep_their_promises() {
    check_session_store(|| Arc::new(MemoryStore::new())).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let number = std::cell::Cell::new(0);
    let next = || {
        number.set(number.get() + 1);
        folder.path().join(number.get().to_string())
    };
    check_session_store(|| Arc::new(FileStore::new(next()))).await.unwrap();
    check_session_store(|| Arc::new(SqliteStore::open(next()).unwrap())).await.unwrap();
}

#[tokio::test]
async fn a_broken_store_is_found_out() {
    #[derive(Debug)]
    struct Forgetful(MemoryStore);
    impl SessionStore for Forgetful {
        fn append(
            &self,
            key: tillerman::sessions::SessionKey,
            entries: Vec<serde_json::Value>,
        ) -> tillerman::BoxFuture<tillerman::Result<()>> {
            self.0.append(key, entries.into_iter().take(1).collect())
        }
        fn load(
            &self,
            key: tillerman::sessions::SessionKey,
        ) -> tillerman::BoxFuture<tillerman::Result<Option<Vec<serde_json::Value>>>> {
            self.0.load(key)
        }
        fn list_sessions(
            &self,
            project: String,
        ) -> tillerman::BoxFuture<tillerman::Result<Vec<tillerman::sessions::StoredSession>>>
        {
            self.0.list_sessions(project)
        }
        fn list_subkeys(
            &self,
            key: tillerman::sessions::SessionKey,
        ) -> tillerman::BoxFuture<tillerman::Result<Vec<String>>> {
            self.0.list_subkeys(key)
        }
        fn delete(
            &self,
            key: tillerman::sessions::SessionKey,
        ) -> tillerman::BoxFuture<tillerman::Result<()>> {
            self.0.delete(key)
        }
    }
    let broken = check_session_store(|| Arc::new(Forgetful(MemoryStore::new()))).await;
    assert!(broken.unwrap_err().contains("in order"));
}

#[tokio::test]
async fn files_outside_the_store_cannot_be_named() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::new(folder.path());
    for (project, session) in [("..", "a"), ("a/b", "c"), ("a", "../b"), ("a", "..")] {
        let key = tillerman::sessions::SessionKey::new(project, SessionId::new(session));
        assert_eq!(store.load(key).await.unwrap_err().kind(), ErrorKind::Store);
    }
    let key = tillerman::sessions::SessionKey::new("a", SessionId::new("b")).part("../../c");
    assert_eq!(store.append(key, vec![json!({})]).await.unwrap_err().kind(), ErrorKind::Store);
}

fn on_disk(world: &World) -> Sessions {
    Sessions::on_disk(&world.path("config"), &world.path("work"))
}

async fn sessions_on_disk_can_be_listed_and_changed(way: Way) {
    let call = response().tool_call("Bash", json!({"command": "echo hi"}));
    let script =
        script().reply(call).reply(response().text("said hi")).reply(response().text("another"));
    let world = World::new(way, script).await;
    let options = world.options().allow_tool("Bash");
    let first = world.answer("say hi", options).await.unwrap();
    let second = world.answer("something else", world.options()).await.unwrap();
    let sessions = on_disk(&world);
    let listed = sessions.list().await.unwrap();
    assert_eq!(listed.len(), 2);
    assert!(listed[0].modified >= listed[1].modified);
    let info = sessions.info(first.session_id()).await.unwrap();
    assert_eq!(info.first_prompt.as_deref(), Some("say hi"));
    assert_eq!(info.cwd.unwrap(), world.path("work").to_string_lossy());
    let messages = sessions.messages(first.session_id()).await.unwrap();
    let speakers: Vec<Speaker> = messages.iter().map(|message| message.speaker).collect();
    use Speaker::{Assistant, User};
    assert_eq!(speakers, [User, Assistant, User, Assistant]);
    sessions.rename(first.session_id(), "Greetings").await.unwrap();
    sessions.tag(first.session_id(), "daily").await.unwrap();
    let info = sessions.info(first.session_id()).await.unwrap();
    assert_eq!((info.title.as_deref(), info.tag.as_deref()), (Some("Greetings"), Some("daily")));
    sessions.tag(first.session_id(), "").await.unwrap();
    assert_eq!(sessions.info(first.session_id()).await.unwrap().tag, None);
    sessions.delete(second.session_id()).await.unwrap();
    assert_eq!(sessions.list().await.unwrap().len(), 1);
    let gone = sessions.delete(second.session_id()).await.unwrap_err();
    assert_eq!(gone.kind(), ErrorKind::SessionNotFound);
    let gone = sessions.rename(second.session_id(), "x").await.unwrap_err();
    assert_eq!(gone.kind(), ErrorKind::SessionNotFound);
}

async fn a_fork_can_be_resumed(way: Way) {
    let script = script()
        .reply(response().text("one"))
        .reply(response().text("two"))
        .reply(response().text("three").moves_prefix("a fork of the first round"));
    let world = World::new(way, script).await;
    let first = world.answer("first question", world.options()).await.unwrap();
    let id = first.session_id();
    world.answer("second question", world.options().resume(id.as_str())).await.unwrap();
    let sessions = on_disk(&world);
    let messages = sessions.messages(id).await.unwrap();
    let fork = sessions.fork_at(id, &messages[1].id).await.unwrap();
    let info = sessions.info(&fork).await.unwrap();
    assert!(info.title.unwrap().ends_with("(fork)"));
    let options = world.options().resume(fork.as_str());
    let answer = world.answer("third question", options).await.unwrap();
    assert_eq!(answer.session_id(), &fork);
    let told = world.server.request(2).user_text();
    assert!(told.contains("first question") && !told.contains("second question"), "{told}");
    let whole = sessions.fork(id).await.unwrap();
    assert_eq!(sessions.messages(&whole).await.unwrap().len(), 4);
    let nothing = sessions.fork(&SessionId::new("nobody")).await.unwrap_err();
    assert_eq!(nothing.kind(), ErrorKind::SessionNotFound);
}

async fn transcripts_of_subagents_can_be_read(way: Way) {
    let input = json!({
        "subagent_type": "general-purpose", "description": "a task", "prompt": "do the task",
        "run_in_background": false,
    });
    let script = script()
        .reply_when("do the task", response().text("task done"))
        .reply(response().tool_call("Agent", input))
        .reply(response().text("all done"));
    let world = World::new(way, script).await;
    let answer = world.answer("delegate", world.options()).await.unwrap();
    let sessions = on_disk(&world);
    let agents = sessions.subagents(answer.session_id()).await.unwrap();
    assert_eq!(agents.len(), 1);
    let said = sessions.subagent_messages(answer.session_id(), &agents[0]).await.unwrap();
    assert!(said[0].message.to_string().contains("do the task"));
    assert!(said.last().unwrap().message.to_string().contains("task done"));
}

async fn a_session_moves_to_another_machine_through_a_store(way: Way) {
    let script = script().reply(response().text("one")).reply(response().text("two"));
    let world = World::new(way, script).await;
    let store = Arc::new(MemoryStore::new());
    let options = world.options().session_store(store.clone());
    let first = world.answer("remember", options.clone()).await.unwrap();
    // The other machine has none of the files.
    std::fs::remove_dir_all(world.path("config")).unwrap();
    std::fs::create_dir(world.path("config")).unwrap();
    let id = first.session_id();
    let second = world.answer("and now", options.clone().resume(id.as_str())).await.unwrap();
    assert_eq!(second.text, "two");
    assert!(world.server.request(1).user_text().contains("remember"));
    let kept = Sessions::new(store, &world.path("work"));
    assert_eq!(kept.messages(id).await.unwrap().len(), 4);
    let unknown = options.resume("6ba7b810-9dad-41d1-80b4-00c04fd430c8");
    let error = world.answer("x", unknown).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::SessionNotFound);
}

async fn a_store_that_fails_is_reported_and_the_session_goes_on(way: Way) {
    #[derive(Debug)]
    struct Full;
    impl SessionStore for Full {
        fn append(
            &self,
            _: tillerman::sessions::SessionKey,
            _: Vec<serde_json::Value>,
        ) -> tillerman::BoxFuture<tillerman::Result<()>> {
            let error = tillerman::Error::new(ErrorKind::Store, "the disk is full");
            Box::pin(std::future::ready(Err(error)))
        }
        fn load(
            &self,
            _: tillerman::sessions::SessionKey,
        ) -> tillerman::BoxFuture<tillerman::Result<Option<Vec<serde_json::Value>>>> {
            Box::pin(std::future::ready(Ok(None)))
        }
        fn list_sessions(
            &self,
            _: String,
        ) -> tillerman::BoxFuture<tillerman::Result<Vec<tillerman::sessions::StoredSession>>>
        {
            Box::pin(std::future::ready(Ok(Vec::new())))
        }
        fn list_subkeys(
            &self,
            _: tillerman::sessions::SessionKey,
        ) -> tillerman::BoxFuture<tillerman::Result<Vec<String>>> {
            Box::pin(std::future::ready(Ok(Vec::new())))
        }
        fn delete(
            &self,
            _: tillerman::sessions::SessionKey,
        ) -> tillerman::BoxFuture<tillerman::Result<()>> {
            Box::pin(std::future::ready(Ok(())))
        }
    }
    let world = World::new(way, script().reply(response().text("hi"))).await;
    let messages = world.ask("hello", world.options().session_store(Arc::new(Full))).await;
    let reported = messages.iter().any(|message| {
        let news = message.as_system();
        matches!(news, Some(tillerman::message::SystemDetail::MirrorError { error, .. })
            if error.contains("the disk is full"))
    });
    assert!(reported, "{messages:#?}");
    assert_eq!(crate::world::result(&messages).result.unwrap(), "hi");
}
