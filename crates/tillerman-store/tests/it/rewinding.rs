//! A rewind brings back what the working directories held, whoever changed it.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use tillerman_ports::CheckpointError;
use tillerman_protocol::SessionId;

use crate::stand::{Stand, picture};

/// Runs a command in the working directory, as the agent does.
fn shell(stand: &Stand, script: &str) {
    #[expect(clippy::disallowed_methods, reason = "the test plays the agent's shell")]
    let mut command = std::process::Command::new("/bin/sh");
    let status = command.args(["-ec", script]).current_dir(stand.path("")).status().unwrap();
    assert!(status.success(), "{script}");
}

fn project() -> Stand {
    let stand = Stand::new();
    stand.write("a.txt", "one\ntwo\n");
    stand.write("src/lib.rs", "fn main() {}\n");
    stand.write("src/deep/er/x", "x");
    stand.write("script.sh", "#!/bin/sh\n");
    shell(&stand, "chmod 755 script.sh; mkdir -p empty/inner; chmod 700 src/deep");
    stand
}

#[test]
fn what_commands_did_is_undone_exactly() {
    let stand = project();
    let before = stand.picture();
    stand.take("m");
    shell(
        &stand,
        "sed -i s/one/ONE/ a.txt; mv src/lib.rs src/main.rs; rm script.sh; mkdir -p new/dir; \
         echo y > new/dir/y; rm -r empty; chmod 755 src/deep; mv src/deep/er src/er; chmod 600 a.txt",
    );
    assert_ne!(stand.picture(), before);
    let rewound = stand.rewind("m");
    assert_eq!(stand.picture(), before);
    assert_eq!((rewound.restored, rewound.deleted), (4, 3));
    assert_eq!((rewound.skipped_links, rewound.not_kept), (0, 0));
    assert!(rewound.failed.is_empty(), "{:?}", rewound.failed);
    assert!(rewound.files.iter().any(|path| path.ends_with("work/src/main.rs")));
}

#[test]
fn files_and_directories_may_have_changed_places() {
    let stand = Stand::new();
    stand.write("file", "f");
    stand.write("dir/inner/x", "x");
    let before = stand.picture();
    stand.take("m");
    shell(&stand, "rm file; mkdir file; echo z > file/z; rm -r dir; echo d > dir");
    stand.rewind("m");
    assert_eq!(stand.picture(), before);
}

#[test]
fn a_dry_run_says_what_a_rewind_does_and_changes_nothing() {
    let stand = project();
    stand.take("m");
    shell(&stand, "echo three >> a.txt; rm script.sh; printf 'n\\nn\\n' > new.txt");
    let changed = stand.picture();
    let objects = stand.objects();
    let dry = stand.dry_run("m");
    assert_eq!(stand.picture(), changed);
    assert_eq!(stand.objects(), objects);
    let mut wet = stand.rewind("m");
    assert!(wet.undo.take().is_some());
    let sorted = |mut names: Vec<String>| {
        names.sort();
        names
    };
    assert_eq!(sorted(dry.files.clone()), sorted(wet.files.clone()));
    assert_eq!((dry.insertions, dry.deletions), (1, 3));
    assert_eq!((wet.insertions, wet.deletions), (1, 3));
}

#[test]
fn a_rewind_can_itself_be_undone() {
    let stand = project();
    stand.take("m");
    shell(&stand, "rm -r src; echo new > new.txt");
    let changed = stand.picture();
    let undo = stand.rewind("m").undo.unwrap();
    assert_ne!(stand.picture(), changed);
    stand.rewind(undo.as_str());
    assert_eq!(stand.picture(), changed);
}

#[test]
fn every_message_has_its_own_state_also_in_a_later_run() {
    let mut stand = project();
    let mut pictures = Vec::new();
    for round in 0..5 {
        stand.write("a.txt", &format!("{round}\n"));
        stand.write(&format!("made-{round}"), "x");
        pictures.push(stand.picture());
        stand.take(&format!("m{round}"));
        stand.reopen();
    }
    for round in [3, 0, 4, 1, 2] {
        stand.rewind(&format!("m{round}"));
        assert_eq!(stand.picture(), pictures[round]);
        stand.reopen();
    }
}

#[test]
fn a_message_without_a_checkpoint_cannot_be_rewound_to() {
    let stand = project();
    assert!(matches!(stand.try_rewind("m"), Err(CheckpointError::Unknown)));
    stand.take("m");
    let error = stand.try_rewind("other").unwrap_err();
    assert_eq!(error.to_string(), "No file checkpoint found for this message.");
}

#[test]
fn an_edit_of_the_same_size_in_the_same_moment_is_noticed() {
    let stand = Stand::new();
    for round in 0..50 {
        stand.write("x", &format!("{round:02}"));
        stand.take(&format!("m{round}"));
    }
    for round in (0..50).rev() {
        stand.rewind(&format!("m{round}"));
        assert_eq!(stand.read("x"), format!("{round:02}"));
    }
}

#[test]
fn an_edit_that_puts_the_time_back_is_noticed() {
    let stand = Stand::new();
    stand.write("x", "old");
    shell(&stand, "touch -d '2020-01-01 00:00:00' x");
    let then = stand.path("x").metadata().unwrap().mtime();
    stand.take("first");
    stand.take("second");
    shell(&stand, "printf new > x; touch -d '2020-01-01 00:00:00' x");
    stand.rewind("second");
    assert_eq!(stand.read("x"), "old");
    assert_eq!(stand.path("x").metadata().unwrap().mtime(), then);
}

