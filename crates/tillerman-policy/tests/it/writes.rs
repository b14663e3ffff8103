//! Which files a command is shown to write.

use crate::world::default_world;

/// Commands, each with a file that must be shown.
const SHOWN: &[(&str, &str)] = &[
    ("echo x > a", "/mnt/w/a"),
    ("echo x >> sub/a", "/mnt/w/sub/a"),
    ("echo x >| a", "/mnt/w/a"),
    ("echo x &> a", "/mnt/w/a"),
    ("echo x &>> a", "/mnt/w/a"),
    ("echo x >& a", "/mnt/w/a"),
    ("echo x 2> a", "/mnt/w/a"),
    ("echo x 1<> a", "/mnt/w/a"),
    ("echo x {fd}> a", "/mnt/w/a"),
    ("> a", "/mnt/w/a"),
    (": > a", "/mnt/w/a"),
    ("exec > a", "/mnt/w/a"),
    ("(echo x) > a", "/mnt/w/a"),
    ("{ echo x; } > a", "/mnt/w/a"),
    ("for i in 1; do echo x; done > a", "/mnt/w/a"),
    ("while x; do y; done > a", "/mnt/w/a"),
    ("if x; then y; fi > a", "/mnt/w/a"),
    ("case x in y) z;; esac > a", "/mnt/w/a"),
    ("f() { x; } > a", "/mnt/w/a"),
    ("echo $(x > a)", "/mnt/w/a"),
    ("bash -c 'x > a'", "/mnt/w/a"),
    ("eval 'x > a'", "/mnt/w/a"),
    ("cat > a <<E\nx\nE", "/mnt/w/a"),
    ("cat <<E > a\nx\nE", "/mnt/w/a"),
    ("echo x >\\\n a", "/mnt/w/a"),
    ("echo x > 'a b'", "/mnt/w/a b"),
    ("echo x > a\"b\"\\c", "/mnt/w/abc"),
    ("echo x > $'\\u0061'", "/mnt/w/a"),
    ("echo x > $'\\x61\\142'", "/mnt/w/ab"),
    ("echo x > ~/a", "/mnt/h/a"),
    ("echo x > $HOME/a", "/mnt/h/a"),
    ("echo x > ${PWD}/a", "/mnt/w/a"),
    ("f=a; echo x > $f", "/mnt/w/a"),
    ("for f in a; do echo x > $f; done", "/mnt/w/a"),
    ("echo x > ~/../w/a", "/mnt/w/a"),
    ("echo x > ./b/../a", "/mnt/w/a"),
    ("echo x > //mnt//w//a", "/mnt/w/a"),
    ("echo x > /proc/self/root/mnt/w/a", "/mnt/w/a"),
    ("echo x > /proc/self/cwd/a", "/mnt/w/a"),
    ("echo x > /proc/1/root/proc/self/cwd/a", "/mnt/w/a"),
    ("cd sub && echo x > a", "/mnt/w/sub/a"),
    ("cd sub; echo x > ../a", "/mnt/w/a"),
    ("pushd sub && echo x > a", "/mnt/w/sub/a"),
    ("(cd sub && echo x > a)", "/mnt/w/sub/a"),
    ("echo x >>| a", "/mnt/w/a"),
    ("echo x &>! a", "/mnt/w/a"),
    ("tee a", "/mnt/w/a"),
    ("x | sudo tee -a a", "/mnt/w/a"),
    ("cp b a", "/mnt/w/a"),
    ("cp b sub/", "/mnt/w/sub/b"),
    ("cp -t sub b", "/mnt/w/sub/b"),
    ("cp --target-directory=sub b", "/mnt/w/sub/b"),
    ("cp -l a b", "/mnt/w/a"),
    ("cp -s $PWD/a b", "/mnt/w/a"),
    ("ln -s a b", "/mnt/w/a"),
    ("mv b a", "/mnt/w/a"),
    ("mv a b", "/mnt/w/a"),
    ("mv -t sub b", "/mnt/w/sub/b"),
    ("install -m 755 b a", "/mnt/w/a"),
    ("env -C sub cp ../b a", "/mnt/w/sub/a"),
    ("dd if=b of=a", "/mnt/w/a"),
    ("sort -o a b", "/mnt/w/a"),
    ("sort -oa b", "/mnt/w/a"),
    ("sort --out=a b", "/mnt/w/a"),
    ("sort --output a b", "/mnt/w/a"),
    ("uniq b a", "/mnt/w/a"),
    ("xxd b a", "/mnt/w/a"),
    ("sed -i s/x/y/ a", "/mnt/w/a"),
    ("sed -n 'w a' b", "/mnt/w/a"),
    ("sed -n 's/x/y/w a' b", "/mnt/w/a"),
    ("sed -e 'w a' b", "/mnt/w/a"),
    ("find . -fprintf a x", "/mnt/w/a"),
    ("curl -o a x", "/mnt/w/a"),
    ("curl -sSLo a x", "/mnt/w/a"),
    ("wget -O a x", "/mnt/w/a"),
    ("git diff --output=a", "/mnt/w/a"),
    ("truncate -s 0 a", "/mnt/w/a"),
    ("fallocate -l 1 a", "/mnt/w/a"),
    ("script -q -c true a", "/mnt/w/a"),
    ("chmod 700 a", "/mnt/w/a"),
    ("touch a", "/mnt/w/a"),
    ("rm -rf a", "/mnt/w/a"),
];

#[test]
fn written_files_are_shown() {
    for (command, path) in SHOWN {
        let ruling = default_world().ruling(command);
        let shown: Vec<&str> = ruling
            .parts
            .iter()
            .flat_map(|part| &part.writes)
            .map(|written| written.path.as_str())
            .collect();
        assert!(shown.contains(path), "{command:?} shows {shown:?}");
        assert_ne!(ruling.verdict.name(), "allow", "{command:?}");
    }
}

#[test]
fn guarded_files_are_shown_for_every_program_that_may_write() {
    let commands = [
        "tar -cf CLAUDE.md a",
        "ssh-keygen -f CLAUDE.md",
        "awk -i inplace 1 CLAUDE.md",
        "program --into=CLAUDE.md",
        "program -fCLAUDE.md",
    ];
    for command in commands {
        let ruling = default_world().ruling(command);
        let shows = ruling.parts[0].writes.iter().any(|written| written.path == "/mnt/w/CLAUDE.md");
        assert!(shows, "{command}: {ruling:?}");
    }
    assert!(default_world().ruling("cat CLAUDE.md").parts[0].writes.is_empty());
}

#[test]
fn files_that_are_only_read_are_not_shown() {
    for command in ["cat a", "ls > /dev/null", "grep x a 2>/dev/null", "git status", "sort a"] {
        let ruling = default_world().ruling(command);
        assert!(ruling.parts.iter().all(|part| part.writes.is_empty()), "{command}");
    }
}

#[test]
fn what_a_file_may_be_is_told_when_nobody_looked() {
    let mut world = default_world();
    let written =
        |world: &crate::world::World| world.ruling("echo x > hard.md").parts[0].writes.clone();
    assert!(written(&world)[0].may_be.is_empty());
    world.disk.with_other_names.push("/mnt/w/hard.md".into());
    assert!(written(&world)[0].may_be.contains(&"CLAUDE.md".to_owned()));
}
