//! What official clients cannot do without is in every line that is written.

use std::path::Path;

use serde_json::Value;

/// Lines by type and subtype, and the fields whose absence ends an official client's stream.
const REQUIRED: [(&str, &str, &[&str]); 7] = [
    ("assistant", "", &["/message/content", "/message/model", "/uuid", "/session_id"]),
    ("user", "", &["/message/content"]),
    (
        "result",
        "",
        &["/subtype", "/duration_ms", "/duration_api_ms", "/is_error", "/num_turns", "/session_id"],
    ),
    ("stream_event", "", &["/uuid", "/session_id", "/event"]),
    ("system", "", &["/subtype", "/uuid", "/session_id"]),
    ("system", "task_started", &["/task_id", "/description"]),
    ("system", "task_notification", &["/task_id", "/status", "/output_file", "/summary"]),
];

#[test]
fn it_is_there() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata");
    let mut checked = [false; REQUIRED.len()];
    for file in std::fs::read_dir(directory).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        for line in text.lines() {
            let frame: Value = serde_json::from_str(line).unwrap();
            assert!(line.starts_with(r#"{"type":""#), "the type comes first: {line}");
            for (index, (kind, subtype, fields)) in REQUIRED.iter().enumerate() {
                if frame["type"] != *kind || (!subtype.is_empty() && frame["subtype"] != *subtype) {
                    continue;
                }
                checked[index] = true;
                for field in *fields {
                    assert!(frame.pointer(field).is_some(), "{field} is missing: {line}");
                }
            }
        }
    }
    assert_eq!(checked, [true; REQUIRED.len()], "a kind of line is not among the golden ones");
}
