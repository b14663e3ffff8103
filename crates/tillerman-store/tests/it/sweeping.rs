//! Old sessions go, everything else stays.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use tillerman_protocol::{Moment, SessionId};
use tillerman_store::{Swept, sweep, sweep_is_due};

const DAY: i64 = 24 * 60 * 60 * 1_000;
const NOW: Moment = Moment::from_millis(1_000 * DAY);
const OLD: &str = "00000000-0000-4000-8000-000000000001";
const NEW: &str = "00000000-0000-4000-8000-000000000002";
const RUNNING: &str = "00000000-0000-4000-8000-000000000003";

fn age(path: &Path, days: i64) {
    let since = Duration::from_millis(u64::try_from(NOW.as_millis() - days * DAY).unwrap());
    File::open(path).unwrap().set_modified(UNIX_EPOCH + since).unwrap();
}

fn make(path: &Path, days: i64) -> PathBuf {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, "{}\n").unwrap();
    age(path, days);
    path.to_path_buf()
}

fn clean(config: &Path) -> Swept {
    sweep(config, 30, NOW, &SessionId::new(RUNNING))
}

#[test]
fn sessions_that_are_old_go_with_all_that_belongs_to_them() {
    let config = tempfile::tempdir().unwrap();
    let project = config.path().join("projects/-work");
    let transcript = |id: &str, days| make(&project.join(format!("{id}.jsonl")), days);
    let (old, new, running) = (transcript(OLD, 31), transcript(NEW, 29), transcript(RUNNING, 99));
    let beside = make(&project.join(OLD).join("tool-results/x.txt"), 31);
    let notes = make(&project.join("notes.jsonl"), 99);
    let memory = make(&project.join("memory/MEMORY.md"), 99);
    let history = |id: &str| {
        let directory = config.path().join("file-history").join(id);
        make(&directory.join("log"), 99);
        age(&directory, 99);
        directory
    };
    let histories = [OLD, NEW, RUNNING, "other"].map(history);
    assert_eq!(clean(config.path()), Swept { transcripts: 1, histories: 1 });
    assert!(!old.exists() && !beside.exists() && !histories[0].exists());
    for path in [new, running, notes, memory].iter().chain(&histories[1..]) {
        assert!(path.exists(), "{} should have stayed", path.display());
    }
}

#[test]
fn a_team_goes_with_its_session() {
    let config = tempfile::tempdir().unwrap();
    for id in [OLD, NEW] {
        let days = if id == OLD { 31 } else { 29 };
        make(&config.path().join(format!("projects/-work/{id}.jsonl")), days);
        for (folder, file) in [("teams", "members.jsonl"), ("tasks", "list.jsonl")] {
            let directory = config.path().join(folder).join(id);
            make(&directory.join(file), 99);
            age(&directory, 99);
        }
    }
    assert_eq!(clean(config.path()), Swept { transcripts: 1, histories: 0 });
    for folder in ["teams", "tasks"] {
        let kept = |id: &str| config.path().join(folder).join(id).exists();
        assert!(!kept(OLD) && kept(NEW), "{folder}");
    }
}

#[test]
fn a_session_that_somebody_has_open_stays() {
    let config = tempfile::tempdir().unwrap();
    let path = make(&config.path().join(format!("projects/-work/{OLD}.jsonl")), 99);
    let open = File::open(&path).unwrap();
    open.lock().unwrap();
    assert_eq!(clean(config.path()).transcripts, 0);
    drop(open);
    assert_eq!(clean(config.path()).transcripts, 1);
}

#[test]
fn links_are_neither_followed_nor_removed() {
    let config = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let kept = make(&elsewhere.path().join(format!("{OLD}.jsonl")), 99);
    fs::create_dir_all(config.path().join("projects/-work")).unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), config.path().join("projects/-link")).unwrap();
    let link = config.path().join(format!("projects/-work/{NEW}.jsonl"));
    std::os::unix::fs::symlink(&kept, &link).unwrap();
    assert_eq!(clean(config.path()), Swept::default());
    assert!(kept.exists());
}

#[test]
fn it_is_done_once_a_day() {
    let config = tempfile::tempdir().unwrap();
    assert!(!sweep_is_due(config.path(), NOW), "there is nothing to sweep");
    fs::create_dir(config.path().join("projects")).unwrap();
    assert!(sweep_is_due(config.path(), NOW));
    clean(config.path());
    age(&config.path().join(".tillerman-swept"), 0);
    assert!(!sweep_is_due(config.path(), NOW));
    assert!(!sweep_is_due(config.path(), Moment::from_millis(NOW.as_millis() + DAY - 1)));
    assert!(sweep_is_due(config.path(), Moment::from_millis(NOW.as_millis() + DAY)));
}
