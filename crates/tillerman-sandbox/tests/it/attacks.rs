//! Attempts on files, the kernel and other processes that every confined command must fail at.

use std::fs::{OpenOptions, read_to_string, write};
use std::os::unix::fs::symlink;

use tillerman_sandbox::{Confinement, Guard};

use crate::world::{ATTACKER, Ended, World, everyone, mode, spawnable};

#[test]
fn writing_outside() {
    everyone("attacks::writing_outside", || {
        let world = World::new();
        let outside = world.outside();
        std::fs::set_permissions(&outside, mode(0o777)).unwrap();
        let target = outside.join("target");
        write(&target, "untouched").unwrap();
        std::fs::set_permissions(&target, mode(0o666)).unwrap();
        symlink(&target, world.workspace().join("link")).unwrap();
        symlink(&outside, world.workspace().join("directory")).unwrap();
        let path = target.display();
        for attack in [
            format!("echo evil > {path}"),
            "echo evil > link".to_owned(),
            "echo evil > directory/target".to_owned(),
            "echo evil > directory/new".to_owned(),
            "echo evil > ../outside/target".to_owned(),
            format!("ln -f {path} hard && echo evil > hard"),
            format!("echo evil > /proc/self/root{path}"),
            format!("echo evil > /proc/1/root{path}"),
            "cd directory && echo evil > target".to_owned(),
            format!("mv {path} stolen"),
            format!("chmod 777 {path}"),
            format!("touch -d 2001-01-01 {path}"),
            "echo evil > /etc/evil".to_owned(),
            "echo evil > /usr/bin/evil".to_owned(),
            "echo evil > /dev/evil && test -e /dev/null && exit 1".to_owned(),
            "echo evil > /sys/kernel/evil".to_owned(),
        ] {
            let ended = world.run(&attack);
            assert!(!ended.status.success(), "{attack}: {ended:#?}");
            assert_eq!(read_to_string(&target).unwrap(), "untouched", "{attack}");
            assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 1, "{attack}");
        }
    });
}

#[test]
fn reading_what_is_hidden() {
    everyone("attacks::reading_what_is_hidden", || {
        let world = World::new();
        let (key, keys) = (world.outside().join("key"), world.workspace().join("keys"));
        write(&key, "the key").unwrap();
        std::fs::set_permissions(&key, mode(0o644)).unwrap();
        std::fs::create_dir(&keys).unwrap();
        write(keys.join("inner"), "the key").unwrap();
        write(world.workspace().join(".env"), "the key").unwrap();
        symlink(&key, world.workspace().join("link")).unwrap();
        let confinement = || Confinement {
            readable: [world.confinement().readable, vec![world.outside()]].concat(),
            hidden: vec![key.clone(), keys.clone(), world.workspace().join(".env")],
            ..world.confinement()
        };
        let path = key.display();
        for attack in [
            format!("cat {path}"),
            "cat link".to_owned(),
            format!("cat /proc/self/root{path}"),
            "cat keys/inner".to_owned(),
            "mv keys moved; cat moved/inner keys/inner".to_owned(),
            "cat .env".to_owned(),
            "mv .env x; cat x .env".to_owned(),
            format!("dd if={path}"),
        ] {
            let ended = world.run_in(confinement(), &attack);
            assert!(!ended.status.success(), "{attack}: {ended:#?}");
            assert!(!ended.stdout.contains("the key"), "{attack}: {ended:#?}");
        }
        // What lies beside it can be read.
        write(world.outside().join("note"), "a note").unwrap();
        std::fs::set_permissions(world.outside().join("note"), mode(0o644)).unwrap();
        let ended = world.run_in(confinement(), &format!("cat {}/note", world.outside().display()));
        assert_eq!(ended.succeeded(), "a note");
    });
}

#[test]
fn the_home_directory_is_an_empty_one() {
    everyone("attacks::the_home_directory_is_an_empty_one", || {
        let world = World::new();
        let home = world.outside();
        std::fs::create_dir_all(home.join("tools/bin")).unwrap();
        std::fs::set_permissions(home.join("tools"), mode(0o755)).unwrap();
        write(home.join("tools/bin/tool"), "a tool").unwrap();
        write(home.join(".netrc"), "the key").unwrap();
        let confinement = Confinement {
            home: Some(home.clone()),
            readable: [world.confinement().readable, vec![home.join("tools")]].concat(),
            ..world.confinement()
        };
        let home_path = home.display();
        let script = format!(
            "cd {home_path} && ls -A && cat tools/bin/tool && touch cache && ! touch tools/x 2>&1"
        );
        let ended = world.run_in(confinement, &script);
        assert!(ended.succeeded().starts_with("tools\na tool"), "{ended:#?}");
        assert!(!home.join("cache").exists());
    });
}

