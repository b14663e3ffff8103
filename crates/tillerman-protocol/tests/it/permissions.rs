//! Modes, updates and answers.

use serde_json::{Value, json};
use tillerman_protocol::permission::{
    PermissionMode, PermissionResult, PermissionUpdate, UpdateDestination,
};

use crate::wire::{becomes, keeps, read};

#[test]
fn modes_have_one_name_on_the_wire_and_several_for_people() {
    for (name, mode) in PermissionMode::ALL {
        assert_eq!(keeps::<PermissionMode>(&json!(name)), mode);
        assert_eq!(PermissionMode::parse(name), Some(mode));
        assert_eq!(mode.as_str(), name);
    }
    for (name, wire) in
        [("manual", "default"), ("auto-edit", "acceptEdits"), ("full-auto", "bypassPermissions")]
    {
        becomes::<PermissionMode>(&json!(name), &json!(wire));
        assert_eq!(PermissionMode::parse(name).unwrap().as_str(), wire);
    }
    assert_eq!(PermissionMode::parse("Default"), None);
    assert!(serde_json::from_value::<PermissionMode>(json!("whatever")).is_err());
}

#[test]
fn every_update_is_kept_whole() {
    let rules = json!([{"toolName": "Bash", "ruleContent": "git:*"}, {"toolName": "Read"}]);
    let destinations = ["userSettings", "projectSettings", "localSettings", "session", "cliArg"];
    for destination in destinations {
        for kind in ["addRules", "replaceRules", "removeRules"] {
            for behavior in ["allow", "deny", "ask"] {
                let update = json!({"type": kind, "rules": rules, "behavior": behavior,
                    "destination": destination});
                assert!(!is_other(&keeps(&update)), "{update}");
            }
        }
        let mode = json!({"type": "setMode", "mode": "acceptEdits", "destination": destination});
        assert!(!is_other(&keeps(&mode)), "{mode}");
        for kind in ["addDirectories", "removeDirectories"] {
            let update = json!({"type": kind, "directories": ["/a"], "destination": destination});
            assert!(!is_other(&keeps(&update)), "{update}");
        }
    }
}

fn is_other(update: &PermissionUpdate) -> bool {
    matches!(update, PermissionUpdate::Other(_))
}

#[test]
fn an_update_without_a_destination_is_for_the_session() {
    let update = json!({"type": "addDirectories", "directories": ["/a"]});
    let PermissionUpdate::AddDirectories { destination, .. } = read(&update) else {
        panic!("{update}")
    };
    assert_eq!(destination, UpdateDestination::Session);
}

#[test]
fn other_updates_arrive_as_they_came() {
    for update in [
        json!({"type": "grantEverything", "destination": "session"}),
        json!({"type": "setMode", "mode": "whatever", "destination": "session"}),
        json!({"type": "addRules", "rules": [], "destination": "session"}),
        json!("allow"),
    ] {
        assert!(is_other(&keeps(&update)), "{update}");
    }
}

#[test]
fn answers_are_read_as_both_clients_write_them() {
    let allow = |answer: &Value| match read(answer) {
        PermissionResult::Allow { updated_input, updated_permissions } => {
            (updated_input, updated_permissions.unwrap_or_default().len())
        }
        PermissionResult::Deny { .. } => panic!("{answer}"),
    };
    // "Unchanged" and "empty" are different things.
    assert_eq!(allow(&json!({"behavior": "allow"})), (None, 0));
    assert_eq!(allow(&json!({"behavior": "allow", "updatedInput": {}})), (Some(json!({})), 0));
    let typescript = json!({"behavior": "allow", "updatedInput": {"a": 1}, "toolUseID": "t",
        "decisionClassification": "user_permanent",
        "updatedPermissions": [{"type": "setMode", "mode": "plan", "destination": "session"},
            {"type": "fromTheFuture"}]});
    assert_eq!(allow(&typescript), (Some(json!({"a": 1})), 2));

    let deny = |answer: &Value| match read(answer) {
        PermissionResult::Deny { message, interrupt } => (message, interrupt),
        PermissionResult::Allow { .. } => panic!("{answer}"),
    };
    let python = json!({"behavior": "deny", "message": "No", "interrupt": true});
    assert_eq!(deny(&python), ("No".to_owned(), true));
    assert_eq!(deny(&json!({"behavior": "deny"})), (String::new(), false));
}

#[test]
fn nothing_else_is_an_answer() {
    for answer in [
        json!({}),
        json!({"behavior": "ask"}),
        json!({"behavior": "Allow"}),
        json!({"behavior": true}),
        json!("allow"),
        json!(null),
        json!({"behavior": "deny", "interrupt": "yes"}),
    ] {
        assert!(serde_json::from_value::<PermissionResult>(answer.clone()).is_err(), "{answer}");
    }
}
