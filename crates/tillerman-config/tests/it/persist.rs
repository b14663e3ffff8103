//! Permission updates that outlive the session.

use std::os::unix::fs::symlink;

use serde_json::{Value, json};
use tillerman_config::{PersistError, Source, persist};
use tillerman_protocol::permission::PermissionUpdate;

use crate::desk::Desk;

fn keep(desk: &Desk, update: Value) -> Result<(), PersistError> {
    let update: PermissionUpdate = serde_json::from_value(update).unwrap();
    persist(&desk.places, &update)
}

fn stored(desk: &Desk, source: Source) -> Value {
    serde_json::from_str(&std::fs::read_to_string(desk.path(source)).unwrap()).unwrap()
}

fn add(destination: &str, rule: &str) -> Value {
    json!({"type": "addRules", "behavior": "allow", "destination": destination,
        "rules": [{"toolName": "Bash", "ruleContent": rule}]})
}

#[test]
fn an_update_goes_into_the_file_of_its_destination() {
    for (destination, source) in [
        ("userSettings", Source::User),
        ("projectSettings", Source::Project),
        ("localSettings", Source::Local),
    ] {
        let desk = Desk::new();
        keep(&desk, add(destination, "git:*")).unwrap();
        assert_eq!(stored(&desk, source), json!({"permissions": {"allow": ["Bash(git:*)"]}}));
    }
}

#[test]
fn what_is_for_the_session_is_not_written() {
    let desk = Desk::new();
    keep(&desk, add("session", "git:*")).unwrap();
    keep(&desk, add("cliArg", "git:*")).unwrap();
    for source in [Source::User, Source::Project, Source::Local] {
        assert!(!desk.path(source).exists());
    }
}

#[test]
fn everything_else_in_the_file_stays() {
    let desk = Desk::new();
    let before = json!({"model": "m", "new": {"key": 1},
        "permissions": {"deny": ["Read(./.env)"], "allow": ["Bash(ls:*)"], "later": true}});
    desk.put(Source::Local, &before);
    keep(&desk, add("localSettings", "ls:*")).unwrap();
    assert_eq!(stored(&desk, Source::Local), before, "a rule is kept once");
    keep(&desk, add("localSettings", "git:*")).unwrap();
    let remove = json!({"type": "removeRules", "behavior": "allow", "destination": "localSettings",
        "rules": [{"toolName": "Bash", "ruleContent": "ls:*"}]});
    keep(&desk, remove).unwrap();
    let after = stored(&desk, Source::Local);
    assert_eq!(after["permissions"]["allow"], json!(["Bash(git:*)"]));
    assert_eq!(after["permissions"]["deny"], json!(["Read(./.env)"]));
    assert_eq!((&after["model"], &after["new"]["key"]), (&json!("m"), &json!(1)));
}

#[test]
fn a_damaged_file_is_left_as_it_is() {
    for text in ["{", "[]", r#"{"permissions": 7}"#, r#"{"permissions": {"allow": "all"}}"#] {
        let desk = Desk::new();
        desk.write(Source::Local, text);
        let error = keep(&desk, add("localSettings", "git:*")).unwrap_err();
        assert!(matches!(error, PersistError::Damaged { .. }), "{error}");
        assert_eq!(std::fs::read_to_string(desk.path(Source::Local)).unwrap(), text);
    }
}

#[test]
fn nothing_is_written_through_a_link() {
    let desk = Desk::new();
    let target = desk.places.config_dir.join("target.json");
    std::fs::write(&target, "{}").unwrap();
    symlink(&target, desk.path(Source::Local)).unwrap();
    keep(&desk, add("localSettings", "git:*")).unwrap_err();
    assert_eq!(std::fs::read_to_string(&target).unwrap(), "{}");
}
