//! What cards show and what they are bound to.

use serde_json::json;
use tillerman_protocol::permission::{
    PermissionRule, PermissionUpdate, RuleBehavior, UpdateDestination,
};

use super::{display, hash_call, suggestions, visible};

#[test]
fn marks_that_turn_text_around_are_shown_as_escapes() {
    let shown = visible("rm \u{202e}txt.\u{200b}exe\u{1b}[2K\r");
    assert_eq!(shown, "rm \\u{202e}txt.\\u{200b}exe\\u{001b}[2K\\u{000d}");
    let card = display("Bash", None, &json!({"command": "echo \u{e0041}"}));
    assert_eq!(card.lines, ["command: echo \\u{e0041}"]);
    assert_eq!(card.warnings.len(), 1);
}

#[test]
fn every_line_of_a_long_command_is_shown_and_no_rule_is_offered() {
    let command: String = (0..2_000).map(|number| format!("echo {number}\n")).collect();
    let input = json!({"command": command, "description": "harmless"});
    let card = display("Bash", None, &input);
    assert_eq!(card.lines.len(), 2_002);
    assert!(card.lines.iter().any(|line| line.ends_with("echo 1999")));
    let rule = PermissionRule { tool_name: "Bash".to_owned(), rule_content: None };
    let update = PermissionUpdate::AddRules {
        rules: vec![rule],
        behavior: RuleBehavior::Allow,
        destination: UpdateDestination::LocalSettings,
    };
    assert!(suggestions(&input, std::slice::from_ref(&update)).is_empty());
    let short = suggestions(&json!({"command": "ls"}), &[update]);
    assert_eq!(short[0].label, "Always allow Bash in this project");
}

#[test]
fn a_hash_is_about_everything_that_decides() {
    let input = json!({"command": "ls", "timeout": 5});
    let same = json!({"timeout": 5, "command": "ls"});
    let hash = hash_call("Bash", &input, "/w", "s");
    assert_eq!(hash, hash_call("Bash", &same, "/w", "s"));
    for other in [
        hash_call("Bas", &input, "/w", "s"),
        hash_call("Bash", &json!({"command": "ls"}), "/w", "s"),
        hash_call("Bash", &input, "/ws", ""),
        hash_call("Bash", &input, "/w", "t"),
    ] {
        assert_ne!(hash, other);
    }
}
