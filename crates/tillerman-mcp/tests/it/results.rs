//! Results of every kind, as a conversation can hold them.

use serde_json::{Value, json};
use tillerman_protocol::content::{Block, Content};

use crate::stage::with_script;

#[tokio::test]
async fn pictures_are_shown_and_other_data_is_saved() {
    let stage = with_script("well").await;
    let Content::Blocks(blocks) = stage.call("pic", json!({})).await.unwrap().content else {
        panic!("a picture is a block");
    };
    let Block::Image { source } = &blocks[0] else { panic!("{blocks:?}") };
    assert_eq!(source["media_type"], "image/png");
    assert_eq!(blocks[1].as_text(), Some("caption"));
    let text = stage.text("sound", json!({})).await;
    let path = text.rsplit_once("saved to ").unwrap().1.trim_end_matches(']');
    assert!(path.ends_with(".wav"), "{text}");
    assert!(std::fs::read(path).unwrap().starts_with(b"\x89PNG"));
    stage.end().await;
}

#[tokio::test]
async fn an_output_that_is_too_large_goes_to_a_file_that_the_text_names() {
    let stage = with_script("well").await;
    let text = stage.text("big", json!({"chars": 100_001})).await;
    assert!(text.starts_with("The output has 100001 characters, more than the 100000"), "{text}");
    assert!(text.len() < 3_000);
    let path = text.split("saved to ").nth(1).unwrap().split(';').next().unwrap();
    assert_eq!(std::fs::read(path).unwrap().len(), 100_001);
    let mode = {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::metadata(path).unwrap().permissions().mode() & 0o777
    };
    assert_eq!(mode, 0o600);
    assert_eq!(stage.text("big", json!({"chars": 100_000})).await.len(), 100_000);
    assert_eq!(stage.text("roomy", json!({"chars": 300_000})).await.len(), 300_000);
    stage.end().await;
}

#[tokio::test]
async fn failures_structures_and_the_unknown_are_told() {
    let stage = with_script("well").await;
    assert_eq!(stage.failure("fail", json!({})).await, "it broke");
    assert_eq!(stage.text("structured", json!({})).await, r#"{"answer":42}"#);
    let odd = stage.text("odd", json!({})).await;
    let odd: Value = serde_json::from_str(&odd).unwrap();
    assert_eq!(odd, json!({"type": "hologram", "data": "?"}));
    let shown = stage.call("echo", json!({"t": "x"})).await.unwrap().structured.unwrap();
    assert_eq!(shown, json!([{"type": "text", "text": "ECHO:x"}]));
    stage.end().await;
}
