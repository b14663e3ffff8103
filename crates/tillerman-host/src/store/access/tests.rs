//! The database between two hosts.

use std::time::Duration;

use tokio::sync::oneshot;

use super::{OpenStoreError, Store};

#[tokio::test]
async fn the_directory_is_kept_until_every_change_that_was_begun_is_written() {
    let root = tempfile::tempdir().unwrap();
    let store = Store::open(root.path()).unwrap();
    let (begin, begun) = oneshot::channel();
    let (open, gate) = std::sync::mpsc::channel();
    let writing = store.write(move |db| {
        begin.send(()).unwrap();
        gate.recv().unwrap();
        db.execute("INSERT INTO choices (name, value) VALUES ('late', '1')", [])
    });
    // The host ends while the change is under way.
    tokio::select! {
        _ = writing => panic!("the gate is shut"),
        () = async { begun.await.unwrap() } => {}
    }
    drop(store);
    assert!(matches!(Store::open(root.path()), Err(OpenStoreError::Busy { .. })));
    open.send(()).unwrap();
    let reopening = async {
        loop {
            match Store::open(root.path()) {
                Ok(store) => return store,
                Err(OpenStoreError::Busy { .. }) => {
                    tokio::time::sleep(Duration::from_millis(2)).await;
                }
                Err(error) => panic!("{error}"),
            }
        }
    };
    let store = tokio::time::timeout(Duration::from_secs(10), reopening).await.unwrap();
    let sql = "SELECT count(*) FROM choices WHERE name = 'late'";
    let late = store.read(move |db| db.query_row(sql, [], |row| row.get::<_, u64>(0))).await;
    assert_eq!(late.unwrap(), 1, "the next host finds it");
}
