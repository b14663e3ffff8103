//! Several replacements are made together, or not at all.

use serde_json::json;

use crate::bench::{Bench, structured, text};

#[tokio::test]
async fn replacements_build_on_each_other() {
    let bench = Bench::new();
    let path = bench.file("a.txt", "one\ntwo\ntwo\n");
    bench.read(&path).await;
    let edits = json!([
        {"old_string": "one", "new_string": "1"},
        {"old_string": "two", "new_string": "2", "replace_all": true},
        {"old_string": "1\n2", "new_string": "3"},
    ]);
    let input = json!({"file_path": path, "edits": edits});
    let output = bench.call("MultiEdit", input).await.unwrap();
    assert_eq!(bench.content("a.txt"), "3\n2\n");
    assert_eq!(structured(&output)["originalFile"], "one\ntwo\ntwo\n");
    assert_eq!(structured(&output)["edits"].as_array().unwrap().len(), 3);
    assert!(text(&output).contains("     1\t3"), "{}", text(&output));
}

#[tokio::test]
async fn one_bad_replacement_leaves_the_file_alone() {
    let bench = Bench::new();
    let path = bench.file("a.txt", "one\ntwo\n");
    bench.read(&path).await;
    let edits = json!([
        {"old_string": "one", "new_string": "1"},
        {"old_string": "one", "new_string": "2"},
    ]);
    let input = json!({"file_path": path, "edits": edits});
    let refusal = bench.failure("MultiEdit", input).await;
    assert!(refusal.contains("Replacement 2 of 2") && refusal.contains("not found"), "{refusal}");
    assert_eq!(bench.content("a.txt"), "one\ntwo\n");
}

#[tokio::test]
async fn new_files_are_made_and_unread_ones_changed() {
    let bench = Bench::new();
    let edits = json!([
        {"old_string": "", "new_string": "a\nb\n"},
        {"old_string": "b", "new_string": "c"},
    ]);
    let input = json!({"file_path": bench.path("new.txt"), "edits": edits});
    bench.call("MultiEdit", input).await.unwrap();
    assert_eq!(bench.content("new.txt"), "a\nc\n");
    let path = bench.file("unread.txt", "a");
    let edits = json!([{"old_string": "a", "new_string": "b"}]);
    bench.call("MultiEdit", json!({"file_path": path, "edits": edits})).await.unwrap();
    assert_eq!(bench.content("unread.txt"), "b");
}
