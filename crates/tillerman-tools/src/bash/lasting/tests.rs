//! Which commands may go on.

use super::may_go_on;

#[test]
fn builds_go_on_while_sleepers_repositories_and_riddles_do_not() {
    for command in [
        "cargo test",
        "RUST_LOG=debug cargo test 2>&1 | tail -5",
        "cd web && npm run build; echo 'done (really)'",
        "for f in a b; do make $f; done",
        "echo begun; sleep 60",
        "cat .git/HEAD digit",
    ] {
        assert!(may_go_on(command), "{command}");
    }
    for command in [
        "sleep 100",
        "A=1 /bin/sleep 100; make",
        "git fetch",
        "cd x && /usr/bin/git pull",
        "bash -c 'git push'",
        "xargs git-lfs pull",
        "make $(nproc)",
        "make `nproc`",
        "echo \"$(date)\"",
        "(make)",
        "cat <<END",
        "echo 'open",
    ] {
        assert!(!may_go_on(command), "{command}");
    }
}
