//! Large transcripts and many sessions stay fast.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use tillerman_store::{ResumeAt, SessionFiles};

use crate::sample::{conversation, files, id, numbered_id, put, store, stored, user, uuids};

/// How many lines a session has between two compactions.
const SEGMENT: usize = 20_000;

/// A long session: prompts, answers and, now and then, a compaction.
fn long_session(files: &SessionFiles, lines: usize) {
    let filler = "All work and no play makes a long transcript. ".repeat(4);
    let mut text = String::new();
    for line in 0..lines {
        let uuid = format!("00000000-0000-4000-8000-{line:012}");
        let parent = format!("\"00000000-0000-4000-8000-{:012}\"", line.wrapping_sub(1));
        let link = format!(
            "\"uuid\":\"{uuid}\",\"isSidechain\":false,\"sessionId\":\"{}\",\"cwd\":\"/home/ann\"",
            id()
        );
        let written = match line % SEGMENT {
            0 => writeln!(
                text,
                "{{\"parentUuid\":null,\"type\":\"system\",\"subtype\":\"compact_boundary\",{link}}}"
            ),
            at if at % 2 == 1 => writeln!(
                text,
                "{{\"parentUuid\":{parent},\"type\":\"user\",\"message\":{{\"role\":\"user\",\
                 \"content\":\"{filler}\"}},{link}}}"
            ),
            _ => writeln!(
                text,
                "{{\"parentUuid\":{parent},\"type\":\"assistant\",\"message\":{{\"id\":\"m{line}\",\
                 \"model\":\"m\",\"content\":[{{\"type\":\"text\",\"text\":\"{filler}\"}}]}},{link}}}"
            ),
        };
        written.unwrap();
    }
    put(files, &id(), text);
}

#[test]
fn a_very_long_transcript_opens_in_time() {
    let lines = if cfg!(debug_assertions) { 100_000 } else { 1_000_000 };
    let directory = tempfile::tempdir().unwrap();
    let files = files(directory.path());
    long_session(&files, lines);
    let start = Instant::now();
    let (_transcript, loaded) = files.resume(&id(), &ResumeAt::End).unwrap();
    let took = start.elapsed();
    assert_eq!(loaded.entries.len(), SEGMENT);
    assert_eq!(loaded.repairs, tillerman_store::Repairs::default());
    println!("{lines} lines opened in {took:?}");
    if !cfg!(debug_assertions) {
        assert!(took < Duration::from_secs(2), "{lines} lines took {took:?}");
    }
}

#[test]
fn sections_read_by_different_threads_fit_together() {
    let directory = tempfile::tempdir().unwrap();
    let files = files(directory.path());
    long_session(&files, 12_000);
    let path = files.path(&id());
    let mut bytes = std::fs::read(&path).unwrap();
    assert!(bytes.len() > 3 << 20, "large enough for several threads");
    let starts: Vec<usize> = bytes
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'\n')
        .map(|(at, _)| at + 1)
        .collect();
    let damaged = [1_000, 4_000, 8_000, 11_000];
    for line in damaged {
        bytes[starts[line - 2]] = b'!';
    }
    put(&files, &id(), bytes);
    let loaded = files.read(&id(), &ResumeAt::End).unwrap();
    let skipped: Vec<u64> = loaded.repairs.skipped.iter().map(|skipped| skipped.line).collect();
    assert_eq!(skipped, damaged.map(|line| line as u64));
    assert_eq!(loaded.entries.len(), 12_000 - damaged.len());
    assert!(uuids(&loaded).is_sorted());
}

#[test]
fn a_line_of_ten_megabytes_is_fine() {
    let directory = tempfile::tempdir().unwrap();
    let files = files(directory.path());
    let mut entries = conversation(2);
    entries.push(user("e2", Some("e1"), &"x".repeat(10 << 20)));
    entries.push(user("e3", Some("e2"), "after"));
    stored(&files, &entries);
    assert_eq!(files.read(&id(), &ResumeAt::End).unwrap().entries, entries);
}

#[test]
fn ten_thousand_sessions_are_listed_without_being_read() {
    let directory = tempfile::tempdir().unwrap();
    let files = files(directory.path());
    std::fs::create_dir_all(files.project_dir()).unwrap();
    // Each has a size that could not be read in time.
    let huge = std::fs::File::create(files.path(&numbered_id(0))).unwrap();
    huge.set_len(1 << 40).unwrap();
    for number in 1..10_000 {
        std::fs::hard_link(files.path(&numbered_id(0)), files.path(&numbered_id(number))).unwrap();
    }
    let start = Instant::now();
    let sessions = files.list().unwrap();
    let took = start.elapsed();
    assert_eq!(sessions.len(), 10_000);
    assert!(sessions.iter().all(|session| session.size == 1 << 40));
    assert!(took < Duration::from_secs(2), "{took:?}");
    drop(std::fs::remove_dir_all(files.project_dir()));
    store(&mut files.create(&id()).unwrap(), &conversation(1));
    assert_eq!(files.newest().unwrap(), Some(id()));
}
