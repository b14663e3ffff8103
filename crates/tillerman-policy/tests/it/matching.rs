//! What is not understood for certain is never waved through.

use tillerman_policy::split_rules;
use tillerman_protocol::permission::PermissionMode::Default;

use crate::bench::{bash, file, link, policy, word};

#[test]
fn an_allow_rule_matches_whole_words_of_plain_commands() {
    let policy = policy(&["Bash(git status)", "Bash(npm run:*)", "Bash(cargo *)"], &[], &[]);
    let table = [
        ("git status", "allow"),
        ("git status -s", "ask"),
        ("npm run test", "allow"),
        ("npm run", "allow"),
        ("npm runaway", "ask"),
        ("npmrun test", "ask"),
        ("cargo build", "allow"),
        ("cargonaut", "ask"),
        ("", "ask"),
    ];
    for (command, expected) in table {
        assert_eq!(word(&bash(command).judged(&policy, Default)), expected, "{command}");
    }
}

#[test]
fn what_hides_another_command_is_asked_about() {
    let policy = policy(&["Bash(git:*)", "Bash(echo:*)"], &[], &[]);
    let hidden = [
        "git status; rm -r /",
        "git status && rm -r /",
        "git status | sh",
        "echo $(rm -r /)",
        "echo `rm -r /`",
        "git status\nrm -r /",
        "git log > /etc/passwd",
        "git status & rm -r /",
        "echo ${IFS}",
        "echo 'a'\"b\"",
        "git \\\n status",
    ];
    for command in hidden {
        assert_eq!(word(&bash(command).judged(&policy, Default)), "ask", "{command}");
    }
}

#[test]
fn a_deny_rule_matches_what_may_hide_its_command() {
    let policy = policy(&["Bash"], &["Bash(rm:*)"], &[]);
    for command in ["rm x", "ls; rm x", "$(rm x)", "r\"m\" x", "ls | xargs rm"] {
        assert_eq!(word(&bash(command).judged(&policy, Default)), "deny", "{command}");
    }
    for command in ["rmdir x", "ls rm", "git rm x"] {
        assert_eq!(word(&bash(command).judged(&policy, Default)), "allow", "{command}");
    }
}

#[test]
fn patterns_nobody_understands_refuse_and_never_allow() {
    let call = || file("Read", "/elsewhere/secrets/key.pem");
    for pattern in ["Read(**/*.pem)", "Read(~/x)", "Read(/s{a,b})", "Read([a-z])"] {
        assert_eq!(
            word(&call().judged(&policy(&[pattern], &[], &[]), Default)),
            "ask",
            "{pattern}"
        );
        assert_eq!(
            word(&call().judged(&policy(&[], &[pattern], &[]), Default)),
            "deny",
            "{pattern}"
        );
    }
}

#[test]
fn deny_knows_a_file_by_either_name_and_allow_by_both() {
    let denied = policy(&[], &["Read(secret.txt)"], &[]);
    for (named, resolved) in [
        ("/project/secret.txt", "/project/secret.txt"),
        ("/project/innocent", "/project/secret.txt"),
        ("/project/secret.txt", "/project/elsewhere"),
    ] {
        assert_eq!(
            word(&link("Read", named, resolved).judged(&denied, Default)),
            "deny",
            "{named}"
        );
    }
    let allowed = policy(&["Read(//data/**)"], &[], &[]);
    assert_eq!(word(&file("Read", "/data/a").judged(&allowed, Default)), "allow");
    assert_eq!(word(&link("Read", "/data/a", "/etc/shadow").judged(&allowed, Default)), "ask");
    assert_eq!(word(&file("Read", "/database/a").judged(&allowed, Default)), "ask");
}

#[test]
fn rules_about_edits_are_about_every_tool_that_writes() {
    let policy = policy(&[], &["Edit(config/**)"], &[]);
    for tool in ["Edit", "Write", "MultiEdit", "NotebookEdit"] {
        let call = file(tool, "/project/config/a");
        assert_eq!(word(&call.judged(&policy, Default)), "deny", "{tool}");
    }
    assert_eq!(word(&file("Read", "/project/config/a").judged(&policy, Default)), "allow");
}

#[test]
fn lists_of_rules_are_split_outside_of_parentheses() {
    let table = [
        ("", vec![]),
        ("Read", vec!["Read"]),
        ("Read,Write", vec!["Read", "Write"]),
        ("Read, Write  Edit", vec!["Read", "Write", "Edit"]),
        ("Bash(git log, x) Read", vec!["Bash(git log, x)", "Read"]),
        ("Bash(a (b) c),Read", vec!["Bash(a (b) c)", "Read"]),
    ];
    for (text, expected) in table {
        assert_eq!(split_rules(text), expected, "{text}");
    }
}
