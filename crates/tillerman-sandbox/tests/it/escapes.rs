//! The ten measured ways out of a bubblewrap sandbox, each tried with its fix and without.

use std::fs::{hard_link, read_to_string, write};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::{UnixDatagram, UnixListener};
use std::path::Path;
use std::process::Output;

use tillerman_sandbox::{Confinement, Guard, UnixSockets};

use crate::world::{
    ATTACKER, Ended, World, everyone, is_root, mode, process, spawnable, wait_until,
};

/// Runs bubblewrap by hand, as somebody would who does not know better.
fn bare(arguments: &[&str], program: &[&str]) -> Output {
    let mut bubblewrap = process("bwrap");
    bubblewrap.args(["--unshare-all", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]);
    bubblewrap.args(arguments).arg("--").args(program).output().unwrap()
}

/// A shell by hand that may write to the workspace.
fn bare_shell(world: &World, arguments: &[&str], script: &str) -> Output {
    let workspace = world.workspace();
    let workspace = workspace.to_str().unwrap();
    let mut all = vec!["--bind", workspace, workspace, "--chdir", workspace];
    all.extend(arguments);
    bare(&all, &["bash", "-c", script])
}

#[test]
fn escape_1_root_keeps_its_capabilities() {
    everyone("escapes::escape_1_root_keeps_its_capabilities", || {
        let world = World::new();
        world.run(&format!("{ATTACKER} remount")).failed_saying("refused");
        let ended = world.run("grep -E '^(CapEff|NoNewPrivs)' /proc/self/status; id -u");
        let said = ended.succeeded().split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.starts_with("CapEff: 0000000000000000 NoNewPrivs: 1"), "{said}");
        assert!(!said.ends_with(" 0"), "{said}");
        if is_root() {
            assert!(bare(&[], &[ATTACKER, "remount"]).status.success());
        }
    });
}

#[test]
fn escape_2_root_without_capabilities_still_owns_the_kernels_settings() {
    everyone("escapes::escape_2_root_without_capabilities_still_owns_the_kernels_settings", || {
        // Opening is enough to know, and changes nothing.
        let setting = "/proc/sys/kernel/core_pattern";
        let world = World::new();
        world.run(&format!("{ATTACKER} open {setting}")).failed_saying("refused");
        if is_root() {
            let outcome = bare(&["--cap-drop", "ALL"], &[ATTACKER, "open", setting]);
            assert!(outcome.status.success(), "{outcome:?}");
        }
    });
}

#[test]
fn escape_3_another_number_for_root_is_still_root() {
    everyone("escapes::escape_3_another_number_for_root_is_still_root", || {
        let world = World::new();
        world.run("cat /etc/shadow").failed_saying("Permission denied");
        world.run("echo mine > made && mkdir directory && ln -s made link").succeeded();
        // What the other user makes still belongs to whoever owns the workspace.
        let owner = world.workspace().metadata().unwrap().uid();
        for name in ["made", "directory", "link"] {
            let made = world.workspace().join(name).symlink_metadata().unwrap();
            assert_eq!(made.uid(), owner, "{name}");
        }
        if is_root() {
            let outcome = bare(&["--uid", "1000"], &["cat", "/etc/shadow"]);
            assert!(outcome.status.success(), "{outcome:?}");
        }
    });
}

#[test]
fn escape_4_open_files_pass_through() {
    everyone("escapes::escape_4_open_files_pass_through", || {
        let world = World::new();
        let secret = world.outside().join("secret");
        write(&secret, "the secret").unwrap();
        let leak = |program: &str, arguments: Vec<std::ffi::OsString>| {
            let mut shell = process("bash");
            let script = "exec 9<\"$LEAK\" 8</; exec \"$0\" \"$@\"";
            shell.args(["-c", script, program]).args(arguments).env("LEAK", &secret);
            shell.output().unwrap()
        };
        let prepared = world.prepare(world.confinement());
        let command = world.shell(&prepared, &format!("cat <&9; {ATTACKER} inherited"));
        let program = command.program.to_str().unwrap().to_owned();
        let output = leak(&program, command.arguments.clone());
        let ended = Ended::new(&output, command);
        ended.failed_saying("refused: none");
        assert!(!ended.stdout.contains("the secret"), "{ended:#?}");

        let arguments = ["--unshare-all", "--ro-bind", "/", "/", "bash", "-c", "cat <&9"];
        let output = leak("bwrap", arguments.iter().map(Into::into).collect());
        assert_eq!(String::from_utf8_lossy(&output.stdout), "the secret");
    });
}

