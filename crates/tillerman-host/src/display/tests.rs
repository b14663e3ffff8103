//! What cards show and what they are bound to.

use serde_json::json;
use tillerman_protocol::permission::{
    PermissionRule, PermissionUpdate, RuleBehavior, UpdateDestination,
};

use super::{Bound, display, suggestions, visible};

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
    let (same, other) = (json!({"timeout": 5, "command": "ls"}), json!({"command": "ls"}));
    let programs = json!([{"path": "/w/s.py", "sha256": "1"}]);
    let changed = json!([{"path": "/w/s.py", "sha256": "2"}]);
    let bound = Bound {
        tool: "Bash",
        input: &input,
        cwd: "/w",
        session: "s",
        mode: "default",
        programs: &programs,
    };
    assert_eq!(bound.hash(), Bound { input: &same, ..bound }.hash());
    for other in [
        Bound { tool: "Bas", ..bound },
        Bound { input: &other, ..bound },
        Bound { cwd: "/ws", session: "", ..bound },
        Bound { session: "t", ..bound },
        Bound { mode: "acceptEdits", ..bound },
        Bound { programs: &changed, ..bound },
    ] {
        assert_ne!(bound.hash(), other.hash(), "{other:?}");
    }
}

#[test]
fn a_host_that_may_look_like_another_is_spelled_out() {
    let warn = |url: &str| display("WebFetch", None, &json!({"url": url})).warnings;
    assert_eq!(warn("https://example.com/caf\u{e9}"), Vec::<String>::new());
    let [warning] = warn("https://ex\u{0430}mple.com/x").try_into().unwrap();
    assert!(warning.contains("ex\\u{430}mple.com"), "{warning}");
}
