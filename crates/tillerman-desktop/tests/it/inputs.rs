//! What the server offers, and inputs that it refuses before anybody is asked.

use serde_json::json;
use tillerman_desktop::{DesktopConfig, TOOL_NAMES, desktop_tools, full_name};

#[test]
fn the_server_has_eleven_tools_under_its_own_name() {
    let temp = tempfile::tempdir().unwrap();
    let tools = desktop_tools(DesktopConfig::new(temp.path(), []).unwrap());
    let names: Vec<String> = tools.iter().map(|tool| tool.spec().name).collect();
    assert_eq!(names, TOOL_NAMES.map(full_name));
    assert_eq!(names[1], "mcp__desktop-assistant-tools__read_file");
    for tool in &tools {
        assert_eq!(tool.spec().input_schema["type"], "object");
    }
}

#[test]
fn bad_inputs_are_refused_with_the_name_of_the_field() {
    let temp = tempfile::tempdir().unwrap();
    let tools = desktop_tools(DesktopConfig::new(temp.path(), []).unwrap());
    let check = |name: &str, input| {
        let tool = tools.iter().find(|tool| tool.spec().name == full_name(name)).unwrap();
        tool.check(&input).unwrap_err()
    };
    let cases = [
        ("read_file", json!({}), "path is required"),
        ("read_file", json!({"path": 7}), "path must be a text"),
        ("read_file", json!({"path": "a\0b"}), "NUL"),
        ("read_file", json!({"path": "a", "mode": "rw"}), "there is no field mode"),
        ("read_file", json!("a"), "must be a JSON object"),
        ("write_file", json!({"path": "a"}), "content is required"),
        ("run_shell_command", json!({"command": "ls", "args": "-l"}), "list of texts"),
        ("capture_screenshot", json!({"mode": "all"}), "fullscreen, window, region"),
    ];
    for (tool, input, expected) in cases {
        let why = check(tool, input.clone());
        assert!(why.contains(expected), "{tool} {input}: {why}");
    }
}

#[test]
fn a_workspace_must_be_a_directory() {
    let temp = tempfile::tempdir().unwrap();
    assert!(DesktopConfig::new(&temp.path().join("missing"), []).is_err());
    std::fs::write(temp.path().join("file"), "").unwrap();
    assert!(DesktopConfig::new(&temp.path().join("file"), []).is_err());
}
