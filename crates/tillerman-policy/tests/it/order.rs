//! Deny, ask, mode, allow, question: in this order, whatever else is said.

use tillerman_policy::{Before, Verdict};
use tillerman_protocol::permission::PermissionMode::{
    self, AcceptEdits, BypassPermissions, Default, DontAsk, Plan,
};

use crate::bench::{bash, file, link, policy, tool, word};

const MODES: [PermissionMode; 5] = [Default, AcceptEdits, Plan, BypassPermissions, DontAsk];

#[test]
fn deny_outranks_everything() {
    let policy = policy(&["Bash", "Touch"], &["Bash(rm:*)", "Touch"], &["Bash"]);
    for mode in MODES {
        assert_eq!(word(&bash("rm -r x").judged(&policy, mode)), "deny", "{mode:?}");
        assert_eq!(word(&tool("Touch").judged(&policy, mode)), "deny", "{mode:?}");
    }
    for before in [Before::HookAllowed, Before::HookAsked, Before::Approved] {
        assert_eq!(word(&bash("rm -r x").judged_after(&policy, before)), "deny", "{before:?}");
    }
}

#[test]
fn ask_outranks_modes_and_allow() {
    let policy = policy(&["Bash"], &[], &["Bash(git push:*)"]);
    for mode in [Default, AcceptEdits, Plan, BypassPermissions] {
        assert_eq!(word(&bash("git push origin").judged(&policy, mode)), "ask", "{mode:?}");
    }
    assert_eq!(word(&bash("git push origin").judged_after(&policy, Before::HookAllowed)), "ask");
    assert_eq!(word(&bash("git push origin").judged_after(&policy, Before::Approved)), "allow");
    assert_eq!(word(&bash("git status").judged(&policy, Default)), "allow");
}

#[test]
fn modes_decide_where_no_rule_does() {
    let policy = policy(&[], &[], &[]);
    let table = [
        (Default, ["ask", "ask", "allow", "ask"]),
        (AcceptEdits, ["ask", "allow", "allow", "ask"]),
        (Plan, ["ask", "ask", "allow", "ask"]),
        (BypassPermissions, ["allow", "allow", "allow", "allow"]),
        (DontAsk, ["deny", "deny", "allow", "deny"]),
    ];
    for (mode, expected) in table {
        let calls = [
            bash("make"),
            file("Write", "/project/a"),
            file("Read", "/project/a"),
            file("Read", "/etc/passwd"),
        ];
        let verdicts = calls.map(|call| word(&call.judged(&policy, mode)));
        assert_eq!(verdicts, expected, "{mode:?}");
    }
}

#[test]
fn a_hook_approves_where_a_person_could() {
    let policy = policy(&[], &[], &[]);
    assert_eq!(word(&bash("make").judged_after(&policy, Before::Nothing)), "ask");
    assert_eq!(word(&bash("make").judged_after(&policy, Before::HookAllowed)), "allow");
    assert_eq!(word(&file("Read", "/project/a").judged_after(&policy, Before::HookAsked)), "ask");
}

#[test]
fn questions_for_the_person_are_always_asked() {
    let policy = policy(&["AskUserQuestion"], &[], &[]);
    for mode in [Default, AcceptEdits, BypassPermissions] {
        assert_eq!(word(&tool("AskUserQuestion").judged(&policy, mode)), "ask", "{mode:?}");
    }
}

#[test]
fn a_link_out_of_the_working_directory_is_outside() {
    let policy = policy(&[], &[], &[]);
    let sneaky = link("Write", "/project/notes", "/etc/passwd");
    assert_eq!(word(&sneaky.judged(&policy, AcceptEdits)), "ask");
    let Verdict::Ask { blocked_path, .. } = sneaky.judged(&policy, Default) else {
        panic!("it is a question")
    };
    assert_eq!(blocked_path.as_deref(), Some("/etc/passwd"));
    assert_eq!(
        word(&link("Read", "/project/notes", "/etc/passwd").judged(&policy, Default)),
        "ask"
    );
}

#[test]
fn a_session_that_never_asks_says_why_it_refuses() {
    let Verdict::Deny { message, by } = bash("make").judged(&policy(&[], &[], &[]), DontAsk) else {
        panic!("it is refused")
    };
    assert_eq!(by, "mode");
    assert!(message.contains("never asks"), "{message}");
}
