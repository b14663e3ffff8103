//! What allow rules for commands cover, and what they do not.

use crate::world::{assert_all, assert_pairs, default_world};

/// Commands with a rule that allows them.
const COVERED: &[(&str, &str)] = &[
    ("npm test", "Bash(npm test *)"),
    ("npm test", "Bash(npm test:*)"),
    ("npm test foo", "Bash(npm test:*)"),
    ("npm run build", "Bash(npm run *)"),
    ("npm run build", "Bash(npm run build)"),
    ("npm run test:unit", "Bash(npm run test*)"),
    ("make -j8 all", "Bash(make *)"),
    ("make", "Bash(make:*)"),
    ("cargo build --release", "Bash(cargo build *)"),
    ("cargo test -p x -- --nocapture", "Bash(cargo test *)"),
    ("go test ./...", "Bash(go test *)"),
    ("git commit -m 'x y'", "Bash(git commit *)"),
    ("git push origin main", "Bash(git push *)"),
    ("npx prettier --check x", "Bash(npx prettier *)"),
    ("npx -y prettier --check x", "Bash(npx -y prettier *)"),
    ("docker exec web ls -l", "Bash(docker exec web ls *)"),
    ("python3 script.py a b", "Bash(python3 *)"),
    ("python3 -m pytest tests", "Bash(python3 -m pytest *)"),
    ("lsof", "Bash(ls*)"),
    ("kubectl get pods -n x", "Bash(kubectl get *)"),
    ("timeout 5 npm test", "Bash(npm test *)"),
    ("NODE_ENV=test npm test", "Bash(npm test *)"),
    ("npm test && npm run lint", "Bash(npm *)"),
    ("touch made", "Bash(touch:*)"),
    ("curl https://ok.example/x", "Bash(curl https://ok.example/*)"),
    ("curl https://ok.example", "Bash(curl https://ok.example *)"),
    ("git log -1 --oneline | touch x", "Bash(touch *)"),
    ("git push main", "Bash(git * main)"),
    ("npm test 2>&1 | tail -5", "Bash(npm test *)"),
    ("find . -name x | xargs grep foo", "Bash(grep *)"),
    ("echo hi > $X", "Bash"),
    ("for i in a; do x $i; done", "Bash"),
    ("python3 -c 1", "Bash"),
];

