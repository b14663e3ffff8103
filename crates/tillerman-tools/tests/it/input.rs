//! Inputs are checked, and what is wrong is named.

use serde_json::json;
use tillerman_protocol::tool::Access;
use tillerman_tools::{Audience, SearchSource};

use crate::bench::Bench;

#[test]
fn wrong_inputs_are_refused_with_the_name_of_the_field() {
    let bench = with_everything();
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
        ("Bash", json!({"command": "ls", "run_in_background": 1}), "run_in_background must be"),
        ("MultiEdit", json!({"file_path": "/a"}), "edits is required"),
        ("MultiEdit", json!({"file_path": "/a", "edits": []}), "edits must hold"),
        (
            "MultiEdit",
            json!({"file_path": "/a", "edits": [{"old_string": "x"}]}),
            "edits[0].new_string is required",
        ),
        (
            "MultiEdit",
            json!({"file_path": "/a", "edits": [{"old_string": "x", "new_string": "x"}]}),
            "edits[0]: old_string and new_string are the same",
        ),
        ("NotebookEdit", json!({"new_source": "x"}), "notebook_path is required"),
        ("NotebookEdit", json!({"notebook_path": "/a", "new_source": ""}), "cell_id is required"),
        (
            "NotebookEdit",
            json!({"notebook_path": "/a", "new_source": "", "edit_mode": "insert"}),
            "cell_type is required to insert",
        ),
        (
            "NotebookEdit",
            json!({"notebook_path": "/a", "new_source": "", "edit_mode": "move"}),
            "edit_mode must be one of replace, insert, delete",
        ),
        ("Glob", json!({}), "pattern is required"),
        ("Glob", json!({"pattern": " "}), "pattern is empty"),
        ("Glob", json!({"pattern": "../*"}), "pattern contains \"..\""),
        ("Glob", json!({"pattern": "*", "path": "~/x"}), "path starts with ~"),
        ("Grep", json!({}), "pattern is required"),
        ("Grep", json!({"pattern": "x", "output_mode": "all"}), "output_mode must be one of"),
        ("Grep", json!({"pattern": "x", "-A": "two"}), "-A must be a whole number"),
        ("TaskOutput", json!({}), "task_id is required"),
        ("TaskStop", json!({}), "task_id is required"),
        ("TodoWrite", json!({}), "todos is required"),
        ("TodoWrite", json!({"todos": "x"}), "todos must be an array"),
        ("TodoWrite", json!({"todos": ["x"]}), "todos[0] must be an object"),
        ("TodoWrite", json!({"todos": [{"content": "x"}]}), "todos[0].status is required"),
        (
            "TodoWrite",
            json!({"todos": [{"content": "x", "status": "done"}]}),
            "todos[0].status must be one of pending, in_progress, completed",
        ),
        ("WebFetch", json!({"prompt": "x"}), "url is required"),
        ("WebFetch", json!({"url": "example.com", "prompt": "x"}), "the URL is not valid"),
        ("WebFetch", json!({"url": "file:///etc/passwd", "prompt": "x"}), "only http and https"),
        ("WebFetch", json!({"url": "https://a:b@example.com"}), "user name or password"),
        ("WebSearch", json!({"query": "x"}), "query must have at least two"),
        (
            "WebSearch",
            json!({"query": "rust", "allowed_domains": ["a.b"], "blocked_domains": ["c.d"]}),
            "either allowed_domains or blocked_domains",
        ),
        ("AskUserQuestion", json!({"questions": []}), "one to four questions"),
        ("ExitPlanMode", json!({}), "plan is required"),
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

fn with_everything() -> Bench {
    Bench::with(|config| {
        config.web.search = Some(SearchSource::Endpoint("https://s.example/?q={query}".to_owned()));
    })
}

#[test]
fn specs_describe_closed_objects_in_a_stable_order() {
    let bench = with_everything();
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
        names.push((spec.name, spec.access));
    }
    let (looks, changes) = (Access::ReadOnly, Access::Mutating);
    let expected = [
        ("Read", looks),
        ("Write", changes),
        ("Edit", changes),
        ("MultiEdit", changes),
        ("NotebookEdit", changes),
        ("Glob", looks),
        ("Grep", looks),
        ("Bash", changes),
        ("TaskOutput", looks),
        ("TaskStop", looks),
        ("Monitor", changes),
        ("TodoWrite", looks),
        ("WebFetch", changes),
        ("WebSearch", changes),
        ("AskUserQuestion", looks),
        ("EnterPlanMode", looks),
        ("ExitPlanMode", changes),
    ];
    assert_eq!(names, expected.map(|(name, access)| (name.to_owned(), access)));
}

#[test]
fn tools_that_could_not_work_are_not_offered() {
    let bench = Bench::with(|config| config.audience = Audience::Absent);
    let offered = |name: &str| bench.tools.iter().any(|tool| tool.spec().name == name);
    assert!(!offered("AskUserQuestion") && !offered("WebSearch") && offered("WebFetch"));
}

#[test]
fn secrets_of_the_environment_do_not_show_in_debug_output() {
    let bench = Bench::with(|config| {
        config.environment.push(("TOKEN".into(), "hunter2".into()));
        config.web.search =
            Some(SearchSource::Endpoint("https://s.example/?key=hunter2&q={query}".to_owned()));
    });
    let shown = format!("{:?}", bench.tools);
    assert!(shown.contains("TOKEN") && !shown.contains("hunter2"));
}

#[tokio::test]
async fn numbers_and_flags_in_quotes_are_understood() {
    let bench = Bench::new();
    let path = bench.file("a.txt", "one\ntwo\ntwo\n");
    let shown = bench.call("Read", json!({"file_path": path, "offset": "2", "limit": "1"})).await;
    assert_eq!(crate::bench::text(&shown.unwrap()), "     2\ttwo");
    let edit =
        json!({"file_path": path, "old_string": "two", "new_string": "2", "replace_all": "true"});
    bench.call("Edit", edit).await.unwrap();
    assert_eq!(bench.content("a.txt"), "one\n2\n2\n");
}

#[tokio::test]
async fn files_that_somebody_has_seen_count_as_read_unless_they_changed() {
    let bench = Bench::new();
    let notebook = r#"{"cells": [{"cell_type": "code", "id": "c1", "source": "x", "metadata": {}, "outputs": [], "execution_count": null}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}"#;
    let path = bench.file("n.ipynb", notebook);
    let edit = json!({"notebook_path": path, "cell_id": "c1", "new_source": "y"});
    bench.tool("Read").count_as_read(&path, 1.0);
    bench.failure("NotebookEdit", edit.clone()).await;
    bench.tool("Read").count_as_read(&path, 4e12);
    bench.call("NotebookEdit", edit).await.unwrap();
}
