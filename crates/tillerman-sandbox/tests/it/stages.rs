//! The stages refuse to go on when they are not confined, and nothing runs bare.

use tillerman_sandbox::{Backend, Confinement, Guard, Sandbox, SandboxError, UnixSockets};

use crate::world::{World, block_on, everyone, is_root, process, skip, unprivileged};

const RUNNER: &str = env!("CARGO_BIN_EXE_confined-runner");

/// Calls the second stage directly, with a plan it would otherwise obey.
fn unconfined(prefix: &[&str]) -> String {
    let mut shell = process("bash");
    let plan = "{\"mounts\":{},\"egress_port\":null,\"exec\":{}}";
    let script =
        format!("exec 5<<<'{plan}' 9</; exec {} {RUNNER} __confined init 5", prefix.join(" "));
    let output = shell.args(["-c", &script]).output().unwrap();
    assert_eq!(output.status.code(), Some(125), "{output:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn the_inner_stage_checks_its_own_confinement() {
    everyone("stages::the_inner_stage_checks_its_own_confinement", || {
        if is_root() {
            assert!(unconfined(&[]).contains("it runs as root"));
            let other = ["setpriv", "--reuid", "60000", "--regid", "60000", "--clear-groups"];
            assert!(unconfined(&other).contains("could gain new privileges"));
        } else {
            assert!(unconfined(&[]).contains("could gain new privileges"));
            let said = unconfined(&["setpriv", "--no-new-privs"]);
            assert!(said.contains("it has inherited the open file /"), "{said}");
            assert!(said.contains("the command was not run"), "{said}");
        }
    });
}

#[test]
fn without_a_plan_nothing_runs() {
    for arguments in
        [&["start", "/nonexistent"][..], &["init", "1"], &["exec", "77"], &["x", "y"], &[]]
    {
        let output = process(RUNNER).arg("__confined").args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(125), "{arguments:?}");
    }
}

#[test]
fn exit_codes_and_missing_programs_are_told_apart() {
    everyone("stages::exit_codes_and_missing_programs_are_told_apart", || {
        let world = World::new();
        assert_eq!(world.run("exit 7").status.code(), Some(7));
        assert_eq!(world.run("kill -TERM $$").status.code(), Some(128 + 15));
        let prepared = world.prepare(world.confinement());
        let command = prepared.command("nothing-here".as_ref(), &[], &world.workspace()).unwrap();
        let output = crate::world::spawnable(&command).output().unwrap();
        assert_eq!(output.status.code(), Some(127), "{output:?}");
    });
}

#[test]
fn a_sandbox_that_cannot_be_built_refuses() {
    // A runner that does not know the stages stands for everything that can be wrong.
    let sandbox = Sandbox::new("/bin/false".into(), std::env::temp_dir());
    match &sandbox.probe().backend {
        Backend::Bubblewrap { .. } | Backend::Seatbelt => panic!("{:?}", sandbox.probe()),
        Backend::Walls { .. } => {}
        Backend::None { reason } => {
            assert!(!reason.is_empty());
            let error = block_on(sandbox.prepare(Confinement::default())).unwrap_err();
            assert!(matches!(error, SandboxError::Unavailable { .. }), "{error}");
        }
    }
}

/// Runs a test as somebody for whom bubblewrap is not installed.
fn without_bubblewrap(name: &str, test: impl FnOnce(&World)) {
    const HIDDEN: &str = "TILLERMAN_TEST_WITHOUT_BUBBLEWRAP";
    if !std::path::Path::new("/usr/bin/bwrap").is_file() {
        return unprivileged(name, || test(&World::new()));
    }
    if !is_root() {
        return skip("hiding bubblewrap needs root");
    }
    assert!(std::env::var_os(HIDDEN).is_none(), "bubblewrap is still there");
    let this = std::env::current_exe().unwrap();
    let script = "mount --bind /dev/null /usr/bin/bwrap && exec setpriv --reuid 65534 \
                  --regid 65534 --clear-groups \"$0\" --exact \"$1\" --nocapture";
    let mut again = process("unshare");
    again.args(["--mount", "bash", "-c", script]).arg(this).arg(name).env(HIDDEN, "1");
    let output = again.env("HOME", "/nonexistent").output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "{said}\n{errors}");
}

#[test]
fn walls_alone_refuse_what_they_cannot_enforce() {
    without_bubblewrap("stages::walls_alone_refuse_what_they_cannot_enforce", |world| {
        let Backend::Walls { reason } = &world.sandbox.probe().backend else {
            return skip("this kernel's Landlock is too old to be used alone");
        };
        assert_eq!(reason, "bubblewrap is not installed");
        let refused = |confinement: Confinement, what: &str| {
            let error = block_on(world.sandbox.prepare(confinement)).unwrap_err().to_string();
            assert!(error.contains(what) && error.contains("install bubblewrap"), "{error}");
        };
        let guarded = vec![Guard::file(world.workspace().join(".mcp.json"))];
        refused(Confinement { guarded, ..world.confinement() }, "a guarded path");
        let hidden = vec![world.workspace().join("key")];
        refused(Confinement { hidden, ..world.confinement() }, "a hidden path");
        refused(
            Confinement { unix_sockets: UnixSockets::All, ..world.confinement() },
            "a choice of Unix sockets",
        );
        let network = tillerman_sandbox::NetworkPolicy::Proxied(Default::default());
        refused(Confinement { network, ..world.confinement() }, "a list of allowed domains");
    });
}

#[test]
fn walls_alone_keep_the_rest_in() {
    use crate::world::ATTACKER;
    without_bubblewrap("stages::walls_alone_keep_the_rest_in", |world| {
        if !matches!(world.sandbox.probe().backend, Backend::Walls { .. }) {
            return skip("this kernel's Landlock is too old to be used alone");
        }
        let key = world.outside().join("key");
        std::fs::write(&key, "the key").unwrap();
        let path = key.display();
        world.run("echo fine > made && cat made && rm made && echo x > $TMPDIR/x").succeeded();
        for attack in [
            format!("echo evil > {path}"),
            format!("cat {path}"),
            format!("chmod 777 {path}"),
            format!("touch {path}"),
            "ls /tmp".to_owned(),
            format!("kill -0 {}", std::process::id()),
            "setsid true".to_owned(),
            format!("{ATTACKER} socket 2 1 0"),
            format!("{ATTACKER} unix {path}"),
            format!("{ATTACKER} call ptrace"),
            format!("{ATTACKER} inherited"),
            format!("cat /proc/{}/environ", std::process::id()),
        ] {
            let ended = world.run(&attack);
            assert!(!ended.status.success(), "{attack}: {ended:#?}");
        }
        assert_eq!(std::fs::read_to_string(&key).unwrap(), "the key");
    });
}
