//! Who outranks whom.

use serde_json::json;
use tillerman_policy::{Before, Verdict, tools_off_in};
use tillerman_protocol::permission::PermissionMode;

use crate::world::default_world;

#[test]
fn deny_outranks_everything_but_the_guard() {
    let input = json!({ "file_path": "a" });
    for before in [Before::Nothing, Before::HookAllowed, Before::Approved] {
        let mut world =
            default_world().allow(&["Edit"]).deny(&["Edit(a)"]).mode("bypassPermissions");
        world.before = before;
        assert_eq!(world.verdict_of("Edit", &input), "deny");
        assert_eq!(world.deny(&["Bash(ls *)"]).ruling("ls").verdict.name(), "deny");
    }
}

#[test]
fn ask_outranks_modes_hooks_and_rules() {
    for before in [Before::Nothing, Before::HookAllowed] {
        let mut world = default_world()
            .allow(&["Edit", "Bash"])
            .ask(&["Edit(a)", "Bash(make *)"])
            .mode("bypassPermissions");
        world.before = before;
        assert_eq!(world.verdict_of("Edit", &json!({ "file_path": "a" })), "ask");
        assert_eq!(world.ruling("make").verdict.name(), "ask");
    }
}

#[test]
fn a_hook_can_ask_and_allow() {
    let mut world = default_world();
    world.before = Before::HookAsked;
    assert_eq!(world.ruling("ls").verdict.name(), "ask");
    assert_eq!(world.verdict_of("Read", &json!({ "file_path": "a" })), "ask");
    world.before = Before::HookAllowed;
    assert_eq!(world.ruling("make").verdict.name(), "allow");
    assert_eq!(world.clone().mode("plan").ruling("make").verdict.name(), "ask");
}

#[test]
fn approval_holds_against_everything_but_guard_and_deny() {
    let mut world = default_world().ask(&["Bash"]);
    world.before = Before::Approved;
    assert_eq!(world.ruling("rm -rf /").verdict.name(), "allow");
    assert_eq!(world.ruling("echo x > CLAUDE.md").verdict.name(), "deny");
    assert_eq!(world.deny(&["Bash(rm *)"]).ruling("rm x").verdict.name(), "deny");
}

#[test]
fn questions_for_people_are_asked_even_when_bypassing() {
    let input = json!({ "questions": [] });
    assert_eq!(
        default_world().mode("bypassPermissions").verdict_of("AskUserQuestion", &input),
        "ask"
    );
    assert_eq!(default_world().mode("dontAsk").verdict_of("AskUserQuestion", &input), "deny");
}

#[test]
fn plan_tools_are_off_when_bypassing() {
    for tool in ["EnterPlanMode", "ExitPlanMode"] {
        assert!(tools_off_in(PermissionMode::BypassPermissions).contains(&tool));
        assert!(tools_off_in(PermissionMode::Plan).is_empty());
        assert_eq!(default_world().mode("full-auto").verdict_of(tool, &json!({})), "deny");
        assert_eq!(default_world().mode("plan").verdict_of(tool, &json!({})), "ask");
    }
}

#[test]
fn a_denial_says_what_decided() {
    let ruling = default_world().deny(&["Bash(rm *)"]).ruling("ls; rm x");
    let Verdict::Deny { message, by } = &ruling.verdict else { panic!("{ruling:?}") };
    assert!(message.contains("Bash(rm *)"), "{message}");
    assert_eq!(*by, "rule");
    assert_eq!(ruling.parts.iter().map(|part| part.verdict).collect::<Vec<_>>(), ["allow", "deny"]);
    let ruling = default_world().mode("dontAsk").ruling("make");
    assert!(matches!(ruling.verdict, Verdict::Deny { by: "mode", .. }));
}

#[test]
fn every_part_is_reported() {
    let ruling = default_world().allow(&["Bash(make *)"]).ruling("ls && make all | touch x");
    let parts: Vec<(&str, &str)> =
        ruling.parts.iter().map(|part| (part.text.as_str(), part.verdict)).collect();
    assert_eq!(parts, [("ls", "allow"), ("make all", "allow"), ("touch x", "ask")]);
    assert!(ruling.reason.contains("touch x"), "{}", ruling.reason);
}
