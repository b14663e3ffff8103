//! Inputs are checked, and what is wrong is named.

use serde_json::{Value, json};
use tillerman_protocol::tool::Access;

use crate::bench::Bench;

#[test]
fn wrong_inputs_are_refused_with_the_name_of_the_field() {
    let bench = Bench::new();
    let cases = [
        ("Read", json!({"wrong": 1}), "file_path is required"),
        ("Read", json!({"file_path": 7}), "file_path must be a string"),
        ("Read", json!({"file_path": ""}), "file_path is empty"),
        ("Read", json!({"file_path": "~/notes"}), "file_path starts with ~"),
        ("Read", json!({"file_path": "a\0b"}), "file_path contains a NUL"),
        ("Read", json!({"file_path": "/a", "offset": "x"}), "offset must be a whole number"),
        ("Read", json!({"file_path": "/a", "offset": -1}), "offset must be a whole number"),
        ("Read", json!({"file_path": "/a", "limit": 0}), "limit must be at least 1"),
        ("Read", json!({"file_path": "/a", "limit": 1.5}), "limit must be a whole number"),
        ("Read", json!({"file_path": "/a", "pages": 3}), "pages must be a string"),
        ("Read", json!([]), "must be a JSON object"),
        ("Write", json!({"file_path": "/a"}), "content is required"),
        ("Write", json!({"file_path": "/a", "content": {}}), "content must be a string"),
        ("Edit", json!({"file_path": "/a", "new_string": "x"}), "old_string is required"),
        ("Edit", json!({"file_path": "/a", "old_string": "x"}), "new_string is required"),
        (
            "Edit",
            json!({"file_path": "/a", "old_string": "x", "new_string": "x"}),
            "old_string and new_string are the same",
        ),
        (
            "Edit",
            json!({"file_path": "/a", "old_string": "x", "new_string": "y", "replace_all": "yes"}),
            "replace_all must be true or false",
        ),
        ("Bash", json!({}), "command is required"),
        ("Bash", json!({"command": " "}), "command is empty"),
        ("Bash", json!({"command": "ls", "timeout": "1s"}), "timeout must be a whole number"),
        ("Bash", json!({"command": "x".repeat(200_000)}), "command is too long"),
        (
            "Bash",
            json!({"command": "ls", "run_in_background": true}),
            "run_in_background is not available",
        ),
    ];
    for (tool, input, message) in cases {
        let refusal = bench.tool(tool).check(&input).expect_err(message);
        assert!(refusal.contains(message), "{tool} said: {refusal}");
        assert!(refusal.starts_with(tool), "{tool} said: {refusal}");
    }
}

#[test]
fn good_inputs_pass_also_with_unknown_fields_and_nulls() {
    let bench = Bench::new();
    let cases = [
        ("Read", json!({"file_path": "/a", "offset": 5.0, "limit": null, "more": []})),
        ("Write", json!({"file_path": "/a", "content": ""})),
        ("Edit", json!({"file_path": "/a", "old_string": "", "new_string": "y"})),
        (
            "Bash",
            json!({
                "command": "ls", "timeout": 999_999_999_u64, "description": "List",
                "run_in_background": false, "dangerouslyDisableSandbox": true,
            }),
        ),
    ];
    for (tool, input) in cases {
        assert_eq!(bench.tool(tool).check(&input), Ok(()), "{tool}");
    }
}

#[test]
fn specs_describe_closed_objects_and_only_read_is_read_only() {
    let bench = Bench::new();
    let mut names = Vec::new();
    for tool in &bench.tools {
        let spec = tool.spec();
        assert_eq!(spec.input_schema["type"], "object");
        assert_eq!(spec.input_schema["additionalProperties"], false);
        let properties = spec.input_schema["properties"].as_object().unwrap();
        for required in spec.input_schema["required"].as_array().unwrap() {
            assert!(properties.contains_key(required.as_str().unwrap()));
        }
        assert!(properties.values().all(|property| property["description"].is_string()));
        assert_eq!(spec.access == Access::ReadOnly, spec.name == "Read");
        names.push(Value::from(spec.name));
    }
    assert_eq!(Value::from(names), json!(["Read", "Write", "Edit", "Bash"]));
}

#[test]
fn secrets_of_the_environment_do_not_show_in_debug_output() {
    let bench = Bench::with(|config| {
        config.environment.push(("TOKEN".into(), "hunter2".into()));
    });
    let shown = format!("{:?}", bench.tools);
    assert!(shown.contains("TOKEN") && !shown.contains("hunter2"));
}
