//! Which files a command runs, as far as its words tell.

use serde_json::json;

use crate::world::default_world;

fn programs(command: &str) -> Vec<String> {
    let policy = default_world().policy;
    let found = policy.programs("Bash", &json!({"command": command}));
    let one = |paths: Vec<std::path::PathBuf>| {
        paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(" or ")
    };
    found.into_iter().map(one).collect()
}

#[test]
fn scripts_and_programs_with_a_path_are_found() {
    let table: &[(&str, &[&str])] = &[
        ("python3 s.py --fast", &["/mnt/w/s.py"]),
        ("python3 -u sub/s.py", &["/mnt/w/sub/s.py"]),
        ("python3 -W ignore s.py", &["/mnt/w/ignore or /mnt/w/s.py"]),
        ("bash /srv/build.sh", &["/srv/build.sh"]),
        ("./configure && make", &["/mnt/w/./configure"]),
        ("cd sub && ./run", &["/mnt/w/sub/./run"]),
        ("source ~/env; . lib.sh", &["/mnt/h/env", "/mnt/w/lib.sh"]),
        ("timeout 5 node server.js", &["/mnt/w/server.js"]),
        ("sudo -u x nohup ./deploy", &["/mnt/w/./deploy"]),
        ("echo $(ruby a.rb)", &["/mnt/w/a.rb"]),
        ("sh -c 'perl b.pl'", &["/mnt/w/perl b.pl", "/mnt/w/b.pl"]),
    ];
    for (command, expected) in table {
        assert_eq!(programs(command), *expected, "{command}");
    }
}

#[test]
fn other_commands_and_other_tools_run_none() {
    for command in ["ls -la", "cat s.py", "git commit -m x", "make", "echo ./x", "", "\"", "$RUN x"]
    {
        assert_eq!(programs(command), Vec::<String>::new(), "{command}");
    }
    let policy = default_world().policy;
    assert!(policy.programs("Write", &json!({"command": "./x"})).is_empty());
    assert!(policy.programs("Bash", &json!({"command": 7})).is_empty());
    let many = "./x;".repeat(45);
    assert_eq!(programs(&many).len(), 20);
}
