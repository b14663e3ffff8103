//! What commands can still do inside.

use std::path::Path;

use tillerman_sandbox::{Confinement, Guard};

use crate::world::{Ended, World, everyone, mode, skip, spawnable, wait_until};

#[test]
fn a_command_works_in_its_workspace() {
    everyone("basics::a_command_works_in_its_workspace", || {
        let world = World::new();
        std::fs::write(world.workspace().join("old"), "before").unwrap();
        let ended = world.run("cat old && echo new > made && mkdir -p a/b && pwd && id -u");
        let said = ended.succeeded();
        assert!(said.starts_with("before"), "{said}");
        assert!(said.contains(world.workspace().to_str().unwrap()), "{said}");
        assert_eq!(std::fs::read_to_string(world.workspace().join("made")).unwrap(), "new\n");
    });
}

#[test]
fn commands_that_run_at_the_same_time_share_what_covers_a_missing_path() {
    everyone("basics::commands_that_run_at_the_same_time_share_what_covers_a_missing_path", || {
        let world = World::new();
        let guarded = vec![
            Guard::directory(world.workspace().join(".claude")),
            Guard::file(world.workspace().join("absent/deep/file")),
            Guard::file(world.workspace().join(".mcp.json")),
        ];
        let prepared = world.prepare(Confinement { guarded, ..world.confinement() });
        let start = |name: &str| {
            let wait = format!("touch {name}; until [ -e end-{name} ]; do sleep 0.01; done");
            let script = format!("{wait}; ! mkdir .claude && ! echo x > .mcp.json && echo fine");
            let command = world.shell(&prepared, &script);
            let mut process = spawnable(&command);
            process.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
            let child = process.spawn().unwrap();
            wait_until(name, || world.workspace().join(name).exists());
            (child, command)
        };
        let running = ["first", "second", "third"].map(|name| (name, start(name)));
        for (name, (child, command)) in running {
            std::fs::write(world.workspace().join(format!("end-{name}")), "").unwrap();
            let ended = Ended::new(&child.wait_with_output().unwrap(), command);
            assert_eq!(ended.succeeded(), "fine", "{name}");
            assert_eq!(ended.violations, [], "{name}");
        }
        for name in [".claude", "absent", ".mcp.json"] {
            assert!(!world.workspace().join(name).exists(), "{name} was left");
        }
    });
}

#[test]
fn temporary_files_last_as_long_as_the_confinement() {
    everyone("basics::temporary_files_last_as_long_as_the_confinement", || {
        let world = World::new();
        let prepared = world.prepare(world.confinement());
        let run = |script: &str| {
            let command = world.shell(&prepared, script);
            Ended::new(&spawnable(&command).output().unwrap(), command)
        };
        run("echo kept > $TMPDIR/file").succeeded();
        assert_eq!(run("cat /tmp/file").succeeded(), "kept");
        let outside = prepared.private_temp().join("file");
        assert_eq!(std::fs::read_to_string(&outside).unwrap(), "kept\n");
        assert_eq!(prepared.private_temp_inside(), Path::new("/tmp"));
        drop(prepared);
        assert!(!outside.exists());
    });
}

#[test]
fn usual_programs_work() {
    everyone("basics::usual_programs_work", || {
        let world = World::new();
        let script = "whoami >/dev/null && echo out > /dev/stdout && echo err > /dev/stderr \
            && tar cf x.tar /etc/hostname 2>/dev/null && cp -p /etc/hostname copy && mkdir d \
            && mv copy d/ && rm -r d && (sleep 0.01 & wait) && cat <(echo piped) \
            && tmp=$(mktemp) && test -w \"$tmp\" && test -z \"$(ls -A /home 2>/dev/null)\"";
        let ended = world.run(script);
        assert_eq!(ended.succeeded(), "out\npiped");
        assert_eq!(ended.stderr, "err\n");
    });
}

#[test]
fn a_workspace_below_a_closed_directory() {
    everyone("basics::a_workspace_below_a_closed_directory", || {
        // Not below the temporary directory, which is replaced as a whole.
        let Ok(closed) = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")) else {
            return skip("this user may not write to the target directory");
        };
        std::fs::set_permissions(closed.path(), mode(0o700)).unwrap();
        let workspace = closed.path().join("deep/workspace");
        std::fs::create_dir_all(&workspace).unwrap();
        std::fs::write(closed.path().join("secret"), "the key").unwrap();
        let world = World::new();
        let confinement = Confinement { writable: vec![workspace.clone()], ..world.confinement() };
        let prepared = world.prepare(confinement);
        let arguments = ["-c".into(), "echo made > file; echo x > ../../evil".into()];
        let command = prepared.command("sh".as_ref(), &arguments, &workspace).unwrap();
        let ended = Ended::new(&spawnable(&command).output().unwrap(), command);
        assert!(!ended.status.success(), "{ended:#?}");
        assert_eq!(std::fs::read_to_string(workspace.join("file")).unwrap(), "made\n");
        assert!(!closed.path().join("evil").exists());
    });
}

#[test]
fn doctor_says_what_this_machine_can_do() {
    everyone("basics::doctor_says_what_this_machine_can_do", || {
        let world = World::new();
        let text = tillerman_sandbox::report(world.sandbox.probe());
        assert!(text.contains("confined by bubblewrap"), "{text}");
        assert!(text.contains("guarded files          enforced"), "{text}");
    });
}
