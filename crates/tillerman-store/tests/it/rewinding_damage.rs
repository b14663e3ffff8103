//! Crashes and damaged stores cost checkpoints, never files.

use std::path::Path;

use tillerman_ports::CheckpointError;

use crate::stand::Stand;

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), &target).unwrap();
        }
    }
}

#[test]
fn a_log_that_ends_anywhere_still_serves_its_whole_records() {
    let mut stand = Stand::new();
    let mut pictures = Vec::new();
    for round in 0..3 {
        stand.write("x", &format!("round {round}"));
        stand.write(&format!("only-{round}"), "x");
        stand.take(&format!("m{round}"));
        pictures.push(stand.picture());
    }
    let log = std::fs::read(stand.store().join("log")).unwrap();
    let saved = stand.root.path().join("saved");
    copy(&stand.store(), &saved);
    let mut served = Vec::new();
    for length in (0..log.len()).step_by(5).chain([log.len()]) {
        stand.reopen();
        std::fs::remove_dir_all(stand.store()).unwrap();
        copy(&saved, &stand.store());
        std::fs::write(stand.store().join("log"), &log[..length]).unwrap();
        let mut count = 0;
        for (round, picture) in pictures.iter().enumerate() {
            match stand.try_rewind(&format!("m{round}")) {
                Ok(rewound) => {
                    assert!(rewound.failed.is_empty(), "{:?}", rewound.failed);
                    assert_eq!(stand.picture(), *picture);
                    count += 1;
                }
                Err(error) => assert!(matches!(error, CheckpointError::Unknown), "{error}"),
            }
        }
        served.push(count);
        let before = stand.picture();
        stand.take("next");
        stand.write("x", "later");
        stand.rewind("next");
        assert_eq!(stand.picture(), before);
    }
    assert!(served.is_sorted(), "{served:?}");
    assert_eq!((served[0], served[served.len() - 1]), (0, 3));
}

#[test]
fn damaged_contents_are_not_restored_and_the_present_file_stays() {
    let stand = Stand::new();
    stand.write("x", "before");
    stand.write("y", "fine");
    stand.take("m");
    let damaged = stand.objects().into_iter();
    let damaged = damaged.filter(|path| std::fs::read(path).unwrap() == b"before");
    for path in damaged {
        std::fs::write(path, "BEFORE").unwrap();
    }
    stand.write("x", "after");
    stand.write("y", "after");
    let rewound = stand.rewind("m");
    assert_eq!(rewound.failed.len(), 1);
    assert!(rewound.failed[0].ends_with("work/x: its kept contents are damaged"));
    assert_eq!((stand.read("x"), stand.read("y")), ("after".into(), "fine".into()));
    assert_eq!(stand.picture().len(), 2, "nothing is left lying about");
}

#[test]
fn contents_that_a_loss_of_power_cut_short_are_kept_again() {
    let mut stand = Stand::new();
    stand.write("x", "before");
    stand.take("m");
    for path in stand.objects() {
        std::fs::write(path, "").unwrap();
    }
    stand.reopen();
    stand.take("n");
    stand.write("x", "after");
    stand.rewind("n");
    assert_eq!(stand.read("x"), "before");
}

#[test]
fn unfinished_contents_go_away() {
    let mut stand = Stand::new();
    stand.write("x", "x");
    stand.take("m");
    let unfinished = stand.store().join("objects/unfinished-7");
    std::fs::write(&unfinished, "half").unwrap();
    let unwanted = stand.store().join("objects/00").join("0".repeat(62));
    std::fs::create_dir_all(unwanted.parent().unwrap()).unwrap();
    std::fs::write(&unwanted, "nobody").unwrap();
    stand.reopen();
    stand.take("n");
    assert!(!unfinished.exists() && !unwanted.exists());
    assert_eq!(stand.objects().len(), 1);
}

#[test]
fn checkpoints_of_another_version_are_left_as_they_are() {
    let mut stand = Stand::new();
    stand.take("m");
    let log = stand.store().join("log");
    stand.reopen();
    std::fs::write(&log, b"TILCKPT\x09whatever").unwrap();
    assert!(stand.try_take("n").is_err());
    assert_eq!(std::fs::read(&log).unwrap(), b"TILCKPT\x09whatever");
}
