//! Limits that hold for a command with everything it starts.

use tillerman_sandbox::{Confinement, Limits};

use crate::world::{ATTACKER, World, everyone};

#[test]
fn a_fork_bomb_ends_early() {
    everyone("limits::a_fork_bomb_ends_early", || {
        let world = World::new();
        let limits = Limits { memory: None, processes: Some(48) };
        let ended = world
            .run_in(Confinement { limits, ..world.confinement() }, &format!("{ATTACKER} fork"));
        ended.failed_saying("Resource temporarily unavailable");
        let count = ended.stdout.trim().rsplit(' ').next().unwrap().parse::<u32>().unwrap();
        assert!(count <= 48, "{count}");
        // The usual kind, which leaves no process to ask.
        let bomb = "b() { b | b & }; b; sleep 0.3; echo over";
        world.run_in(Confinement { limits, ..world.confinement() }, bomb);
        world.run("echo still here").succeeded();
    });
}

#[test]
fn memory_ends_where_it_was_said() {
    everyone("limits::memory_ends_where_it_was_said", || {
        let world = World::new();
        let limits = Limits { memory: Some(64 << 20), processes: None };
        let confinement = || Confinement { limits, ..world.confinement() };
        let ended = world.run_in(confinement(), &format!("{ATTACKER} memory 512"));
        assert!(!ended.status.success(), "{ended:#?}");
        world.run_in(confinement(), &format!("{ATTACKER} memory 16")).succeeded();
    });
}
