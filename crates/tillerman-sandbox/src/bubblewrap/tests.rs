//! Bubblewrap's arguments: order, and sources on the stage of root.

use std::path::{Path, PathBuf};

use super::{Version, command_line, stage};
use crate::layout::{Access, Layout, Mount};
use crate::plan::Staged;

fn bind(source: &str, access: Access) -> Mount {
    Mount::Bind { source: source.into(), access }
}

fn layout() -> Layout {
    let mounts = [
        ("/home", Mount::Empty(Access::ReadOnly)),
        ("/home/w", bind("/home/w", Access::Writable)),
        ("/home/w/.claude", bind("/home/w/.claude", Access::ReadOnly)),
        ("/home/w/.mcp.json", Mount::Blocked),
        ("/tmp", bind("/private/tmp", Access::Writable)),
    ];
    let mounts = mounts.map(|(at, mount)| (PathBuf::from(at), mount)).into();
    Layout { mounts, placeholders: Vec::new() }
}

fn line(version: Version, staged: &[Staged]) -> String {
    let line = command_line(Path::new("/usr/bin/bwrap"), version, &layout(), staged);
    line.iter().map(|part| part.to_str().unwrap()).collect::<Vec<_>>().join(" ")
}

#[test]
fn mounts_come_in_order_and_close_at_the_end() {
    let line = line(Version { major: 0, minor: 11 }, &[]);
    assert!(
        line.starts_with("/usr/bin/bwrap --unshare-user --unshare-ipc --unshare-pid --unshare-net")
    );
    let ordered = "--cap-drop ALL --ro-bind / / --dev /dev --proc /proc --size 536870912 --tmpfs /home \
        --bind /home/w /home/w --ro-bind /home/w/.claude /home/w/.claude \
        --ro-bind /dev/null /home/w/.mcp.json --bind /private/tmp /tmp --remount-ro /home --";
    assert!(line.ends_with(ordered), "{line}");
    assert!(
        line.contains("--disable-userns --die-with-parent --new-session --as-pid-1 --clearenv")
    );
}

#[test]
fn an_older_version_gets_only_what_it_understands() {
    let line = line(Version { major: 0, minor: 6 }, &[]);
    assert!(!line.contains("--size") && !line.contains("--disable-userns"), "{line}");
}

#[test]
fn root_stages_each_tree_once_and_finds_the_rest_inside() {
    let chosen = stage(&layout(), Path::new("/stage"));
    let staged: Vec<Staged> =
        chosen.into_iter().map(|(source, at, _)| Staged { source, at, owner: None }).collect();
    let sources: Vec<&Path> = staged.iter().map(|tree| tree.source.as_path()).collect();
    assert_eq!(sources, [Path::new("/home/w"), Path::new("/private/tmp")]);
    let line = line(Version { major: 0, minor: 8 }, &staged);
    assert!(
        line.contains("--bind /stage/0 /home/w --ro-bind /stage/0/.claude /home/w/.claude"),
        "{line}"
    );
    assert!(line.contains("--bind /stage/1 /tmp"), "{line}");
}

#[test]
fn versions_are_read() {
    assert_eq!(Version::parse("bubblewrap 0.8.0\n"), Some(Version { major: 0, minor: 8 }));
    assert_eq!(Version::parse("bubblewrap 1.2"), Some(Version { major: 1, minor: 2 }));
    assert_eq!(Version::parse("something"), None);
}