#[test]
fn guarded_links_are_refused_before_anything_runs() {
    everyone("attacks::guarded_links_are_refused_before_anything_runs", || {
        let world = World::new();
        write(world.workspace().join("AGENTS.md"), "").unwrap();
        symlink("AGENTS.md", world.workspace().join("CLAUDE.md")).unwrap();
        let guarded = vec![Guard::file(world.workspace().join("CLAUDE.md"))];
        let prepared = world.prepare(Confinement { guarded, ..world.confinement() });
        let error = prepared.command("true".as_ref(), &[], &world.workspace()).unwrap_err();
        let cause = std::error::Error::source(&error).unwrap().to_string();
        assert!(cause.contains("leads through the symbolic link"), "{cause}");
    });
}

#[test]
fn standard_output_cannot_be_opened_again() {
    everyone("attacks::standard_output_cannot_be_opened_again", || {
        let world = World::new();
        let log = world.outside().join("log");
        write(&log, "earlier lines\n").unwrap();
        std::fs::set_permissions(&log, mode(0o666)).unwrap();
        for path in ["/proc/self/fd/1", "/dev/stdout", "/dev/fd/1"] {
            let prepared = world.prepare(world.confinement());
            let command = world.shell(&prepared, &format!(": > {path}"));
            let file = OpenOptions::new().append(true).open(&log).unwrap();
            let output = spawnable(&command).stdout(file).output().unwrap();
            let ended = Ended::new(&output, command);
            ended.failed_saying("Permission denied");
            assert!(read_to_string(&log).unwrap().starts_with("earlier lines"), "{path}");
        }
        // Writing to it is what it is for, and a pipe can be opened as often as one likes.
        world.run("echo fine > /dev/stdout").succeeded();
    });
}

#[test]
fn raw_and_strange_sockets() {
    everyone("attacks::raw_and_strange_sockets", || {
        let world = World::new();
        // Packets, ICMP, the older way to packets, an unusual netlink, virtual machines, Bluetooth.
        for socket in
            ["17 3 0", "2 3 1", "10 3 58", "2 10 0", "16 3 9", "40 1 0", "31 3 1", "38 5 0"]
        {
            world.run(&format!("{ATTACKER} socket {socket}")).failed_saying("not permitted");
        }
        // The same with bits set that the kernel ignores.
        let disguised = (1_u64 << 32) + 17;
        world.run(&format!("{ATTACKER} socket {disguised} 3 0")).failed_saying("not permitted");
        world.run(&format!("{ATTACKER} socket 2 1 0 && {ATTACKER} socket 16 3 0")).succeeded();
    });
}

#[test]
fn calls_into_the_kernel() {
    everyone("attacks::calls_into_the_kernel", || {
        let world = World::new();
        for call in [
            "ptrace",
            "unshare",
            "clone",
            "chroot",
            "mount",
            "bpf",
            "userfaultfd",
            "keyctl",
            "process_vm",
        ] {
            world.run(&format!("{ATTACKER} call {call}")).failed_saying("not permitted");
        }
        for call in ["clone3", "openat2", "io_uring", "'second numbering'"] {
            world.run(&format!("{ATTACKER} call {call}")).failed_saying("not implemented");
        }
        for way in ["plain", "disguised"] {
            world.run(&format!("{ATTACKER} type {way}")).failed_saying("not permitted");
        }
    });
}

#[test]
fn programs_that_would_run_as_their_owner() {
    everyone("attacks::programs_that_would_run_as_their_owner", || {
        use std::os::unix::fs::PermissionsExt as _;
        let world = World::new();
        for way in ["chmod", "disguised", "open", "openat2", "mknod"] {
            world.run(&format!("{ATTACKER} set-id {way} left-{way}")).failed_saying("refused");
        }
        for entry in std::fs::read_dir(world.workspace()).unwrap().flatten() {
            let mode = entry.metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o6000, 0, "{entry:?}");
        }
        world.run("touch script && chmod 755 script && ./script").succeeded();
    });
}

#[test]
fn the_watching_process_is_closed_off() {
    everyone("attacks::the_watching_process_is_closed_off", || {
        let world = World::new();
        for path in ["/proc/1/mem", "/proc/1/environ", "/proc/1/fd/0"] {
            let ended = world.run(&format!("head -c 1 {path}"));
            ended.failed_saying("Permission denied");
        }
        // It cannot be ended from inside, and nobody else is there.
        let ended = world.run("kill -9 1; sleep 0.1; ls -d /proc/[0-9]* | wc -l");
        let count: u32 = ended.succeeded().trim().parse().unwrap();
        assert!(count < 8, "{count}");
    });
}

#[test]
fn the_environment_is_only_what_was_given() {
    everyone("attacks::the_environment_is_only_what_was_given", || {
        let world = World::new();
        let mut confinement = world.confinement();
        confinement.environment.insert("GIVEN".into(), "yes".into());
        let prepared = world.prepare(confinement);
        let command = world.shell(&prepared, "env | cut -d= -f1 | sort | tr '\\n' ' '");
        let output = spawnable(&command).env("LEAKED", "the key").output().unwrap();
        let ended = Ended::new(&output, command);
        assert_eq!(ended.succeeded(), "GIVEN PATH PWD SHLVL TMPDIR _");
    });
}
