//! Settings files.

use serde_json::json;
use tillerman_protocol::catalog::Catalog;
use tillerman_protocol::permission::PermissionMode;
use tillerman_protocol::settings::Settings;

use crate::wire::{becomes, keeps, read};

#[test]
fn a_whole_file_is_kept() {
    let settings: Settings = keeps(&json!({
        "$schema": "https://json.schemastore.org/claude-code-settings.json",
        "permissions": {"allow": ["Bash(git:*)"], "deny": ["Read(./.env)"], "ask": ["Bash"],
            "defaultMode": "acceptEdits", "additionalDirectories": ["../docs"],
            "disableBypassPermissionsMode": "disable"},
        "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command",
            "command": "check"}]}]},
        "env": {"A": "b"}, "model": "opus", "outputStyle": "Explanatory",
        "sandbox": {"enabled": true}, "apiKeyHelper": "key", "cleanupPeriodDays": 30,
        "disableAllHooks": false, "statusLine": {"type": "command", "command": "line"}}));
    let permissions = settings.permissions.unwrap();
    assert_eq!(permissions.default_mode, Some(PermissionMode::AcceptEdits));
    assert_eq!(permissions.extra["disableBypassPermissionsMode"], "disable");
    assert_eq!(settings.extra.len(), 2);
}

#[test]
fn an_empty_file_says_nothing() {
    assert_eq!(keeps::<Settings>(&json!({})), Settings::default());
    let nulls = json!({"permissions": null, "env": null, "model": null, "hooks": null});
    assert_eq!(read::<Settings>(&nulls), Settings::default());
}

#[test]
fn variables_are_texts_in_the_end() {
    let line = json!({"env": {"PORT": 8080, "DEBUG": true, "NAME": "x"}});
    let texts = json!({"env": {"PORT": "8080", "DEBUG": "true", "NAME": "x"}});
    becomes::<Settings>(&line, &texts);
    let error = serde_json::from_value::<Settings>(json!({"env": {"A": []}})).unwrap_err();
    assert!(error.to_string().contains("variable A"), "{error}");
}

#[test]
fn what_has_the_wrong_shape_is_an_error() {
    for line in [
        json!([]),
        json!({"permissions": {"allow": "Bash"}}),
        json!({"permissions": {"defaultMode": "delegate"}}),
        json!({"model": 5}),
    ] {
        assert!(serde_json::from_value::<Settings>(line.clone()).is_err(), "{line}");
    }
}

#[test]
fn servers_and_models_have_their_own_keys() {
    let settings: Settings = keeps(&json!({
        "fallbackModel": ["a", "b"], "availableModels": ["opus"], "effortLevel": "high",
        "enableAllProjectMcpServers": true, "enabledMcpjsonServers": ["notes"],
        "disabledMcpjsonServers": ["mail"], "allowedMcpServers": [{"serverName": "notes"}],
        "deniedMcpServers": [{"serverName": "mail"}], "later": 1}));
    assert_eq!(settings.mcp.enable_all_project_mcp_servers, Some(true));
    assert_eq!(settings.mcp.disabled_mcpjson_servers, ["mail"]);
    assert_eq!(settings.extra.len(), 1, "{:?}", settings.extra);
    becomes::<Settings>(&json!({"fallbackModel": "a"}), &json!({"fallbackModel": ["a"]}));
    serde_json::from_value::<Settings>(json!({"fallbackModel": [1]})).unwrap_err();
}

#[test]
fn a_list_of_models_has_ids_beginnings_and_aliases() {
    let aliases = vec![("swift".to_owned(), "maker-swift-2".to_owned())];
    let catalog = Catalog { models: Vec::new(), aliases };
    let includes = |entry: &str, model: &str| catalog.includes(&[entry.to_owned()], model);
    assert!(includes("swift", "maker-swift-2") && includes("maker-swift-2", "swift"));
    assert!(
        includes("maker-swift", "maker-swift-2") && includes("maker-swift-2", "maker-swift-2-x")
    );
    assert!(!includes("maker-swift-2", "maker-swift-20") && !includes("swift", "maker-slow-1"));
    assert!(!includes("", "-x") && !catalog.includes(&[], "swift"));
}
