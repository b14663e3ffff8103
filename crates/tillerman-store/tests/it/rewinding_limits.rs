//! What checkpoints do not cover is said aloud, once, and left alone.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;

use tillerman_ports::CheckpointError;
use tillerman_store::CheckpointLimits;

use crate::stand::{Stand, as_somebody};

fn usual() -> CheckpointLimits {
    CheckpointLimits::default()
}

#[test]
fn a_file_that_is_too_large_is_named_and_left_alone() {
    let stand = Stand::with(CheckpointLimits { file_bytes: 1 << 20, ..usual() });
    stand.write("large", &"x".repeat((1 << 20) + 1));
    stand.write("just-right", &"y".repeat(1 << 20));
    let notes = stand.take("m").notes;
    assert_eq!(notes.len(), 1);
    assert!(notes[0].contains("1 file (larger than 1 MB)"), "{}", notes[0]);
    assert!(notes[0].ends_with("work/large"), "{}", notes[0]);
    assert!(stand.take("n").notes.is_empty(), "said once");
    stand.write("large", "changed");
    stand.write("just-right", "changed");
    let rewound = stand.rewind("m");
    assert_eq!((rewound.restored, rewound.not_kept), (1, 1));
    assert_eq!(stand.read("large"), "changed");
    assert_eq!(stand.read("just-right").len(), 1 << 20);
}

#[test]
fn a_large_file_that_did_not_change_is_not_counted() {
    let stand = Stand::with(CheckpointLimits { file_bytes: 10, ..usual() });
    stand.write("large", "more than ten bytes");
    stand.take("m");
    let rewound = stand.rewind("m");
    assert_eq!((rewound.not_kept, rewound.restored), (0, 0));
}

#[test]
fn a_rewind_says_what_an_undo_will_not_bring_back() {
    let stand = Stand::with(CheckpointLimits { file_bytes: 10, ..usual() });
    stand.write("grows", "small");
    stand.take("m");
    stand.write("grows", "more than ten bytes");
    stand.write("comes", "more than ten bytes too");
    stand.write("tiny", "tiny");
    let rewound = stand.rewind("m");
    assert_eq!((rewound.deleted, rewound.restored, rewound.beyond_undo), (2, 1, 2));
    stand.rewind(rewound.undo.unwrap().as_str());
    assert_eq!((stand.read("grows"), stand.exists("comes")), ("small".into(), false));
    assert_eq!(stand.read("tiny"), "tiny");
}

#[test]
fn what_a_session_may_keep_has_an_end() {
    let stand = Stand::with(CheckpointLimits { total_bytes: 1000, ..usual() });
    for number in 0..5 {
        stand.write(&format!("f{number}"), &number.to_string().repeat(300));
    }
    let notes = stand.take("m").notes;
    assert!(notes[0].contains("2 files (more than the 0 MB"), "{notes:?}");
    let kept: u64 = stand.objects().iter().map(|path| path.metadata().unwrap().len()).sum();
    assert_eq!(kept, 900);
}

#[test]
fn too_many_files_mean_no_checkpoints_at_all() {
    let stand = Stand::with(CheckpointLimits { files: 10, ..usual() });
    for number in 0..11 {
        stand.write(&format!("f{number}"), "x");
    }
    let error = stand.try_take("m").unwrap_err();
    assert!(error.to_string().contains("more than 10 files"), "{error}");
    assert!(matches!(stand.try_rewind("m"), Err(CheckpointError::Unknown)));
}

#[test]
fn only_the_newest_checkpoints_are_kept() {
    let mut stand = Stand::with(CheckpointLimits { kept: 3, ..usual() });
    for round in 0..20 {
        stand.write("x", &format!("unique {round}"));
        stand.write("still", "the same");
        stand.take(&format!("m{round}"));
    }
    assert!(stand.objects().len() < 10, "old contents went away while the session ran");
    assert!(matches!(stand.try_rewind("m16"), Err(CheckpointError::Unknown)));
    stand.reopen();
    assert!(matches!(stand.try_rewind("m16"), Err(CheckpointError::Unknown)));
    assert_eq!(stand.objects().len(), 4, "three of x, one of still");
    stand.rewind("m17");
    assert_eq!((stand.read("x"), stand.read("still")), ("unique 17".into(), "the same".into()));
}

#[test]
fn what_cannot_be_read_is_named_and_left_alone() {
    let stand = Stand::new();
    stand.write("secret", "s");
    stand.write("closed/inner", "i");
    stand.write("open", "o");
    as_somebody(&stand, || {
        let set = |name: &str, mode| {
            std::fs::set_permissions(stand.path(name), Permissions::from_mode(mode)).unwrap();
        };
        set("secret", 0o000);
        set("closed", 0o000);
        let notes = stand.take("m").notes;
        assert_eq!(notes.len(), 2, "{notes:?}");
        assert!(notes.iter().all(|note| note.contains("not readable")), "{notes:?}");
        // Somebody opens the directory: what is in there was not made later.
        set("closed", 0o700);
        set("secret", 0o600);
        stand.write("open", "changed");
        let rewound = stand.rewind("m");
        assert_eq!(rewound.failed, Vec::<String>::new());
        assert_eq!((stand.read("closed/inner"), stand.read("open")), ("i".into(), "o".into()));
        assert_eq!(stand.path("secret").metadata().unwrap().permissions().mode() & 0o777, 0);
    });
}

#[test]
fn directories_that_commands_closed_are_opened_again() {
    let stand = Stand::new();
    stand.write("closed/deep/file", "before");
    stand.write("fixed/file", "before");
    stand.write("locked", "before");
    as_somebody(&stand, || {
        let set = |name: &str, mode| {
            std::fs::set_permissions(stand.path(name), Permissions::from_mode(mode)).unwrap();
        };
        set("fixed", 0o500);
        let before = stand.picture();
        stand.take("m");
        stand.write("closed/deep/file", "after");
        set("closed", 0o000);
        set("fixed", 0o700);
        stand.write("fixed/file", "after");
        stand.write("fixed/new", "new");
        set("fixed", 0o500);
        set("locked", 0o000);
        let rewound = stand.rewind("m");
        assert_eq!(rewound.failed, Vec::<String>::new());
        assert_eq!(stand.picture(), before);
    });
}

#[test]
fn large_files_are_kept_in_pieces() {
    let stand = Stand::new();
    let text: String = (0..100_000).map(|number| format!("line {number}\n")).collect();
    stand.write("large", &text);
    stand.take("m");
    stand.write("large", "small");
    stand.rewind("m");
    assert_eq!(stand.read("large"), text);
    assert!(stand.objects().len() >= 2);
    let names = std::fs::read_dir(stand.store().join("objects")).unwrap();
    let left = names.filter(|name| name.as_ref().unwrap().path().is_file()).count();
    assert_eq!(left, 0, "nothing unfinished is left");
}
