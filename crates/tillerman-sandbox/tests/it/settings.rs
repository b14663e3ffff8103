//! From settings to a confinement, and that one to a real command.

use serde_json::json;
use tillerman_protocol::sandbox::SandboxSettings;
use tillerman_sandbox::{
    Confinement, Guard, LocalBinding, NetworkPolicy, SessionPlaces, UnixSockets, Upstream,
};

use crate::world::{World, everyone};

fn places(world: &World) -> SessionPlaces {
    SessionPlaces {
        directories: vec![world.workspace()],
        home: Some(world.outside()),
        guarded: vec![Guard::file(world.workspace().join("CLAUDE.md"))],
        environment: [("PATH".into(), "/usr/bin:/bin".into())].into(),
        credentials: Vec::new(),
    }
}

#[test]
fn every_setting_finds_its_place() {
    let world = World::new();
    let settings = SandboxSettings::parse(&json!({
        "enabled": true,
        "network": {
            "allowedDomains": ["example.com"],
            "deniedDomains": ["evil.com"],
            "allowUnixSockets": ["~/agent.sock"],
            "allowLocalBinding": true,
            "httpProxyPort": 8080,
        },
        "filesystem": {
            "allowWrite": ["~/cache", "//var/data"],
            "denyWrite": ["locked"],
            "allowRead": ["~/tools"],
            "denyRead": ["./.env"],
        },
    }));
    let confinement = Confinement::of_session(&settings.unwrap(), places(&world));
    let (work, home) = (world.workspace(), world.outside());
    assert_eq!(confinement.writable, [work.clone(), home.join("cache"), "/var/data".into()]);
    assert!(confinement.guarded.contains(&Guard::file(work.join("locked"))));
    assert!(confinement.guarded.contains(&Guard::file(work.join("CLAUDE.md"))));
    assert!(confinement.guarded.contains(&Guard::directory(work.join(".claude"))));
    assert!(confinement.readable.contains(&home.join("tools")));
    assert!(confinement.hidden.iter().any(|path| path.ends_with(".env")));
    assert!(confinement.hidden.contains(&home.join(".ssh")));
    assert_eq!(confinement.unix_sockets, UnixSockets::Only(vec![home.join("agent.sock")]));
    assert_eq!(confinement.local_binding, LocalBinding::Allowed);
    let NetworkPolicy::Proxied(rules) = confinement.network else { panic!("no proxy") };
    assert_eq!(rules.upstream, Upstream::Own { http: Some(8080), socks: None });
    assert_eq!(
        (rules.allowed, rules.denied),
        (vec!["example.com".into()], vec!["evil.com".into()])
    );
}

#[test]
fn the_plainest_settings_confine_a_real_command() {
    everyone("settings::the_plainest_settings_confine_a_real_command", || {
        let world = World::new();
        std::fs::create_dir(world.outside().join(".ssh")).unwrap();
        std::fs::write(world.outside().join(".ssh/id"), "the key").unwrap();
        std::fs::create_dir_all(world.workspace().join(".git/hooks")).unwrap();
        std::fs::write(world.workspace().join(".git/config"), "").unwrap();
        let settings = SandboxSettings::parse(&json!({"enabled": true})).unwrap();
        let run =
            |script: &str| world.run_in(Confinement::of_session(&settings, places(&world)), script);
        run("echo fine > file && mkdir .git/objects").succeeded();
        for attack in [
            &format!("cat {}/.ssh/id", world.outside().display()),
            "echo evil > .git/hooks/pre-commit",
            "echo evil > .git/config",
            "echo evil > CLAUDE.md",
            "mkdir -p .claude/hooks",
            "mv .git x",
            "echo evil > .mcp.json",
        ] {
            let ended = run(attack);
            assert!(!ended.status.success(), "{attack}: {ended:#?}");
        }
        let left: Vec<_> = std::fs::read_dir(world.workspace())
            .unwrap()
            .flatten()
            .map(|entry| entry.file_name())
            .collect();
        assert_eq!(left.len(), 2, "{left:?}");
    });
}
