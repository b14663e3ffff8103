//! Which exit codes are answers.

use super::answer;

#[test]
fn exit_code_1_is_an_answer_only_of_commands_that_use_it_so() {
    let answers = [
        "grep x f",
        "grep 'a|b' f",
        "grep \"a;b\" f",
        "LC_ALL=C grep x f",
        "/usr/bin/grep x f",
        "grep -r x . 2>/dev/null",
        "grep x f 2>&1",
        "rg x",
        "find . -name x",
        "diff a b",
        "diff <(sort a) <(sort (b))",
        "test -e f",
        "[ -e f ]",
        "git diff --exit-code",
        "git -C sub --no-pager grep x",
        "cat f | sort | grep x",
        "false; grep x f",
    ];
    for command in answers {
        assert!(answer(command).is_some(), "{command}");
    }
    let failures = [
        "false",
        "grep x f | false",
        "cd sub && grep x f",
        "false || grep x f",
        "grep x f |",
        "for f in *; do grep x $f; done",
        "grep x f; false",
        "grep \"$(false)\" f",
        "grep `false` f",
        "git commit",
        "git",
        "",
        "X=1",
        "grep 'unclosed",
        "grep x f\nfalse",
        "grep x f &",
        "diff <(echo ')') b; false",
        "diff <(sort a",
    ];
    for command in failures {
        assert!(answer(command).is_none(), "{command}");
    }
}
