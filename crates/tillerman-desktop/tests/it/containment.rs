//! Nothing leads out of the workspace.

use serde_json::{Value, json};

use crate::stage::Stage;

/// Every tool that takes a path, with an input for it.
fn calls(path: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("read_file", json!({"path": path})),
        ("write_file", json!({"path": path, "content": "overwritten"})),
        ("list_files", json!({"path": path})),
        ("search_files", json!({"path": path, "pattern": "*"})),
        ("analyze_image", json!({"path": path})),
        ("open_in_default_app", json!({"path": path})),
    ]
}

fn stage() -> Stage {
    Stage::new().with_variable("DISPLAY", ":0").with_program("xdg-open", "touch opened")
}

async fn check_refused(stage: &Stage, path: &str) {
    for (tool, input) in calls(path) {
        let why = stage.failure(tool, input).await;
        assert!(why.contains("lies outside"), "{tool} {path}: {why}");
    }
    let secret = std::fs::read_to_string(stage.path("work-evil/secret.txt")).unwrap();
    assert_eq!(secret, "the secret");
    assert!(!stage.root().join("opened").exists(), "something was opened");
}

#[tokio::test]
async fn dots_and_absolute_paths_do_not_lead_out() {
    let stage = stage();
    stage.write("folder/file", "");
    let absolute = stage.path("work-evil/secret.txt");
    for path in [
        "../work-evil/secret.txt",
        "folder/../../work-evil/secret.txt",
        "..",
        "/etc/passwd",
        absolute.to_str().unwrap(),
    ] {
        check_refused(&stage, path).await;
    }
}

#[tokio::test]
async fn a_directory_whose_name_begins_alike_is_not_inside() {
    let stage = stage();
    let sibling = format!("{}-evil/secret.txt", stage.root().display());
    check_refused(&stage, &sibling).await;
}

#[tokio::test]
async fn links_do_not_lead_out() {
    let stage = stage();
    let outside = stage.path("work-evil");
    stage.link("folder", &outside);
    stage.link("file", outside.join("secret.txt"));
    stage.link("relative", "../work-evil/secret.txt");
    stage.link("twice", "relative");
    stage.link("new", outside.join("new.txt"));
    for path in ["folder/secret.txt", "folder", "file", "relative", "twice", "new"] {
        check_refused(&stage, path).await;
    }
    assert!(!stage.path("work-evil/new.txt").exists());
}

#[tokio::test]
async fn links_that_stay_inside_are_followed() {
    let stage = stage();
    stage.write("real/file.txt", "here");
    stage.link("relative", "real/file.txt");
    stage.link("absolute", stage.root().join("real"));
    for path in ["relative", "absolute/file.txt", "real/../real/./file.txt"] {
        let read = stage.answer("read_file", json!({"path": path})).await;
        assert_eq!(read["content"], "here", "{path}");
    }
    let absolute = stage.root().join("real/file.txt");
    let read = stage.answer("read_file", json!({"path": absolute})).await;
    assert_eq!(read["content"], "here");
    stage.answer("write_file", json!({"path": "relative", "content": "changed"})).await;
    let real = std::fs::read_to_string(stage.root().join("real/file.txt")).unwrap();
    assert_eq!(real, "changed");
}

#[tokio::test]
async fn links_that_go_round_end() {
    let stage = stage();
    stage.link("one", "two");
    stage.link("two", "one");
    let why = stage.failure("read_file", json!({"path": "one"})).await;
    assert!(why.contains("too many symbolic links"), "{why}");
}

#[tokio::test]
async fn a_search_does_not_follow_links() {
    let stage = stage();
    stage.link("folder", stage.path("work-evil"));
    let found = stage.answer("search_files", json!({"pattern": "**/*.txt"})).await;
    assert_eq!(found["files"], json!([]));
}
