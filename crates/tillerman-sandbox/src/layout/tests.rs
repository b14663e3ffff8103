//! Layouts of small disks: what is covered, what is pinned, what is refused.

use std::fs::{create_dir_all, write};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::{Access, Fixtures, Layout, LayoutError, Mount};
use crate::confinement::{Confinement, Guard, GuardKind};

struct Disk {
    directory: TempDir,
}

impl Disk {
    fn new(files: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        for file in files {
            let path = directory.path().join(file);
            create_dir_all(path.parent().unwrap()).unwrap();
            write(path, "").unwrap();
        }
        Self { directory }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join(name)
    }

    fn plan(&self, confinement: &Confinement) -> Result<Layout, LayoutError> {
        let fixtures = Fixtures {
            temp: self.path("private"),
            runner: PathBuf::from("/bin/sh"),
            egress: None,
            accounts: None,
            user: None,
        };
        Layout::plan(confinement, &fixtures)
    }
}

fn bind(path: &Path, access: Access) -> Mount {
    Mount::Bind { source: path.to_path_buf(), access }
}

#[test]
fn a_guard_pins_everything_up_to_its_root() {
    let disk = Disk::new(&["w/a/b/guarded", "w/other"]);
    let layout = disk
        .plan(&Confinement {
            writable: vec![disk.path("w")],
            guarded: vec![Guard::file(disk.path("w/a/b/guarded"))],
            ..Confinement::default()
        })
        .unwrap();
    let expected = [
        ("w", Access::Writable),
        ("w/a", Access::Writable),
        ("w/a/b", Access::Writable),
        ("w/a/b/guarded", Access::ReadOnly),
    ];
    for (name, access) in expected {
        let path = disk.path(name);
        assert_eq!(layout.mounts.get(&path), Some(&bind(&path, access)), "{name}");
    }
    assert_eq!(layout.placeholders, []);
    assert_eq!(layout.mounts.get(Path::new("/run")), Some(&Mount::Empty(Access::ReadOnly)));
}

#[test]
fn what_is_missing_is_covered_at_its_first_missing_part() {
    let disk = Disk::new(&["w/there/file"]);
    let layout = disk
        .plan(&Confinement {
            writable: vec![disk.path("w")],
            guarded: vec![
                Guard::file(disk.path("w/there/absent")),
                Guard::file(disk.path("w/gone/deep/file")),
                Guard::file(disk.path("w/gone/other")),
                // A file keeps everything below it from existing, so it is what has to stay.
                Guard::file(disk.path("w/there/file/below")),
            ],
            ..Confinement::default()
        })
        .unwrap();
    let at = |name: &str| layout.mounts.get(&disk.path(name)).cloned();
    assert_eq!(at("w/there/absent"), Some(Mount::Blocked));
    assert_eq!(at("w/gone"), Some(Mount::Empty(Access::ReadOnly)));
    assert_eq!(at("w/there/file"), Some(bind(&disk.path("w/there/file"), Access::ReadOnly)));
    let kinds: Vec<GuardKind> = layout.placeholders.iter().map(|guard| guard.kind).collect();
    assert_eq!(kinds, [GuardKind::File, GuardKind::Directory]);
}

#[test]
fn hidden_counts_more_than_guarded_and_readable() {
    let disk = Disk::new(&["w/key", "tools/keys/k"]);
    let layout = disk
        .plan(&Confinement {
            writable: vec![disk.path("w")],
            readable: vec![disk.path("tools")],
            hidden: vec![disk.path("w/key"), disk.path("tools/keys"), disk.path("none")],
            guarded: vec![Guard::file(disk.path("w/key"))],
            ..Confinement::default()
        })
        .unwrap();
    assert_eq!(layout.mounts.get(&disk.path("w/key")), Some(&Mount::Blocked));
    let keys = layout.mounts.get(&disk.path("tools/keys"));
    assert_eq!(keys, Some(&Mount::Empty(Access::ReadOnly)));
}

#[test]
fn contradictions_are_refused() {
    let disk = Disk::new(&["w/.git/config", "w/file"]);
    std::os::unix::fs::symlink("file", disk.path("w/link")).unwrap();
    let plan = |writable: &str, guarded: &str| {
        disk.plan(&Confinement {
            writable: vec![disk.path(writable)],
            guarded: vec![Guard::directory(disk.path(guarded))],
            ..Confinement::default()
        })
    };
    assert!(matches!(plan("w/.git", "w/.git"), Err(LayoutError::WritableInGuard { .. })));
    assert!(matches!(plan("w/.git", "w"), Err(LayoutError::WritableInGuard { .. })));
    assert!(matches!(plan("w", "w/link"), Err(LayoutError::Link { .. })));
    assert!(matches!(plan("missing", "w/link"), Err(LayoutError::Unreachable { .. })));
    assert!(matches!(plan("w/file", "w/link"), Err(LayoutError::Unreachable { .. })));
    for root in ["/", "/proc", "/dev/shm", "/sys"] {
        let confinement = Confinement { writable: vec![root.into()], ..Confinement::default() };
        assert!(matches!(disk.plan(&confinement), Err(LayoutError::Reserved(_))), "{root}");
    }
    let guarded = vec![Guard::file("relative")];
    let confinement = Confinement { guarded, ..Confinement::default() };
    assert!(matches!(disk.plan(&confinement), Err(LayoutError::Relative(_))));
}

#[test]
fn a_link_above_the_workspace_is_followed() {
    let disk = Disk::new(&["real/w/.claude/settings.json"]);
    std::os::unix::fs::symlink("real", disk.path("alias")).unwrap();
    let layout = disk
        .plan(&Confinement {
            writable: vec![disk.path("alias/w")],
            guarded: vec![Guard::directory(disk.path("alias/w/.claude"))],
            ..Confinement::default()
        })
        .unwrap();
    let guarded = disk.path("real/w/.claude");
    assert_eq!(layout.mounts.get(&guarded), Some(&bind(&guarded, Access::ReadOnly)));
}
