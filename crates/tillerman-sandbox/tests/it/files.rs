//! File tools are held back by the same walls as commands.

use std::fs::{create_dir, hard_link, read_to_string, write};
use std::os::unix::fs::{PermissionsExt as _, symlink};

use tillerman_sandbox::files::{FileAccess, OpenFileError};
use tillerman_sandbox::{Confinement, Guard};

use crate::world::World;

fn access(world: &World) -> FileAccess {
    FileAccess::new(&Confinement {
        guarded: vec![
            Guard::file(world.workspace().join("CLAUDE.md")),
            Guard::directory(world.workspace().join(".claude")),
        ],
        hidden: vec![world.outside().join("key")],
        ..world.confinement()
    })
}

#[test]
fn a_link_that_is_swapped_in_between_never_leads_outside() {
    use std::sync::atomic::{AtomicBool, Ordering};
    const TRIES: usize = 3_000;
    let world = World::new();
    let target = world.outside().join("file");
    write(&target, "untouched").unwrap();
    let (inside, swapped) = (world.workspace().join("folder"), world.workspace().join("swapped"));
    std::fs::create_dir(&inside).unwrap();
    symlink(world.outside(), &swapped).unwrap();
    let access = access(&world);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // The directory and the link change places as quickly as they can.
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                let exchange = rustix::fs::RenameFlags::EXCHANGE;
                let here = rustix::fs::CWD;
                rustix::fs::renameat_with(here, &inside, here, &swapped, exchange).unwrap();
            }
        });
        for number in 0..TRIES {
            // Whether it is written depends on the moment; where it is written does not.
            drop(access.write(&inside.join("file"), format!("{number}").as_bytes()));
        }
        is_over.store(true, Ordering::Relaxed);
    });
    assert_eq!(read_to_string(&target).unwrap(), "untouched");
    assert_eq!(std::fs::read_dir(world.outside()).unwrap().count(), 1);
}

#[test]
fn a_link_left_by_a_command_is_not_followed_outside() {
    let world = World::new();
    let target = world.outside().join("rc");
    write(&target, "untouched").unwrap();
    symlink(&target, world.workspace().join("x")).unwrap();
    symlink(world.outside(), world.workspace().join("directory")).unwrap();
    symlink(world.outside().join("missing"), world.workspace().join("dangling")).unwrap();
    let access = access(&world);
    for name in ["x", "directory/rc", "directory/new", "../outside/rc"] {
        let error = access.write(&world.workspace().join(name), b"evil").unwrap_err();
        assert!(matches!(error, OpenFileError::Outside(_)), "{name}: {error}");
    }
    // A link that leads nowhere yet is replaced, not followed.
    access.write(&world.workspace().join("dangling"), b"new").unwrap();
    assert!(!world.outside().join("missing").exists());
    assert_eq!(read_to_string(&target).unwrap(), "untouched");
    assert_eq!(std::fs::read_dir(world.outside()).unwrap().count(), 1);
}

#[test]
fn guarded_files_stay_under_every_name() {
    let world = World::new();
    let guarded = world.workspace().join("CLAUDE.md");
    write(&guarded, "original").unwrap();
    hard_link(&guarded, world.workspace().join("hard")).unwrap();
    symlink("CLAUDE.md", world.workspace().join("soft")).unwrap();
    create_dir(world.workspace().join(".claude")).unwrap();
    write(world.workspace().join(".claude/old"), "original").unwrap();
    hard_link(world.workspace().join(".claude/old"), world.workspace().join("inner")).unwrap();
    let access = access(&world);
    for name in
        ["CLAUDE.md", "hard", "soft", "inner", ".claude/settings.json", ".claude", "a/../CLAUDE.md"]
    {
        drop(create_dir(world.workspace().join("a")));
        let error = access.write(&world.workspace().join(name), b"evil").unwrap_err();
        assert!(matches!(error, OpenFileError::Guarded(_)), "{name}: {error}");
    }
    assert_eq!(read_to_string(&guarded).unwrap(), "original");
}

#[test]
fn hidden_files_cannot_be_read_under_any_name() {
    let world = World::new();
    let key = world.outside().join("key");
    write(&key, "the key").unwrap();
    hard_link(&key, world.workspace().join("hard")).unwrap();
    symlink(&key, world.workspace().join("soft")).unwrap();
    let access = access(&world);
    for path in [key, world.workspace().join("hard"), world.workspace().join("soft")] {
        let error = access.read(&path).unwrap_err();
        assert!(matches!(error, OpenFileError::Hidden(_)), "{error}");
    }
}

#[test]
fn ordinary_work_goes_on() {
    let world = World::new();
    let access = access(&world);
    let script = world.workspace().join("script");
    access.write(&script, b"one").unwrap();
    std::fs::set_permissions(&script, crate::world::mode(0o755)).unwrap();
    access.write(&script, b"two").unwrap();
    assert_eq!(access.read(&script).unwrap(), b"two");
    assert_eq!(script.metadata().unwrap().permissions().mode() & 0o777, 0o755);
    create_dir(world.workspace().join("inner")).unwrap();
    symlink("inner", world.workspace().join("alias")).unwrap();
    access.write(&world.workspace().join("alias/file"), b"inside").unwrap();
    assert_eq!(read_to_string(world.workspace().join("inner/file")).unwrap(), "inside");
    access.write(&world.workspace().join("new/deep/file"), b"x").unwrap();
    assert_eq!(read_to_string(world.workspace().join("new/deep/file")).unwrap(), "x");
    // A file in the way is no directory.
    assert!(access.write(&world.workspace().join("script/file"), b"x").is_err());
    assert_eq!(std::fs::read_dir(world.workspace().join("inner")).unwrap().count(), 1);
}