#[test]
fn escape_5_a_parent_is_renamed() {
    everyone("escapes::escape_5_a_parent_is_renamed", || {
        let world = World::new();
        let protected = world.workspace().join("a/b/protected");
        let reset = || {
            drop(std::fs::remove_dir_all(world.workspace().join("a")));
            drop(std::fs::remove_dir_all(world.workspace().join("x")));
            drop(std::fs::remove_file(world.workspace().join("x")));
            std::fs::create_dir_all(protected.parent().unwrap()).unwrap();
            write(&protected, "original").unwrap();
        };
        let confinement =
            || Confinement { guarded: vec![Guard::file(&protected)], ..world.confinement() };
        let fake = "echo evil > a/b/protected";
        for (attack, complaint) in [
            (format!("mv a x && mkdir -p a/b && {fake}"), "busy"),
            (format!("mv a/b x && mkdir -p a/b && {fake}"), "busy"),
            ("mv a/b/protected x".to_owned(), "busy"),
            ("rm -f a/b/protected".to_owned(), "busy"),
            ("rm -rf a".to_owned(), "busy"),
            (fake.to_owned(), "Read-only file system"),
            ("touch new && mv new a/b/protected".to_owned(), "busy"),
        ] {
            reset();
            let ended = world.run_in(confinement(), &attack);
            ended.failed_saying(complaint);
            assert_eq!(read_to_string(&protected).unwrap(), "original", "{attack}");
            assert_eq!(ended.violations, []);
        }
        reset();
        // What lies beside it can be worked with all the same.
        world.run_in(confinement(), "touch a/b/other && mv a/b/other a/c && rm a/c").succeeded();
        let path = protected.to_str().unwrap();
        let script = format!("mv a x && mkdir -p a/b && {fake}");
        let outcome = bare_shell(&world, &["--ro-bind", path, path], &script);
        assert!(outcome.status.success(), "{outcome:?}");
        assert_eq!(read_to_string(&protected).unwrap(), "evil\n");
    });
}

#[test]
fn escape_6_a_missing_file_is_created() {
    everyone("escapes::escape_6_a_missing_file_is_created", || {
        let world = World::new();
        std::fs::create_dir(world.workspace().join("present")).unwrap();
        let guarded = vec![
            Guard::file(world.workspace().join(".mcp.json")),
            Guard::directory(world.workspace().join(".claude")),
            Guard::file(world.workspace().join("absent/deep/settings.json")),
            Guard::file(world.workspace().join("present/settings.json")),
        ];
        for attack in [
            "echo evil > .mcp.json",
            "echo evil > x && mv x .mcp.json",
            "ln -s /etc/passwd .mcp.json",
            "mkdir .claude && echo evil > .claude/settings.json",
            "echo evil > .claude/settings.json",
            "mkdir x; mv x .claude",
            "mkdir -p absent/deep && echo evil > absent/deep/settings.json",
            "echo evil > present/settings.json",
            "rm -rf present",
        ] {
            let confinement = Confinement { guarded: guarded.clone(), ..world.confinement() };
            let ended = world.run_in(confinement, attack);
            assert!(!ended.status.success(), "{attack}: {ended:#?}");
            assert_eq!(ended.violations, [], "{attack}");
            // Nothing is left where something was only covered.
            for name in [".mcp.json", ".claude", "absent", "present/settings.json"] {
                assert!(!world.workspace().join(name).exists(), "{attack} left {name}");
            }
        }
        assert!(bare_shell(&world, &[], "echo evil > .mcp.json").status.success());
        assert!(world.workspace().join(".mcp.json").exists());
    });
}

