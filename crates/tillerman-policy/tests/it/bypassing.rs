//! bypassPermissions mode: everything but guarded files, restrictions and critical removals.

use crate::world::{assert_all, default_world, unguarded_world};

/// What runs.
const FREE: &[&str] = &[
    "touch x",
    "rm -rf build",
    "curl x | sh",
    "echo $X",
    "echo > $f",
    "rm -rf /tmp/x",
    "cat CLAUDE.md",
    "git log CLAUDE.md",
    "ls .git",
    "rm -rf node_modules/*",
    "python3 x.py",
];

/// Removals that only a person approves.
const CRITICAL: &[&str] = &[
    "rm -rf /",
    "rm -rf /*",
    "rm -rf ~",
    "rm -rf ~/",
    "rm -rf ~/*",
    "rm -rf $HOME",
    "rm -rf \"$HOME\"/*",
    "rm -rf .",
    "rm -rf ..",
    "rm -rf *",
    "rm -rf /etc",
    "rm -rf /usr/*",
    "sudo rm -rf /",
    "bash -c 'rm -rf /'",
    "echo $(rm -rf /)",
    "rm -rf \"$X\"/*",
    "rm -rf ${X}/y",
    "rm -rf $X/",
    "rmdir /",
    "rm -r -f -- /",
    "/bin/rm -rf /",
    "nohup rm -rf / &",
    "true && rm -rf ~",
    "rm --no-preserve-root -rf /",
    "rm -rf /mnt/w/",
    "rm -rf /mnt",
    "cd / && rm -rf *",
    "cd .. && rm -rf *",
    "xargs rm -rf /",
    "find x -exec rm -rf / \\;",
    "eval 'rm -rf /'",
    "rm -rf ./../w",
    "rm -rf .*",
    "env X=1 rm -rf /",
];

/// Writes of guarded files.
const GUARDED: &[&str] = &[
    "echo x > CLAUDE.md",
    "cp a CLAUDE.md",
    "mv CLAUDE.md x",
    "rm CLAUDE.md",
    "rm -rf .claude",
    "sed -i s/a/b/ CLAUDE.md",
    "python3 -c 'open(\"CLAUDE.md\",\"w\")'",
    "node -e 'fs.writeFileSync(\"CLAUDE.md\")'",
    "f=CLAUDE.md; echo x > $f",
    "echo x > CLAUDE.m?",
    "echo x > CLA*",
    "tee CLAUDE.md < a",
    "dd of=CLAUDE.md",
    "curl -o CLAUDE.md x",
    "curl -oCLAUDE.md x",
    "curl --output CLAUDE.md x",
    "wget -O CLAUDE.md x",
    "bash -c 'echo x > CLAUDE.md'",
    "sudo tee CLAUDE.md",
    "chmod 777 CLAUDE.md",
    "truncate -s 0 CLAUDE.md",
    "ln -sf x CLAUDE.md",
    "git checkout -- CLAUDE.md",
    "perl -i -pe 1 CLAUDE.md",
    "echo x > ./.claude/settings.json",
    "cp -r x .claude",
    "install x CLAUDE.md",
    "find . -name CLAUDE.md -delete",
    "patch CLAUDE.md < p",
    "ed CLAUDE.md",
    "vim CLAUDE.md",
    "rsync x CLAUDE.md",
    "awk '{print > \"CLAUDE.md\"}' x",
    "eval 'echo x > CLAUDE.md'",
    "echo x >> /mnt/w/CLAUDE.md",
    "echo x > ../w/CLAUDE.md",
    "echo x > claude.MD",
    "cd .claude && echo x > y",
    "cp x $PWD/CLAUDE.md",
    "touch CLAUDE.md",
];

#[test]
fn bypassing_approves() {
    assert_all(FREE, &default_world().mode("bypassPermissions"), &["allow"]);
    assert_all(FREE, &default_world().mode("full-auto"), &["allow"]);
}

#[test]
fn critical_removals_are_never_approved() {
    assert_all(CRITICAL, &unguarded_world().mode("bypassPermissions"), &["ask"]);
    assert_all(CRITICAL, &unguarded_world().allow(&["Bash", "Bash(rm *)"]), &["ask"]);
    assert_all(CRITICAL, &unguarded_world().after_hook_allow(), &["ask"]);
    assert_all(CRITICAL, &unguarded_world().mode("dontAsk"), &["deny"]);
}

#[test]
fn guarded_files_are_never_written() {
    assert_all(GUARDED, &default_world().mode("bypassPermissions"), &["deny", "ask"]);
    assert_all(GUARDED, &default_world().allow(&["Bash"]), &["deny", "ask"]);
    let ruling = default_world().mode("bypassPermissions").ruling("echo x > CLAUDE.md");
    assert_eq!(ruling.verdict.name(), "deny");
    assert!(ruling.reason.contains("Cannot modify protected files via shell commands: CLAUDE.md"));
}
