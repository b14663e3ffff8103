//! Lines stay short, whatever happens to the place for long texts.

use serde_json::{Value, json};
use tillerman_protocol::frame::Frame;

use super::{LONGEST_LINE, write_line};

fn long_frame() -> Frame {
    serde_json::from_value(json!({"type": "novel", "text": "x".repeat(3 << 20)})).unwrap()
}

fn written(spill: &std::path::Path) -> Value {
    let mut line = Vec::new();
    write_line(&mut line, &long_frame(), spill).unwrap();
    assert!(line.len() <= LONGEST_LINE);
    serde_json::from_slice(&line).unwrap()
}

#[test]
fn a_long_text_goes_to_a_file_that_the_frame_names() {
    let directory = tempfile::tempdir().unwrap();
    let frame = written(&directory.path().join("new/place"));
    let text = frame["text"].as_str().unwrap();
    let path = text.split("kept in ").nth(1).unwrap().trim_end_matches(']');
    assert_eq!(std::fs::metadata(path).unwrap().len(), 3 << 20);
}

#[test]
fn a_text_that_cannot_be_kept_costs_no_other_frame() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    std::fs::write(&file, "in the way").unwrap();
    let frame = written(&file);
    assert!(frame["text"].as_str().unwrap().contains("could not be kept"), "{frame}");
}
