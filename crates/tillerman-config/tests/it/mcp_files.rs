//! Files that name MCP servers.

use std::path::Path;

use serde_json::{Value, json};
use tillerman_config::{
    McpPlaces, McpScope, PersistError, add_server, expand, find_servers, remove_server,
};

fn places(root: &Path) -> McpPlaces {
    let cwd = root.join("project/below");
    std::fs::create_dir_all(&cwd).unwrap();
    std::fs::create_dir(root.join("project/.git")).unwrap();
    McpPlaces { user_file: root.join("user.json"), cwd }
}

fn names(places: &McpPlaces, scopes: &[McpScope]) -> Vec<(String, &'static str)> {
    let found = find_servers(places, scopes);
    assert_eq!(found.problems, Vec::<String>::new());
    found.servers.into_iter().map(|it| (it.name, it.scope.as_str())).collect()
}

#[test]
fn servers_are_added_found_by_precedence_and_removed() {
    let root = tempfile::tempdir().unwrap();
    let places = places(root.path());
    std::fs::write(&places.user_file, r#"{"kept": 1, "projects": {"/other": {"x": 2}}}"#).unwrap();
    let server = |command: &str| json!({"command": command});
    for scope in McpScope::ALL {
        add_server(&places, scope, "same", server(scope.as_str())).unwrap();
        add_server(&places, scope, scope.as_str(), server("own")).unwrap();
    }
    let all = names(&places, &McpScope::ALL);
    let expected =
        [("local", "local"), ("project", "project"), ("same", "local"), ("user", "user")];
    assert_eq!(all, expected.map(|(name, scope)| (name.to_owned(), scope)));
    let without_local = names(&places, &[McpScope::Project, McpScope::User]);
    assert!(without_local.contains(&("same".to_owned(), "project")));
    assert!(remove_server(&places, McpScope::Local, "same").unwrap());
    assert!(!remove_server(&places, McpScope::Local, "same").unwrap());
    assert!(names(&places, &McpScope::ALL).contains(&("same".to_owned(), "project")));
    let kept: Value =
        serde_json::from_str(&std::fs::read_to_string(&places.user_file).unwrap()).unwrap();
    assert_eq!(kept["kept"], 1, "everything else in the file stays");
    assert_eq!(kept["projects"]["/other"], json!({"x": 2}));
}

#[test]
fn a_projects_file_is_looked_for_up_to_the_root_of_the_repository() {
    let root = tempfile::tempdir().unwrap();
    let places = places(root.path());
    let file = json!({"mcpServers": {"a": {"command": "a"}}}).to_string();
    std::fs::write(root.path().join(".mcp.json"), &file).unwrap();
    assert_eq!(names(&places, &[McpScope::Project]), []);
    std::fs::write(root.path().join("project/.mcp.json"), &file).unwrap();
    assert_eq!(names(&places, &[McpScope::Project]), [("a".to_owned(), "project")]);
}

#[test]
fn broken_files_are_named_and_left_as_they_are() {
    let root = tempfile::tempdir().unwrap();
    let places = places(root.path());
    for text in ["{", r#"{"mcpServers": []}"#] {
        std::fs::write(&places.user_file, text).unwrap();
        let found = find_servers(&places, &[McpScope::User]);
        assert_eq!(found.servers, []);
        assert!(found.problems[0].contains("user.json"), "{:?}", found.problems);
        let error = add_server(&places, McpScope::User, "a", json!({})).unwrap_err();
        assert!(matches!(error, PersistError::Damaged { .. }), "{error}");
        assert_eq!(std::fs::read_to_string(&places.user_file).unwrap(), text);
    }
}

#[test]
fn nothing_is_written_through_a_link() {
    let root = tempfile::tempdir().unwrap();
    let places = places(root.path());
    let target = root.path().join("target");
    std::fs::write(&target, "{}").unwrap();
    std::os::unix::fs::symlink(&target, places.cwd.join(".mcp.json")).unwrap();
    let error = add_server(&places, McpScope::Project, "a", json!({})).unwrap_err();
    assert!(error.to_string().contains("is a link"), "{error}");
    assert_eq!(std::fs::read_to_string(&target).unwrap(), "{}");
}

#[test]
fn variables_are_replaced_everywhere_and_missing_ones_named() {
    let lookup = |name: &str| match name {
        "A" => Some("one".to_owned()),
        "EMPTY" => Some(String::new()),
        "LOOP" => Some("${A}".to_owned()),
        _ => None,
    };
    let table = [
        ("${A}", "one", 0),
        ("x${A}y${A}", "xoneyone", 0),
        ("${B:-two}", "two", 0),
        ("${A:-two}", "one", 0),
        ("${EMPTY:-two}", "two", 0),
        ("${EMPTY}", "", 0),
        ("${B:-}", "", 0),
        ("${B}", "${B}", 1),
        ("${LOOP}", "${A}", 0),
        ("${A", "${A", 0),
        ("$A ${}", "$A ${}", 1),
        ("ünï ${A}", "ünï one", 0),
    ];
    for (text, expected, missing) in table {
        let mut value = json!({"args": [text], "n": 1});
        let names = expand(&mut value, &lookup);
        assert_eq!(value, json!({"args": [expected], "n": 1}), "{text}");
        assert_eq!(names.len(), missing, "{text}: {names:?}");
    }
}
