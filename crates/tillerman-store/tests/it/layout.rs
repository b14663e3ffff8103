//! Files lie where official session helpers look for them.

use std::fs::File;
use std::path::Path;
use std::time::{Duration, SystemTime};

use tillerman_store::{ResumeAt, SessionFiles, project_name, subagents_dir, tool_results_dir};

use crate::sample::{conversation, files, id, numbered_id, put, store, stored, uuids};

#[test]
fn project_names_equal_those_of_the_official_helpers() {
    let long = |name: &str, hash: &str| format!("{name}-{hash}");
    for (path, name) in [
        ("/home/ann/my project".to_owned(), "-home-ann-my-project".to_owned()),
        ("/".to_owned(), "-".to_owned()),
        ("/srv/a.b_c/ü/日本".to_owned(), "-srv-a-b-c-----".to_owned()),
        (format!("/{}", "a".repeat(199)), format!("-{}", "a".repeat(199))),
        (format!("/{}", "a".repeat(200)), long(&format!("-{}", "a".repeat(199)), "b6ymvl")),
        (format!("/{}", "deep/".repeat(60)), long(&"-deep".repeat(40), "ipnhn5")),
        (format!("/{}", "ß𝄞x".repeat(90)), long(&format!("-{}-", "--x".repeat(66)), "ndgl3j")),
        (format!("/{}", "z".repeat(512)), long(&format!("-{}", "z".repeat(199)), "cumea9")),
    ] {
        assert_eq!(project_name(&path), name, "{path}");
    }
}

#[test]
fn the_working_directory_is_resolved_first() {
    let directory = tempfile::tempdir().unwrap();
    let real = directory.path().canonicalize().unwrap().join("real");
    let link = directory.path().join("link");
    std::fs::create_dir(&real).unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    let files = SessionFiles::new(directory.path().join("config"), &link);
    let name = project_name(real.to_str().unwrap());
    assert_eq!(files.project_dir(), directory.path().join("config/projects").join(name));
    assert_eq!(files.path(&id()), files.project_dir().join(format!("{}.jsonl", id())));
}

#[test]
fn things_beside_a_transcript_have_their_places() {
    let transcript = Path::new("/c/projects/-home/abc.jsonl");
    assert_eq!(tool_results_dir(transcript), Path::new("/c/projects/-home/abc/tool-results"));
    assert_eq!(subagents_dir(transcript), Path::new("/c/projects/-home/abc/subagents"));
}

#[test]
fn sessions_are_found_under_another_hash_of_a_long_path() {
    let directory = tempfile::tempdir().unwrap();
    let mut cwd = directory.path().canonicalize().unwrap();
    (0..10).for_each(|_| cwd.push("a-rather-long-directory-name"));
    std::fs::create_dir_all(&cwd).unwrap();
    let files = SessionFiles::new(directory.path().join("config"), &cwd);
    stored(&files, &conversation(2));
    let name = project_name(cwd.to_str().unwrap());
    let other = files.project_dir().with_file_name(format!("{}-otherhash", &name[..200]));
    std::fs::rename(files.project_dir(), &other).unwrap();
    assert_eq!(files.list().unwrap().len(), 1);
    assert_eq!(files.newest().unwrap(), Some(id()));
    assert_eq!(uuids(&files.read(&id(), &ResumeAt::End).unwrap()), ["e0", "e1"]);
}

fn touch(files: &SessionFiles, number: usize, age: u64) {
    let moment = SystemTime::UNIX_EPOCH + Duration::from_secs(2_000_000_000 - age);
    let file = File::options().append(true).open(files.path(&numbered_id(number))).unwrap();
    file.set_modified(moment).unwrap();
}

#[test]
fn continuing_takes_the_newest_real_conversation() {
    let directory = tempfile::tempdir().unwrap();
    let files = files(directory.path());
    assert_eq!(files.newest().unwrap(), None);
    assert_eq!(files.list().unwrap(), []);
    for number in [1, 2] {
        store(&mut files.create(&numbered_id(number)).unwrap(), &conversation(2));
    }
    let side = "{\"type\":\"user\",\"uuid\":\"a\",\"isSidechain\":true}\n";
    put(&files, &numbered_id(3), [side, side].concat());
    put(&files, &numbered_id(4), "{\"type\":\"custom-title\",\"customTitle\":\"t\"}\n");
    put(&files, &numbered_id(5), "not a transcript\n");
    for (number, age) in [(5, 1), (4, 2), (3, 3), (2, 4), (1, 5)] {
        touch(&files, number, age);
    }
    std::fs::write(files.project_dir().join("notes.jsonl"), "x").unwrap();
    std::fs::create_dir(files.project_dir().join(format!("{}.jsonl", numbered_id(6)))).unwrap();
    put(&files, &numbered_id(7), "");
    assert_eq!(files.newest().unwrap(), Some(numbered_id(2)));
    let ids: Vec<_> = files.list().unwrap().into_iter().map(|session| session.id).collect();
    assert_eq!(ids, [5, 4, 3, 2, 1].map(numbered_id));
    touch(&files, 1, 0);
    assert_eq!(files.newest().unwrap(), Some(numbered_id(1)));
    let newest = &files.list().unwrap()[0];
    assert_eq!(newest.modified.as_millis(), 2_000_000_000_000);
    assert_eq!(newest.size, newest.path.metadata().unwrap().len());
}