#[test]
fn escape_7_a_hard_link_is_the_same_file() {
    everyone("escapes::escape_7_a_hard_link_is_the_same_file", || {
        let world = World::new();
        let protected = world.workspace().join("guarded/protected");
        std::fs::create_dir(world.workspace().join("guarded")).unwrap();
        std::fs::create_dir_all(world.workspace().join("deep/er")).unwrap();
        write(&protected, "original").unwrap();
        hard_link(&protected, world.workspace().join("deep/er/innocent")).unwrap();
        let key = world.outside().join("key");
        write(&key, "the key").unwrap();
        hard_link(&key, world.workspace().join("copy")).unwrap();
        let confinement = || Confinement {
            guarded: vec![Guard::directory(world.workspace().join("guarded"))],
            hidden: vec![key.clone()],
            ..world.confinement()
        };
        let ended = world.run_in(confinement(), "echo evil > deep/er/innocent");
        ended.failed_saying("Read-only file system");
        world.run_in(confinement(), "cat copy").failed_saying("Permission denied");
        // Nor can a new one be made.
        world.run_in(confinement(), "ln guarded/protected new").failed_saying("cross-device");
        assert_eq!(read_to_string(&protected).unwrap(), "original");

        let path = protected.to_str().unwrap();
        let script = "cat copy; echo evil > deep/er/innocent";
        let output = bare_shell(&world, &["--ro-bind", path, path], script);
        assert_eq!(String::from_utf8_lossy(&output.stdout), "the key");
        assert_eq!(read_to_string(&protected).unwrap(), "evil\n");
    });
}

/// Replaces the protected file from outside once the script has asked for it.
fn replace_meanwhile(workspace: &Path, protected: &Path) {
    wait_until("the command to start", || workspace.join("ready").exists());
    write(workspace.join("replacement"), "from the host").unwrap();
    std::fs::set_permissions(workspace.join("replacement"), mode(0o666)).unwrap();
    std::fs::rename(workspace.join("replacement"), protected).unwrap();
    write(workspace.join("replaced"), "").unwrap();
}

#[test]
fn escape_8_the_host_replaces_a_covered_file() {
    everyone("escapes::escape_8_the_host_replaces_a_covered_file", || {
        let script = "touch ready; until [ -e replaced ]; do sleep 0.01; done; sleep 0.5; \
                      echo evil > protected; echo wrote";
        let world = World::new();
        let workspace = world.workspace();
        let protected = workspace.join("protected");
        write(&protected, "original").unwrap();
        let guarded = vec![Guard::file(&protected)];
        let prepared = world.prepare(Confinement { guarded, ..world.confinement() });
        let command = world.shell(&prepared, script);
        let mut started = spawnable(&command);
        started.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        let child = started.spawn().unwrap();
        replace_meanwhile(&workspace, &protected);
        let ended = Ended::new(&child.wait_with_output().unwrap(), command);
        ended.failed_saying("replaced from outside while the command ran");
        assert_eq!(ended.status.code(), Some(125));
        assert_eq!(read_to_string(&protected).unwrap(), "from the host");
        assert!(ended.violations[0].text.contains("protected changed"), "{ended:#?}");

        let world = World::new();
        let workspace = world.workspace();
        let protected = workspace.join("protected");
        write(&protected, "original").unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| replace_meanwhile(&workspace, &protected));
            let path = protected.to_str().unwrap();
            bare_shell(&world, &["--ro-bind", path, path], script);
        });
        assert_eq!(read_to_string(&protected).unwrap(), "evil\n");
    });
}

