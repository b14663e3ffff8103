//! What every session store must do, as a check that its author can run.

use std::sync::Arc;

use serde_json::{Value, json};
use tillerman_protocol::SessionId;

use crate::sessions::key::SessionKey;
use crate::sessions::store::SessionStore;

/// Checks that a store keeps its promises. Call it from a test with a function that makes an
/// empty store:
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// use std::sync::Arc;
/// use tillerman::sessions::{MemoryStore, check_session_store};
///
/// check_session_store(|| Arc::new(MemoryStore::new())).await.unwrap();
/// # });
/// ```
///
/// # Errors
/// With the first promise that is broken, and how.
pub async fn check_session_store<S: SessionStore + 'static>(
    make: impl Fn() -> Arc<S>,
) -> Result<(), String> {
    appends_in_order(make().as_ref()).await?;
    knows_nothing_of_others(make().as_ref()).await?;
    keeps_values_as_they_are(make().as_ref()).await?;
    lists_sessions_and_parts(make().as_ref()).await?;
    deletes_all_of_a_session(make().as_ref()).await?;
    takes_several_writers(make()).await
}

fn key(project: &str, session: &str) -> SessionKey {
    SessionKey::new(project, SessionId::new(session))
}

fn entry(number: u64) -> Value {
    json!({"type": "user", "uuid": format!("entry-{number}"), "number": number})
}

fn same<T: PartialEq + std::fmt::Debug>(
    promise: &str,
    found: &T,
    wanted: &T,
) -> Result<(), String> {
    if found == wanted {
        return Ok(());
    }
    Err(format!("{promise}: expected {wanted:?}, found {found:?}"))
}

async fn load(store: &dyn SessionStore, key: SessionKey) -> Result<Option<Vec<Value>>, String> {
    store.load(key).await.map_err(|error| format!("load fails: {error}"))
}

async fn append(
    store: &dyn SessionStore,
    key: SessionKey,
    entries: Vec<Value>,
) -> Result<(), String> {
    store.append(key, entries).await.map_err(|error| format!("append fails: {error}"))
}

async fn appends_in_order(store: &dyn SessionStore) -> Result<(), String> {
    let key = key("-project", "one");
    same("what was never stored is nothing", &load(store, key.clone()).await?, &None)?;
    append(store, key.clone(), vec![entry(1), entry(2)]).await?;
    append(store, key.clone(), vec![]).await?;
    append(store, key.clone(), vec![entry(3)]).await?;
    let all = Some(vec![entry(1), entry(2), entry(3)]);
    same("entries come back in order", &load(store, key.clone()).await?, &all)?;
    let ends = store.ends(key).await.map_err(|error| format!("ends fails: {error}"))?;
    let first = ends.and_then(|ends| ends.first.first().cloned());
    same("the ends begin with the first entry", &first, &Some(entry(1)))
}

async fn knows_nothing_of_others(store: &dyn SessionStore) -> Result<(), String> {
    append(store, key("-project", "one"), vec![entry(1)]).await?;
    append(store, key("-project", "one").part("subagents/agent-a"), vec![entry(2)]).await?;
    append(store, key("-other", "one"), vec![entry(3)]).await?;
    let own = load(store, key("-project", "one")).await?;
    same("parts and projects do not mix", &own, &Some(vec![entry(1)]))?;
    let part = load(store, key("-project", "one").part("subagents/agent-a")).await?;
    same("a part is a transcript of its own", &part, &Some(vec![entry(2)]))
}

async fn keeps_values_as_they_are(store: &dyn SessionStore) -> Result<(), String> {
    let odd = json!({
        "type": "user",
        "text": "line\nbreak \u{2028} \u{0} \"quoted\" 𝄞",
        "number": 1.5,
        "large": u64::MAX,
        "nothing": null,
        "nested": [{"a": []}, {}],
    });
    let key = key("-project", "odd");
    append(store, key.clone(), vec![odd.clone()]).await?;
    same("values come back as they were", &load(store, key).await?, &Some(vec![odd]))
}

async fn lists_sessions_and_parts(store: &dyn SessionStore) -> Result<(), String> {
    append(store, key("-project", "one"), vec![entry(1)]).await?;
    append(store, key("-project", "two"), vec![entry(2)]).await?;
    append(store, key("-project", "two").part("subagents/agent-a"), vec![entry(3)]).await?;
    append(store, key("-other", "three"), vec![entry(4)]).await?;
    let listed = store.list_sessions("-project".to_owned()).await;
    let listed = listed.map_err(|error| format!("list_sessions fails: {error}"))?;
    let mut ids: Vec<String> = listed.iter().map(|it| it.session_id.to_string()).collect();
    ids.sort();
    let wanted = vec!["one".to_owned(), "two".to_owned()];
    same("the sessions of a project are listed", &ids, &wanted)?;
    let parts = store.list_subkeys(key("-project", "two")).await;
    let parts = parts.map_err(|error| format!("list_subkeys fails: {error}"))?;
    same("the parts of a session are listed", &parts, &vec!["subagents/agent-a".to_owned()])?;
    let none = store.list_sessions("-nowhere".to_owned()).await;
    let none = none.map_err(|error| format!("an unknown project is an error: {error}"))?;
    same("an unknown project has no sessions", &none.len(), &0)
}

async fn deletes_all_of_a_session(store: &dyn SessionStore) -> Result<(), String> {
    append(store, key("-project", "one"), vec![entry(1)]).await?;
    append(store, key("-project", "one").part("subagents/agent-a"), vec![entry(2)]).await?;
    append(store, key("-project", "two"), vec![entry(3)]).await?;
    for _ in 0..2 {
        let deleted = store.delete(key("-project", "one")).await;
        deleted.map_err(|error| format!("delete fails, perhaps the second time: {error}"))?;
    }
    same("a deleted session is gone", &load(store, key("-project", "one")).await?, &None)?;
    let part = load(store, key("-project", "one").part("subagents/agent-a")).await?;
    same("its parts go with it", &part, &None)?;
    let other = load(store, key("-project", "two")).await?;
    same("others stay", &other, &Some(vec![entry(3)]))
}

async fn takes_several_writers<S: SessionStore + 'static>(store: Arc<S>) -> Result<(), String> {
    const WRITERS: u64 = 8;
    const EACH: u64 = 25;
    let mut writers = tokio::task::JoinSet::new();
    for writer in 0..WRITERS {
        let store = Arc::clone(&store);
        writers.spawn(async move {
            for number in 0..EACH {
                let entries = vec![entry(writer * EACH + number)];
                append(store.as_ref(), key("-project", "busy"), entries).await?;
            }
            Ok::<(), String>(())
        });
    }
    while let Some(written) = writers.join_next().await {
        written.map_err(|error| error.to_string())??;
    }
    let all = load(store.as_ref(), key("-project", "busy")).await?.unwrap_or_default();
    let wanted = usize::try_from(WRITERS * EACH).unwrap_or_default();
    same("no entry of several writers is lost", &all.len(), &wanted)?;
    let numbers = all.iter().filter_map(|entry| entry.get("number")?.as_u64());
    let mut last = vec![None; usize::try_from(WRITERS).unwrap_or_default()];
    for number in numbers {
        let writer = usize::try_from(number / EACH).unwrap_or_default();
        if last[writer].is_some_and(|last| last > number) {
            return Err(format!("the entries of a writer are out of order: {number}"));
        }
        last[writer] = Some(number);
    }
    Ok(())
}
