//! Files are written whole or not at all, and never over something unseen.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::bench::{Bench, structured, text};

#[tokio::test]
async fn a_new_file_is_created_with_its_directories() {
    let bench = Bench::new();
    let path = bench.path("sub/deep/new.txt");
    let input = json!({"file_path": path, "content": "one\ntwo\n"});
    let output = bench.call("Write", input).await.unwrap();
    assert_eq!(bench.content("sub/deep/new.txt"), "one\ntwo\n");
    let expected = json!({
        "type": "create", "filePath": path, "content": "one\ntwo\n",
        "structuredPatch": [], "originalFile": null, "userModified": false,
    });
    assert_eq!(structured(&output), expected);
    assert!(text(&output).contains("Created"));
}

#[tokio::test]
async fn an_existing_file_is_replaced_and_what_it_held_is_reported() {
    let bench = Bench::new();
    let path = bench.file("a.txt", "one\ntwo\n");
    let input = json!({"file_path": path, "content": "one\n2\n"});
    let output = bench.call("Write", input).await.unwrap();
    let structured = structured(&output);
    assert_eq!(structured["type"], "update");
    assert_eq!(structured["originalFile"], "one\ntwo\n");
    let hunks = json!([{"oldStart": 1, "oldLines": 2, "newStart": 1, "newLines": 2,
        "lines": [" one", "-two", "+2"]}]);
    assert_eq!(structured["structuredPatch"], hunks);
    let again = json!({"file_path": path, "content": "three"});
    bench.call("Write", again).await.expect("what was just written counts as seen");
}

#[tokio::test]
async fn a_file_that_changed_meanwhile_is_not_replaced() {
    let bench = Bench::new();
    let path = bench.file("a.txt", "one");
    bench.read(&path).await;
    bench.file("a.txt", "two");
    let input = json!({"file_path": path, "content": "three"});
    let refusal = bench.failure("Write", input.clone()).await;
    assert!(refusal.contains("changed on disk"), "{refusal}");
    assert_eq!(bench.content("a.txt"), "two");
    bench.file("a.txt", "one");
    bench.call("Write", input).await.expect("touching alone is no change");
}

#[tokio::test]
async fn readers_see_the_old_or_the_new_content_whole() {
    let bench = Bench::new();
    let path = bench.file("a.txt", "a".repeat(100_000));
    bench.read(&path).await;
    let open = std::fs::File::open(&path).unwrap();
    let before = open.metadata().unwrap();
    let new = "b".repeat(100_000);
    bench.call("Write", json!({"file_path": path, "content": new})).await.unwrap();
    assert_ne!(before.ino(), std::fs::metadata(&path).unwrap().ino(), "the old file is untouched");
    assert_eq!(std::io::read_to_string(open).unwrap(), "a".repeat(100_000));
    assert_eq!(bench.content("a.txt"), new);
    let left = std::fs::read_dir(bench.path(".")).unwrap().count();
    assert_eq!(left, 1, "no draft is left behind");
}

#[tokio::test]
async fn mode_and_links_survive() {
    let bench = Bench::new();
    let path = bench.file("run.sh", "old");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o750)).unwrap();
    std::os::unix::fs::symlink("run.sh", bench.path("link")).unwrap();
    bench.read(&bench.path("link")).await;
    let input = json!({"file_path": bench.path("link"), "content": "new"});
    bench.call("Write", input).await.unwrap();
    assert!(bench.path("link").is_symlink());
    assert_eq!(bench.content("run.sh"), "new");
    assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o7777, 0o750);

    std::os::unix::fs::symlink("later/new.txt", bench.path("dangling")).unwrap();
    let input = json!({"file_path": bench.path("dangling"), "content": "x"});
    bench.call("Write", input).await.unwrap();
    assert!(bench.path("dangling").is_symlink());
    assert_eq!(bench.content("later/new.txt"), "x");
}

#[tokio::test]
async fn what_cannot_be_written_is_explained_and_changes_nothing() {
    let bench = Bench::new();
    let file = bench.file("file", "content");
    let cases = [
        (bench.path("."), "is a directory"),
        (file.join("below"), "could not be written"),
        (bench.path("missing/../x"), "could not be written"),
        ("/proc/tillerman/x".into(), "could not be written"),
    ];
    for (path, message) in cases {
        let refusal = bench.failure("Write", json!({"file_path": path, "content": "x"})).await;
        assert!(refusal.contains(message), "{}: {refusal}", path.display());
    }
    assert_eq!(std::fs::read_dir(bench.path(".")).unwrap().count(), 1);
}

#[tokio::test]
async fn a_cancelled_write_leaves_the_file_alone() {
    let bench = Bench::new();
    let cancel = CancellationToken::new();
    cancel.cancel();
    let input = json!({"file_path": bench.path("a"), "content": "x"});
    let failure = bench.call_until("Write", input, cancel).await.unwrap_err();
    assert!(failure.message.contains("interrupted"), "{}", failure.message);
    assert!(!bench.path("a").exists());
}

#[tokio::test]
async fn large_changes_still_fit_into_a_frame() {
    let bench = Bench::new();
    let path = bench.file("a.txt", "old line\n".repeat(50_000));
    bench.read(&path).await;
    let input = json!({"file_path": path, "content": "new line\n".repeat(50_000)});
    let output = bench.call("Write", input).await.unwrap();
    assert!(structured(&output).to_string().len() < 700_000);
    assert_eq!(structured(&output)["originalFile"], json!(null));
}

#[tokio::test]
async fn a_file_whose_directory_is_closed_can_still_be_written() {
    let bench = Bench::new();
    let path = bench.file("a.txt", "old");
    bench.read(&path).await;
    let set_mode = |mode| {
        std::fs::set_permissions(bench.path(""), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    set_mode(0o555);
    let outcome = bench.call("Write", json!({"file_path": path, "content": "new"})).await;
    set_mode(0o755);
    outcome.unwrap();
    assert_eq!(bench.content("a.txt"), "new");
}