#[test]
fn the_repository_is_never_touched() {
    let stand = project();
    stand.write(".git/HEAD", "ref: refs/heads/main\n");
    stand.write("sub/.git", "gitdir: elsewhere\n");
    stand.take("m");
    stand.write(".git/HEAD", "ref: refs/heads/other\n");
    stand.write(".git/index", "new");
    stand.write("clone/.git/HEAD", "x");
    stand.write("clone/file", "x");
    std::fs::remove_file(stand.path("sub/.git")).unwrap();
    stand.rewind("m");
    assert_eq!(stand.read(".git/HEAD"), "ref: refs/heads/other\n");
    assert_eq!(stand.read(".git/index"), "new");
    assert!(stand.exists("clone/.git/HEAD") && !stand.exists("clone/file"));
    assert!(!stand.exists("sub/.git"));
}

#[test]
fn names_need_not_be_text() {
    let stand = Stand::new();
    let name = OsStr::from_bytes(b"\xff\xfe \n'\"");
    let path = stand.path("").join(name);
    std::fs::create_dir(&path).unwrap();
    std::fs::write(path.join(name), "x").unwrap();
    let before = stand.picture();
    stand.take("m");
    std::fs::remove_dir_all(&path).unwrap();
    stand.rewind("m");
    assert_eq!(stand.picture(), before);
}

#[test]
fn several_working_directories_are_covered_and_others_are_not() {
    let stand = Stand::new();
    for name in ["one/x", "one/inner/y", "two/z", "three/w"] {
        stand.write(name, "before");
    }
    let directories = ["two", "one/inner", "one", "gone"].map(|name| stand.path(name)).to_vec();
    stand.take_of("m", directories).unwrap();
    for name in ["one/x", "one/inner/y", "two/z", "three/w"] {
        stand.write(name, "after");
    }
    stand.rewind("m");
    let texts = ["one/x", "one/inner/y", "two/z", "three/w"].map(|name| stand.read(name));
    assert_eq!(texts, ["before", "before", "before", "after"]);
}

#[test]
fn a_working_directory_that_was_deleted_comes_back() {
    let stand = project();
    let before = stand.picture();
    stand.take("m");
    std::fs::remove_dir_all(stand.path("")).unwrap();
    stand.rewind("m");
    assert_eq!(stand.picture(), before);
}

#[test]
fn sessions_and_checkpoints_below_the_working_directory_are_left_alone() {
    let stand = Stand::new();
    stand.write("x", "before");
    let everything = stand.root.path().to_path_buf();
    stand.take_of("m", vec![everything]).unwrap();
    stand.write("x", "after");
    let transcript = stand.root.path().join("config/projects/p/t.jsonl");
    std::fs::create_dir_all(transcript.parent().unwrap()).unwrap();
    std::fs::write(&transcript, "{}\n").unwrap();
    stand.rewind("m");
    assert_eq!(stand.read("x"), "before");
    assert!(transcript.exists());
}

#[test]
fn only_the_user_can_read_what_is_kept() {
    let stand = project();
    stand.take("m");
    let store = stand.store();
    assert_eq!(store.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    for (path, (mode, contents)) in picture(&store) {
        let private = if contents.is_some() { 0o600 } else { 0o700 };
        assert_eq!(mode, private, "{}", path.display());
    }
}

#[test]
fn equal_contents_are_kept_once() {
    let stand = Stand::new();
    for number in 0..20 {
        stand.write(&format!("copy-{number}"), "the same");
    }
    stand.take("m");
    assert_eq!(stand.objects().len(), 1);
}

#[test]
fn another_session_of_the_directory_shares_contents_and_outlives_the_first() {
    let mut stand = project();
    stand.take("m");
    let (first, objects) = (stand.store(), stand.objects());
    stand.another_session(SessionId::new("6ba7b811-9dad-41d1-80b4-00c04fd430c8"));
    stand.write("a.txt", "changed since");
    stand.write("new", "new since");
    let before = stand.picture();
    stand.take("n");
    let shared =
        stand.objects().iter().filter(|path| path.metadata().unwrap().nlink() == 2).count();
    assert_eq!((shared, stand.objects().len()), (objects.len(), objects.len() + 2));
    assert!(matches!(stand.try_rewind("m"), Err(CheckpointError::Unknown)));
    std::fs::remove_dir_all(first).unwrap();
    shell(&stand, "rm -r src a.txt new script.sh");
    stand.rewind("n");
    assert_eq!(stand.picture(), before);
}

#[test]
fn only_one_process_uses_the_checkpoints_of_a_session() {
    let mut stand = Stand::new();
    stand.take("m");
    let lock = std::fs::File::open(stand.store().join("lock")).unwrap();
    stand.reopen();
    let exclusive = rustix::fs::FlockOperation::NonBlockingLockExclusive;
    rustix::fs::flock(&lock, exclusive).unwrap();
    let error = stand.try_take("n").unwrap_err();
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert!(source.contains("another process"), "{source}");
}
