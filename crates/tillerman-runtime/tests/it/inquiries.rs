//! Hosts ask about the session and about files, and give it a name.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::model::says;
use crate::stage::{Play, SECRET, SESSION, stage};

/// A session that works in a directory with a few files.
fn play_in(name: &str) -> (PathBuf, Play) {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(directory.join("sub")).unwrap();
    let directory = directory.canonicalize().unwrap();
    std::fs::write(directory.join("a.txt"), "alpha\n").unwrap();
    std::fs::write(directory.join("binary"), [0, 159, 146, 150]).unwrap();
    std::fs::write(directory.join("key"), format!("it is {SECRET}")).unwrap();
    let mut stage = stage([says("Hm.")]).deny("Read(./sub/**)");
    stage.setup.engine.origin.cwd = directory.display().to_string();
    stage.setup.policy.directories = vec![directory.clone()];
    (directory, stage.begin())
}

#[tokio::test]
async fn files_are_shown_that_the_model_may_read() {
    let (directory, mut play) = play_in("inquiries-files");
    std::fs::write(directory.join("sub/hidden"), "no").unwrap();
    let mut read = async |mut request: Value| {
        request["subtype"] = json!("read_file");
        play.ask(request).await
    };
    let answer = read(json!({"path": "a.txt"})).await;
    let path = directory.join("a.txt");
    let expected = json!({
        "absPath": path, "requested_path": "a.txt", "contents": "alpha\n", "lossy": false,
    });
    assert_eq!(answer["response"], expected);
    let answer = read(json!({"path": path, "max_bytes": 3})).await;
    let told = (&answer["response"]["contents"], &answer["response"]["truncated"]);
    assert_eq!(told, (&json!("alp"), &json!(true)));
    let answer = read(json!({"path": "binary", "encoding": "base64"})).await;
    let told = (&answer["response"]["contents"], &answer["response"]["encoding"]);
    assert_eq!(told, (&json!("AJ+Slg=="), &json!("base64")));
    assert_eq!(read(json!({"path": "binary"})).await["response"]["lossy"], true);
    let answer = read(json!({"path": "key"})).await;
    assert!(!answer.to_string().contains(SECRET), "{answer}");
    let answer = read(json!({"path": "key", "encoding": "base64"})).await;
    let bytes = STANDARD.decode(answer["response"]["contents"].as_str().unwrap()).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    assert!(text.starts_with("it is ") && !text.contains(SECRET), "{text}");
    for path in ["missing", "sub", "sub/hidden", "/etc/hostname", "../a.txt"] {
        let answer = read(json!({"path": path})).await;
        assert_eq!(answer["error_code"], "read_denied", "{path}: {answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_is_renamed_by_its_host() {
    let mut play = stage([says("Hm.")]).begin();
    for (request, told) in [
        (json!({"title": " "}), "must not be empty"),
        (json!({"title": "A", "session_id": "another"}), "another session"),
    ] {
        let mut request = request;
        request["subtype"] = json!("rename_session");
        let answer = play.ask(request).await;
        assert!(answer["error"].as_str().unwrap().contains(told), "{answer}");
    }
    let rename = json!({"subtype": "rename_session", "title": "Harbour", "session_id": SESSION});
    play.request("req_1", rename).await;
    assert_eq!(play.until("system/session_title_changed").await["title"], "Harbour");
    assert_eq!(play.until("control_response").await["response"]["subtype"], "success");
}

#[tokio::test(start_paused = true)]
async fn a_new_session_takes_the_title_of_the_handshake() {
    let mut play = stage([says("Hm.")]).begin();
    play.request("req_1", json!({"subtype": "initialize", "title": "Harbour"})).await;
    assert_eq!(play.until("system/session_title_changed").await["title"], "Harbour");
}

#[tokio::test(start_paused = true)]
async fn what_was_used_and_who_answers_is_told() {
    let mut stage = stage([says("Hm.")]);
    stage.setup.greeting.insert("models".to_owned(), json!([{"value": "swift"}]));
    stage.setup.greeting.insert("claude_code_version".to_owned(), json!("2.0.0"));
    let mut play = stage.begin();
    play.say("Go").await;
    play.round().await;
    let usage = play.ask(json!({"subtype": "get_usage", "skip_behaviors": true})).await;
    let usage = &usage["response"];
    assert!(usage["session"]["model_usage"]["test-model"]["inputTokens"].is_u64(), "{usage}");
    assert_eq!(usage["rate_limits_available"], false);
    let cost = play.ask(json!({"subtype": "get_session_cost"})).await;
    assert!(cost["response"]["text"].as_str().unwrap().starts_with("Total cost"), "{cost}");
    let models = play.ask(json!({"subtype": "list_models"})).await;
    assert_eq!(models["response"]["models"], json!([{"value": "swift"}]));
    let version = play.ask(json!({"subtype": "get_binary_version"})).await;
    assert_eq!(version["response"]["version"], "2.0.0");
    let watched = json!({"subtype": "set_has_subscribers", "has_subscribers": false});
    assert_eq!(play.ask(watched).await["subtype"], "success");
}

#[tokio::test(start_paused = true)]
async fn rules_are_listed_with_where_they_are_written() {
    let written = json!({"permissions": {"deny": ["Bash(rm:*)"]}});
    let settings = json!({"sources": [{"source": "project", "settings": written}], "errors": []});
    let stage = stage([]).settings(settings).deny("Bash(rm:*)").deny("WebFetch");
    let mut play = stage.begin();
    let answer = play.ask(json!({"subtype": "list_permission_rules"})).await;
    let state = &answer["response"]["state"];
    let expected = json!([
        {"behavior": "deny", "source": "projectSettings", "rule": "Bash(rm:*)", "editability": "persistent"},
        {"behavior": "deny", "source": "session", "rule": "WebFetch", "editability": "session"},
    ]);
    assert_eq!(state["rules"], expected);
    assert_eq!(state["originalCwd"], "/nowhere");
}

#[tokio::test]
async fn a_directory_below_the_session_can_be_registered() {
    let (directory, mut play) = play_in("inquiries-roots");
    let mut register = async |directory: &Path| {
        let request = json!({"subtype": "register_repo_root", "directory": directory});
        play.ask(request).await
    };
    let below = directory.join("sub");
    assert_eq!(register(&below).await["response"]["directory"], json!(below));
    assert_eq!(register(Path::new("/")).await["error_code"], "outside_of_session");
    assert_eq!(register(Path::new("missing")).await["error_code"], "no_such_directory");
}
