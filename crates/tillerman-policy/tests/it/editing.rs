//! acceptEdits mode: plain edits inside the working directories, and nothing else.

use crate::world::{assert_all, default_world};

/// Edits that the mode approves.
const EDITS: &[&str] = &[
    "touch x",
    "mkdir -p a/b",
    "rm x",
    "rm -rf build",
    "rmdir d",
    "mv a b",
    "cp a b",
    "cp a sub/",
    "sed -i s/a/b/ x",
    "sed -i -e s/a/b/ x",
    "echo hi > x",
    "echo hi >> sub/x",
    "cat a > b",
    "touch a && mkdir b",
    "cat <<'EOF' > out\nx\nEOF",
    "LC_ALL=C touch x",
    "timeout 5 touch x",
    "> x",
    "mkdir a; touch a/b",
    "ls > out 2>&1",
    "cp a /mnt/w/",
    "cp a b sub",
    "mv a .",
    "cp sub/a .",
];

/// Commands that it does not.
const NOT_EDITS: &[&str] = &[
    "touch /x",
    "touch ../x",
    "touch .git/x",
    "touch .GIT/x",
    "touch CLAUDE.md",
    "touch claude.md",
    "rm -rf .",
    "rm -rf ./",
    "rm -rf *",
    "rm -rf ./*",
    "rm -rf /",
    "rm -rf ~",
    "rm -rf ..",
    "rm -rf /mnt/w",
    "rm -rf $X",
    "rm $X/y",
    "cp -r a b",
    "cp -a a b",
    "cp -R a b",
    "cp --recursive a b",
    "cp -s a b",
    "cp -l a b",
    "cp --parents a/b c",
    "cp --backup a b",
    "cp -t d a",
    "mv -t d a",
    "mv a/. .",
    "mv a .git",
    "mv .git x",
    "mv .claude x",
    "ln a b",
    "ln -s a b",
    "chmod 700 x",
    "sed -i.bak s/a/b/ x",
    "sed -i 's/a/b/w y' x",
    "sed -i 's/a/b/e' x",
    "sed -ie s/a/b/ x",
    "sed -i -f s x",
    "sed -n -i p CLAUDE.md",
    "touch -r /etc/passwd x",
    "mkdir -m 777 /x",
    "rmdir -p a/b",
    "tee x",
    "dd of=x",
    "install a b",
    "echo x > .bashrc",
    "echo x > sub/.envrc",
    "echo x > .mcp.json",
    "echo x > .vscode/s.json",
    "echo x > /etc/x",
    "echo x > $f",
    "echo x > ~/x",
    "cd sub && touch x",
    "cd sub && echo x > y",
    "touch ＣLAUDE.md",
    "touch CLAUDE.md.",
    "touch 'CLAUDE.md '",
    "touch .git/",
    "cp a .git",
    "cp a .husky/x",
    "git checkout x",
    "npm install",
    "curl -o x y",
    "touch a$(x)",
    "touch {a,b}",
    "touch *",
    "rm *.o",
    "touch x &> .npmrc",
    "mkdir .claude/worktrees/../x",
    "touch lefthook.yml",
    ".pre-commit-config.yaml > x",
    "cp evil.json .mcp.json",
    "mv x .gitattributes",
    "unlink x",
    "truncate -s0 x",
    "xargs touch",
    "find . -delete",
    "find . -exec touch x \\;",
    "mkdir -p a && cd a && touch b",
    "sudo touch x",
    "env touch x",
    "sh -c 'touch x'",
    "touch x; rm -rf ~",
    "> .bashrc",
    "mv /mnt/w/a /etc/a",
    "sed -i s/a/b/ /etc/x",
    "sed -i s/a/b/ .git/config",
    "touch \"x\ny\"; rm /z",
];

#[test]
fn plain_edits_inside_are_approved() {
    assert_all(EDITS, &default_world().mode("acceptEdits"), &["allow"]);
    assert_all(EDITS, &default_world().mode("auto-edit"), &["allow"]);
}

#[test]
fn other_edits_are_asked_about() {
    assert_all(NOT_EDITS, &default_world().mode("acceptEdits"), &["ask", "deny"]);
}

#[test]
fn the_default_mode_asks_about_edits() {
    assert_all(EDITS, &default_world(), &["ask"]);
}
