//! Listing, reading, writing and finding files.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use crate::stage::Stage;

#[tokio::test]
async fn files_are_written_read_and_listed() {
    let stage = Stage::new();
    let written =
        stage.answer("write_file", json!({"path": "notes/today.md", "content": "hello"})).await;
    assert_eq!(written, json!({"path": "notes/today.md", "bytes_written": 5}));
    let read = stage.answer("read_file", json!({"path": "notes/today.md"})).await;
    assert_eq!(read, json!({"path": "notes/today.md", "content": "hello"}));
    let listed = stage.answer("list_files", json!({})).await;
    assert_eq!(listed["files"][0]["name"], "notes");
    assert_eq!(listed["files"][0]["type"], "directory");
    let listed = stage.answer("list_files", json!({"path": "notes"})).await;
    assert_eq!(listed["files"], json!([{"name": "today.md", "type": "file", "size": 5}]));
}

#[tokio::test]
async fn a_file_that_is_replaced_keeps_its_mode_and_leaves_no_draft() {
    let stage = Stage::new();
    stage.write("run.sh", "old");
    let file = stage.root().join("run.sh");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o750)).unwrap();
    stage.answer("write_file", json!({"path": "run.sh", "content": "new"})).await;
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "new");
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o750);
    assert_eq!(std::fs::read_dir(stage.root()).unwrap().count(), 1);
}

#[tokio::test]
async fn files_beyond_the_limit_are_neither_read_nor_written() {
    let stage = Stage::new().with_bytes(1000);
    stage.write("big.txt", vec![b'x'; 1001]);
    stage.write("fits.txt", vec![b'x'; 1000]);
    let why = stage.failure("read_file", json!({"path": "big.txt"})).await;
    assert!(why.contains("more than 1000 bytes"), "{why}");
    stage.answer("read_file", json!({"path": "fits.txt"})).await;
    let content = "y".repeat(1001);
    let why = stage.failure("write_file", json!({"path": "fits.txt", "content": content})).await;
    assert!(why.contains("more than 1000 bytes"), "{why}");
    let kept = std::fs::read_to_string(stage.root().join("fits.txt")).unwrap();
    assert_eq!(kept, "x".repeat(1000));
}

#[tokio::test]
async fn ten_megabytes_is_what_a_file_may_have_by_default() {
    let stage = Stage::new();
    stage.write("ten.txt", vec![b'x'; 10 * 1024 * 1024]);
    stage.write("more.txt", vec![b'x'; 10 * 1024 * 1024 + 1]);
    stage.outcome("read_file", json!({"path": "ten.txt"})).await.unwrap();
    let why = stage.failure("read_file", json!({"path": "more.txt"})).await;
    assert!(why.contains("10485760"), "{why}");
}

#[tokio::test]
async fn what_is_not_there_or_not_text_is_said() {
    let stage = Stage::new();
    stage.write("picture.bin", [0xff, 0xfe, 0x00]);
    stage.write("folder/file", "");
    let why = stage.failure("read_file", json!({"path": "nothing.txt"})).await;
    assert_eq!(why, "nothing.txt does not exist.");
    let why = stage.failure("read_file", json!({"path": "folder"})).await;
    assert!(why.contains("not a regular file"), "{why}");
    let why = stage.failure("read_file", json!({"path": "folder/file/deeper"})).await;
    assert!(why.contains("not a directory"), "{why}");
    let why = stage.failure("read_file", json!({"path": "picture.bin"})).await;
    assert!(why.contains("not a text file"), "{why}");
    let why = stage.failure("list_files", json!({"path": "folder/file"})).await;
    assert!(why.contains("not a directory"), "{why}");
}

#[tokio::test]
async fn a_pipe_is_not_waited_for() {
    let stage = Stage::new();
    let pipe = stage.root().join("pipe");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    let why = stage.failure("read_file", json!({"path": "pipe"})).await;
    assert!(why.contains("not a regular file"), "{why}");
}

#[tokio::test]
async fn files_are_found_by_name_and_by_path() {
    let stage = Stage::new();
    for name in ["a.md", "docs/b.md", "docs/deep/c.md", "docs/d.txt", ".git/e.md"] {
        stage.write(name, "");
    }
    let found = stage.answer("search_files", json!({"pattern": "*.md"})).await;
    assert_eq!(found["files"], json!(["a.md", "docs/b.md", "docs/deep/c.md"]));
    let found = stage.answer("search_files", json!({"pattern": "docs/*.md"})).await;
    assert_eq!(found["files"], json!(["docs/b.md"]));
    let found = stage.answer("search_files", json!({"pattern": "*.txt", "path": "docs"})).await;
    assert_eq!(found["files"], json!(["docs/d.txt"]));
    let found = stage.answer("search_files", json!({"pattern": ".git/*"})).await;
    assert_eq!(found["files"], json!([".git/e.md"]));
}

#[tokio::test]
async fn a_search_shows_a_hundred_files_and_says_that_there_are_more() {
    let stage = Stage::new();
    for number in 0..101 {
        stage.write(&format!("f{number}.log"), "");
    }
    let found = stage.answer("search_files", json!({"pattern": "*.log"})).await;
    assert_eq!(found["files"].as_array().unwrap().len(), 100);
    assert_eq!(found["truncated"], true);
}
