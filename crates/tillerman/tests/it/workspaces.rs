//! Workspaces hold copies of what they may and nothing else, and leave nothing behind.

use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::json;
use tempfile::TempDir;
use tillerman::ErrorKind;
use tillerman::testing::{response, script};
use tillerman::workspace::{HostMount, Links, Workspace};

use crate::world::{Way, World, over_every_transport};

over_every_transport![an_agent_works_on_the_copy];

fn host() -> TempDir {
    let host = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("src/main.rs", "fn main() {}"),
        ("src/deep/lib.rs", "pub fn f() {}"),
        ("src/deep/lib.pyc", "compiled"),
        ("src/__pycache__/x.bin", "cached"),
        ("notes.txt", "0123456789"),
    ] {
        let path = host.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    host
}

fn names(path: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(path).unwrap() {
        let entry = entry.unwrap().path();
        if entry.is_dir() {
            names.extend(self::names(&entry));
        } else {
            names.push(entry.to_string_lossy().into_owned());
        }
    }
    names.sort();
    names
}

fn inner(workspace: &Workspace) -> Vec<String> {
    let prefix = format!("{}/", workspace.path().display());
    names(workspace.path()).iter().map(|name| name.replace(&prefix, "")).collect()
}

async fn an_agent_works_on_the_copy(way: Way) {
    let host = host();
    let workspace = Workspace::builder()
        .allow_root(host.path())
        .mount(HostMount::new(host.path().join("src")).at("project"))
        .build()
        .unwrap();
    let change = json!({"command": "echo changed > project/main.rs; ls project"});
    let script =
        script().reply(response().tool_call("Bash", change)).reply(response().text("done"));
    let world = World::new(way, script).await;
    let options = world.options().cwd(workspace.path()).allow_tool("Bash");
    world.ask(&format!("change it\n\n{}", workspace.describe()), options).await;
    let changed = workspace.path().join("project/main.rs");
    assert_eq!(std::fs::read_to_string(&changed).unwrap(), "changed\n");
    let original = host.path().join("src/main.rs");
    assert_eq!(std::fs::read_to_string(original).unwrap(), "fn main() {}");
    assert!(world.server.request(0).user_text().contains("`project`: 4 files"));
    drop(workspace);
    assert!(!changed.exists());
}

#[test]
fn patterns_choose_what_is_copied() {
    let host = host();
    let mount = |mount: HostMount| {
        let built = Workspace::builder().allow_root(host.path()).mount(mount).build().unwrap();
        inner(&built)
    };
    let src = || HostMount::new(host.path().join("src"));
    let some = mount(src().exclude("*.pyc").exclude("__pycache__/*"));
    assert_eq!(some, ["src/deep/lib.rs", "src/main.rs"]);
    assert_eq!(mount(src().include("*.rs").exclude("deep")), ["src/main.rs"]);
    assert_eq!(mount(HostMount::new(host.path().join("notes.txt"))), ["notes.txt"]);
    let elsewhere = mount(src().at("a/b").include("main.rs"));
    assert_eq!(elsewhere, ["a/b/main.rs"]);
}

#[test]
fn what_lies_outside_the_roots_is_refused() {
    let (host, other) = (host(), tempfile::tempdir().unwrap());
    let refused = |roots: &[&Path], mount: HostMount| {
        let builder = roots.iter().fold(Workspace::builder(), |it, root| it.allow_root(*root));
        let error = builder.mount(mount).build().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Workspace);
        error.to_string()
    };
    assert!(refused(&[], HostMount::new(host.path())).contains("outside"));
    assert!(refused(&[other.path()], HostMount::new(host.path())).contains("outside"));
    let sneaky = other.path().join("..").join(host.path().file_name().unwrap());
    assert!(refused(&[other.path()], HostMount::new(sneaky)).contains("outside"));
    for place in ["../out", "/etc", ""] {
        let mount = HostMount::new(host.path()).at(place);
        assert!(refused(&[host.path()], mount).contains("inside a workspace"));
    }
    assert!(refused(&[host.path()], HostMount::new(host.path().join("gone"))).contains("gone"));
}

#[test]
fn links_are_left_out_unless_they_are_wanted() {
    let (host, secret) = (host(), tempfile::tempdir().unwrap());
    std::fs::write(secret.path().join("key"), "hush").unwrap();
    symlink(secret.path().join("key"), host.path().join("src/key")).unwrap();
    symlink(host.path().join("notes.txt"), host.path().join("src/notes")).unwrap();
    let mount = || HostMount::new(host.path().join("src")).include("key").include("notes");
    let build = |mount: HostMount, root: &Path| {
        Workspace::builder().allow_root(host.path()).allow_root(root).mount(mount).build()
    };
    assert!(inner(&build(mount(), host.path()).unwrap()).is_empty());
    let error = build(mount().links(Links::Follow), host.path()).unwrap_err();
    assert!(error.to_string().contains("outside"), "{error}");
    let both = build(mount().links(Links::Follow), secret.path()).unwrap();
    assert_eq!(inner(&both), ["src/key", "src/notes"]);
}

#[test]
fn more_bytes_than_allowed_are_refused_and_nothing_stays() {
    let host = host();
    let build = |bytes| {
        let mount = HostMount::new(host.path().join("notes.txt")).max_bytes(bytes);
        Workspace::builder().allow_root(host.path()).mount(mount).build()
    };
    assert_eq!(build(10).unwrap().mounted()[0].bytes, 10);
    assert_eq!(build(9).unwrap_err().kind(), ErrorKind::Workspace);
    let workspace = build(10).unwrap();
    let path = workspace.path().to_owned();
    workspace.close().unwrap();
    assert!(!path.exists());
}