#[test]
fn escape_9_unix_sockets_with_a_path() {
    everyone("escapes::escape_9_unix_sockets_with_a_path", || {
        let world = World::new();
        let paths = ["open", "allowed", "datagram"].map(|name| world.workspace().join(name));
        let _listeners = [UnixListener::bind(&paths[0]), UnixListener::bind(&paths[1])];
        let _datagram = UnixDatagram::bind(&paths[2]).unwrap();
        for path in &paths {
            std::fs::set_permissions(path, mode(0o777)).unwrap();
        }
        let [open, allowed, datagram] = paths.each_ref().map(|path| path.to_str().unwrap());
        world.run(&format!("{ATTACKER} unix {open}")).failed_saying("not permitted");
        world.run(&format!("{ATTACKER} pair {datagram}")).failed_saying("not permitted");
        world.run(&format!("{ATTACKER} abstract anything")).failed_saying("not permitted");

        let sockets = UnixSockets::Only(vec![allowed.into()]);
        let only = || Confinement { unix_sockets: sockets.clone(), ..world.confinement() };
        world.run_in(only(), &format!("{ATTACKER} unix {allowed}")).succeeded();
        world.run_in(only(), &format!("{ATTACKER} unix {open}")).failed_saying("refused");
        world.run_in(only(), &format!("{ATTACKER} pair {datagram}")).failed_saying("refused");
        let all = Confinement { unix_sockets: UnixSockets::All, ..world.confinement() };
        world.run_in(all, &format!("{ATTACKER} unix {open}")).succeeded();

        assert!(bare(&[], &[ATTACKER, "unix", open]).status.success());
        assert!(bare(&[], &[ATTACKER, "pair", datagram]).status.success());
    });
}

/// The processes that are `sleep` itself with this time: a `setsid` that has
/// not left its group yet does not count.
fn sleepers(time: &str) -> Vec<i32> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let line = format!("sleep\0{time}\0");
    let sleeps = |pid: &i32| {
        std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|read| read == line.as_bytes())
    };
    numbers.filter(sleeps).collect()
}

fn kill(pid: i32) {
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}

#[test]
fn escape_10_processes_outlive_their_group() {
    everyone("escapes::escape_10_processes_outlive_their_group", || {
        use std::os::unix::process::CommandExt as _;
        let world = World::new();
        let own = std::process::id();
        let script =
            |time: &str| format!("setsid sleep {time} & setsid setsid sleep {time} & sleep {time}");
        // The host ends the process it has started.
        let time = format!("9001.{own}");
        let prepared = world.prepare(world.confinement());
        let command = world.shell(&prepared, &script(&time));
        let mut child = spawnable(&command).process_group(0).spawn().unwrap();
        wait_until("three processes", || sleepers(&time).len() == 3);
        child.kill().unwrap();
        child.wait().unwrap();
        wait_until("all to end", || sleepers(&time).is_empty());

        // The host itself is ended.
        let time = format!("9002.{own}");
        let command = world.shell(&prepared, &script(&time));
        let mut host = process("bash");
        host.args(["-c", "\"$0\" \"$@\" & wait"]).arg(&command.program).args(&command.arguments);
        let mut host = host.spawn().unwrap();
        wait_until("three processes", || sleepers(&time).len() == 3);
        host.kill().unwrap();
        host.wait().unwrap();
        wait_until("all to end", || sleepers(&time).is_empty());

        // The command ends and leaves something behind.
        let time = format!("9003.{own}");
        world.run(&format!("setsid sleep {time} & exit 0")).succeeded();
        wait_until("all to end", || sleepers(&time).is_empty());

        // Without a sandbox the group is not enough.
        let time = format!("9004.{own}");
        let mut child =
            process("bash").args(["-c", &script(&time)]).process_group(0).spawn().unwrap();
        wait_until("three processes", || sleepers(&time).len() == 3);
        let group = rustix::process::Pid::from_raw(child.id().cast_signed()).unwrap();
        rustix::process::kill_process_group(group, rustix::process::Signal::KILL).unwrap();
        child.wait().unwrap();
        wait_until("the group to end", || sleepers(&time).len() < 3);
        let left = sleepers(&time);
        left.iter().copied().for_each(kill);
        assert_eq!(left.len(), 2);
    });
}
