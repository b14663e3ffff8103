//! Parts of files are changed exactly, or not at all.

use serde_json::{Value, json};

use crate::bench::{Bench, structured, text};

fn edit(path: impl serde::Serialize, old: &str, new: &str) -> Value {
    json!({"file_path": path, "old_string": old, "new_string": new})
}

#[tokio::test]
async fn a_unique_text_is_replaced() {
    let bench = Bench::new();
    let path = bench.file("a.txt", "1\n2\n3\n4\none\n6\n7\n8\n9\n");
    bench.read(&path).await;
    let output = bench.call("Edit", edit(&path, "one", "ONE\nmore")).await.unwrap();
    assert_eq!(bench.content("a.txt"), "1\n2\n3\n4\nONE\nmore\n6\n7\n8\n9\n");
    let expected = json!({
        "filePath": path, "oldString": "one", "newString": "ONE\nmore",
        "originalFile": "1\n2\n3\n4\none\n6\n7\n8\n9\n",
        "structuredPatch": [{"oldStart": 2, "oldLines": 7, "newStart": 2, "newLines": 8,
            "lines": [" 2", " 3", " 4", "-one", "+ONE", "+more", " 6", " 7", " 8"]}],
        "userModified": false, "replaceAll": false,
    });
    assert_eq!(structured(&output), expected);
    assert!(text(&output).contains("     5\tONE\n     6\tmore\n     7\t6"), "{}", text(&output));
}

#[tokio::test]
async fn absent_and_ambiguous_texts_are_refused() {
    let bench = Bench::new();
    let path = bench.file("a.txt", "two\ntwo\n");
    bench.read(&path).await;
    let refusal = bench.failure("Edit", edit(&path, "absent", "x")).await;
    assert!(refusal.contains("was not found"), "{refusal}");
    let refusal = bench.failure("Edit", edit(&path, "two", "2")).await;
    assert!(refusal.contains("occurs 2 times"), "{refusal}");
    assert_eq!(bench.content("a.txt"), "two\ntwo\n");
    let mut all = edit(&path, "two", "2");
    all["replace_all"] = json!(true);
    let output = bench.call("Edit", all).await.unwrap();
    assert_eq!(structured(&output)["replaceAll"], true);
    assert_eq!(bench.content("a.txt"), "2\n2\n");
}

#[tokio::test]
async fn unread_files_can_be_edited() {
    let bench = Bench::new();
    let path = bench.file("a.txt", "one\ntwo\n");
    bench.call("Edit", edit(&path, "one", "1")).await.unwrap();
    assert_eq!(bench.content("a.txt"), "1\ntwo\n");
}

#[tokio::test]
async fn changed_files_are_refused_when_in_doubt() {
    let bench = Bench::new();
    let path = bench.file("a.txt", "one\ntwo\n");
    bench.read(&path).await;
    bench.file("a.txt", "zero\none\nmany\nmany\n");
    let refusal = bench.failure("Edit", edit(&path, "two", "2")).await;
    assert!(refusal.contains("changed on disk"), "{refusal}");
    let mut all = edit(&path, "many", "few");
    all["replace_all"] = json!(true);
    let refusal = bench.failure("Edit", all.clone()).await;
    assert!(refusal.contains("changed on disk"), "{refusal}");
    bench.call("Edit", edit(&path, "one", "1")).await.unwrap();
    bench.call("Edit", all).await.expect("what was just edited counts as seen");
    assert_eq!(bench.content("a.txt"), "zero\n1\nfew\nfew\n");
}

#[tokio::test]
async fn an_empty_old_string_fills_new_and_empty_files_only() {
    let bench = Bench::new();
    bench.call("Edit", edit(bench.path("sub/new"), "", "x\n")).await.unwrap();
    assert_eq!(bench.content("sub/new"), "x\n");
    bench.file("empty", "");
    bench.call("Edit", edit(bench.path("empty"), "", "y")).await.unwrap();
    assert_eq!(bench.content("empty"), "y");
    let refusal = bench.failure("Edit", edit(bench.path("empty"), "", "z")).await;
    assert!(refusal.contains("has content"), "{refusal}");
}

#[tokio::test]
async fn line_endings_and_foreign_bytes_are_kept() {
    let bench = Bench::new();
    let path = bench.file("dos.txt", "one\r\ntwo\r\nthree\r\n");
    bench.read(&path).await;
    bench.call("Edit", edit(&path, "one\ntwo", "1\n1b\n2")).await.unwrap();
    bench.call("Edit", edit(&path, "three", "3\n4")).await.unwrap();
    assert_eq!(bench.content("dos.txt"), "1\r\n1b\r\n2\r\n3\r\n4\r\n");

    let path = bench.file("mixed.txt", "a\nb\nc\r\nd\r\ne\nf\n");
    bench.read(&path).await;
    bench.call("Edit", edit(&path, "c\nd", "C\nD")).await.unwrap();
    assert_eq!(bench.content("mixed.txt"), "a\nb\nC\r\nD\r\ne\nf\n");

    let path = bench.file("latin.txt", b"\xe9 one \xff\n");
    bench.read(&path).await;
    bench.call("Edit", edit(&path, "one", "two")).await.unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"\xe9 two \xff\n");
}