/// Commands with a rule that does not.
const NOT_COVERED: &[(&str, &str)] = &[
    ("npm testx", "Bash(npm test *)"),
    ("npm test; rm x", "Bash(npm test *)"),
    ("npm test $X", "Bash(npm test *)"),
    ("npm test `x`", "Bash(npm test *)"),
    ("npm test > x", "Bash(npm test *)"),
    ("npm test --script-shell=x", "Bash(npm test *)"),
    ("npm run x -- --y", "Bash(npm run *)"),
    ("npm exec evil", "Bash(npm *)"),
    ("FOO=1 npm test", "Bash(npm test *)"),
    ("PATH=. npm test", "Bash(npm test *)"),
    ("sh -c x", "Bash(sh *)"),
    ("bash x -c y", "Bash(bash -*)"),
    ("env x", "Bash(env *)"),
    ("sudo x", "Bash(sudo *)"),
    ("xargs x", "Bash(xargs *)"),
    ("watch x", "Bash(watch *)"),
    ("python3 -c x", "Bash(python3 *)"),
    ("python3 -m x", "Bash(python3 *)"),
    ("node -e x", "Bash(node *)"),
    ("perl -e x", "Bash(perl *)"),
    ("awk 'BEGIN{system(\"x\")}'", "Bash(awk *)"),
    ("git -c x=y status", "Bash(git *)"),
    ("git config x y", "Bash(git *)"),
    ("git rebase -x ls", "Bash(git rebase *)"),
    ("git clone --upload-pack=x y", "Bash(git clone *)"),
    ("git submodule foreach x", "Bash(git *)"),
    ("git bisect run x", "Bash(git *)"),
    ("git push --receive-pack=x", "Bash(git push *)"),
    ("git difftool -x y", "Bash(git *)"),
    ("find . -exec x \\;", "Bash(find *)"),
    ("find . -delete", "Bash(find *)"),
    ("find . -fprint x", "Bash(find *)"),
    ("docker exec web sh", "Bash(docker exec *)"),
    ("docker run -v /:/h img x", "Bash(docker run *)"),
    ("kubectl exec pod -- x", "Bash(kubectl *)"),
    ("ssh host x", "Bash(ssh *)"),
    ("make -f x", "Bash(make *)"),
    ("make SHELL=x", "Bash(make *)"),
    ("make --eval=x", "Bash(make *)"),
    ("make -C /x", "Bash(make *)"),
    ("cargo --config x build", "Bash(cargo *)"),
    ("go run x -exec y", "Bash(go *)"),
    ("go build -toolexec=x", "Bash(go build *)"),
    ("tar xf x --to-command=y", "Bash(tar *)"),
    ("tar -I x -cf y z", "Bash(tar *)"),
    ("rsync -e x a b", "Bash(rsync *)"),
    ("curl https://ok.example.evil.com", "Bash(curl https://ok.example*)"),
    ("curl https://ok.example/ https://evil", "Bash(curl https://ok.example/ *)"),
    ("curl https://ok.example/ -o x", "Bash(curl https://ok.example/ *)"),
    ("curl -K x https://ok.example", "Bash(curl *)"),
    ("ls x | y", "Bash(ls *)"),
    ("gitk", "Bash(git *)"),
    ("git\tlogx", "Bash(git log *)"),
    ("npx evil", "Bash(npx *)"),
    ("uvx evil", "Bash(uvx *)"),
    ("nice x", "Bash(nice *)"),
    ("timeout 5 x", "Bash(timeout *)"),
    ("command -p x", "Bash(command *)"),
    ("exec x", "Bash(exec *)"),
    ("eval x", "Bash(eval *)"),
    ("source x", "Bash(source *)"),
    ("touch .git/hooks/x", "Bash(touch *)"),
    ("cp a .git/hooks/x", "Bash(cp *)"),
    ("echo x > .bashrc", "Bash"),
    ("tee .bashrc", "Bash"),
    ("echo x > .gi?/x", "Bash"),
    ("ls \"a", "Bash"),
    ("x", "Bash(*x*)"),
    ("parallel x", "Bash(parallel *)"),
    ("script -c x", "Bash(script *)"),
    ("busybox sh", "Bash(busybox *)"),
    ("git \"log -p\"", "Bash(git log -p)"),
    ("pytest -p evil", "Bash(pytest *)"),
    ("vim -c x", "Bash(vim *)"),
    ("man -P x y", "Bash(man *)"),
    ("zip -T -TT x", "Bash(zip *)"),
    ("sort -o .bashrc x", "Bash(sort *)"),
    ("wget -O .bashrc x", "Bash(wget *)"),
];

#[test]
fn rules_allow_what_they_say() {
    assert_pairs(COVERED, &["allow"]);
}

#[test]
fn rules_allow_no_more_than_they_say() {
    assert_pairs(NOT_COVERED, &["ask", "deny"]);
}

#[test]
fn plan_mode_only_looks_whatever_rules_say() {
    let world = default_world().mode("plan").allow(&["Bash", "Bash(make *)"]);
    assert_all(&["make", "touch x", "echo x > y"], &world, &["ask"]);
}

#[test]
fn an_edit_rule_covers_redirections() {
    let world = default_world().allow(&["Edit(src/**)"]);
    assert_all(&["echo x > src/a", "ls >> src/b/c"], &world, &["allow"]);
    assert_all(
        &["echo x > a", "echo x > src/.git/x", "cd src && echo x > a", "echo x > src/$y"],
        &world,
        &["ask", "deny"],
    );
}

#[test]
fn a_mode_that_never_asks_denies() {
    let world = default_world().mode("dontAsk");
    assert_all(&["touch x", "make", "echo $x"], &world, &["deny"]);
    assert_all(&["touch x"], &world.allow(&["Bash(touch *)"]), &["allow"]);
}
