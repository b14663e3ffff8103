//! Damaged files lose what is damaged and nothing else.

use tillerman_ports::Transcript as _;
use tillerman_store::{Loaded, ResumeAt, SessionFiles, SkipReason, SkippedLine};

use crate::sample::{conversation, files, id, put, stored, user, uuids};

fn whole_file(files: &SessionFiles, length: usize) -> Vec<u8> {
    stored(files, &conversation(length));
    std::fs::read(files.path(&id())).unwrap()
}

fn read(files: &SessionFiles) -> Loaded {
    files.read(&id(), &ResumeAt::End).unwrap()
}

#[test]
fn a_line_torn_at_any_byte_is_cut_off_and_the_session_goes_on() {
    let directory = tempfile::tempdir().unwrap();
    let files = files(directory.path());
    let bytes = whole_file(&files, 3);
    let last = bytes[..bytes.len() - 1].iter().rposition(|&byte| byte == b'\n').unwrap() + 1;
    for cut in last..bytes.len() {
        put(&files, &id(), &bytes[..cut]);
        let (mut transcript, loaded) = files.resume(&id(), &ResumeAt::End).unwrap();
        // Only the newline missing means that the whole entry is there.
        let expected: &[&str] =
            if cut == bytes.len() - 1 { &["e0", "e1", "e2"] } else { &["e0", "e1"] };
        assert_eq!(uuids(&loaded), expected, "cut at {cut}");
        let torn = if expected.len() == 3 { 0 } else { cut - last };
        assert_eq!(loaded.repairs.torn_tail_bytes, torn as u64, "cut at {cut}");
        assert_eq!(loaded.repairs.skipped, [], "cut at {cut}");
        transcript.append(&user("next", expected.last().copied(), "go on")).unwrap();
        drop(transcript);
        let loaded = read(&files);
        assert_eq!(uuids(&loaded), [expected, &["next"]].concat(), "cut at {cut}");
        assert_eq!(loaded.repairs, tillerman_store::Repairs::default());
    }
}

#[test]
fn a_flipped_bit_loses_at_most_its_own_line() {
    let directory = tempfile::tempdir().unwrap();
    let files = files(directory.path());
    let bytes = whole_file(&files, 3);
    let whole = read(&files);
    let starts: Vec<usize> = std::iter::once(0)
        .chain(bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1))
        .collect();
    // Two bits of every byte, and all of those that end a line and guard it.
    let flips = (0..bytes.len()).flat_map(|at| (0..8).map(move |bit| (at, bit)));
    let ends: Vec<usize> = starts[1..].to_vec();
    let near_end = |at: usize| ends.iter().any(|&end| at < end && end <= at + 20);
    let flips = flips.filter(|&(at, bit)| bit == at % 8 || bit == (at + 3) % 8 || near_end(at));
    for (at, bit) in flips {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << bit;
        put(&files, &id(), &flipped);
        let loaded = read(&files);
        let line = starts.partition_point(|&start| start <= at) - 1;
        let kept: Vec<_> =
            (0..3).filter(|&other| other != line).map(|other| &whole.entries[other]).collect();
        for entry in kept {
            assert!(loaded.entries.contains(entry), "bit {bit} of byte {at} cost another line");
        }
        let changed = loaded.entries.iter().find(|entry| !whole.entries.contains(entry));
        assert_eq!(changed, None, "bit {bit} of byte {at} went unnoticed");
        let reported = loaded.repairs.torn_tail_bytes > 0 || !loaded.repairs.skipped.is_empty();
        assert_eq!(reported, loaded.entries.len() < 3, "bit {bit} of byte {at}");
    }
}

#[test]
fn damage_in_the_middle_is_reported_and_the_rest_is_kept() {
    let directory = tempfile::tempdir().unwrap();
    let files = files(directory.path());
    let text = String::from_utf8(whole_file(&files, 6)).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines[1] = lines[1].replace("grüße", "grüsse");
    lines[3] = "}{ not json".to_owned();
    put(&files, &id(), format!("{}\n\n", lines.join("\n")));
    let before = std::fs::read(files.path(&id())).unwrap();
    let (_transcript, loaded) = files.resume(&id(), &ResumeAt::End).unwrap();
    assert_eq!(uuids(&loaded), ["e0", "e2", "e4", "e5"]);
    let skipped = [
        SkippedLine { line: 2, reason: SkipReason::Checksum },
        SkippedLine { line: 4, reason: SkipReason::NotJson },
    ];
    assert_eq!(loaded.repairs.skipped, skipped);
    assert_eq!(loaded.repairs.torn_tail_bytes, 0);
    assert_eq!(std::fs::read(files.path(&id())).unwrap(), before, "damage stays for inspection");
}

#[test]
fn reading_repairs_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let files = files(directory.path());
    let mut bytes = whole_file(&files, 2);
    bytes.extend_from_slice(b"{\"type\":\"user\",\"uu");
    put(&files, &id(), &bytes);
    let loaded = read(&files);
    assert_eq!(uuids(&loaded), ["e0", "e1"]);
    assert_eq!(loaded.repairs.torn_tail_bytes, 18);
    assert_eq!(std::fs::read(files.path(&id())).unwrap(), bytes);
}

#[test]
fn garbage_of_every_kind_is_survived() {
    let directory = tempfile::tempdir().unwrap();
    let files = files(directory.path());
    let sound = whole_file(&files, 2);
    let deep = format!("{}{}\n", "[".repeat(5_000), "]".repeat(5_000));
    let garbage: [&[u8]; 9] = [
        b"\n\n\n",
        b"\0\0\0\0",
        b"\xff\xfe\n",
        b"null\n",
        b"{}\n",
        b"{\"type\":7,\"uuid\":[],\"parentUuid\":{},\"message\":\"x\",\"isSidechain\":\"\"}\n",
        b"{\"type\":\"user\",\"uuid\":\"odd\",\"parentUuid\":\"odd\",\"message\":7}\n",
        b"{} {} {} {} {} {} {} {} {} {} {} {}\n",
        deep.as_bytes(),
    ];
    for junk in garbage {
        put(&files, &id(), [junk, b"\n", &sound].concat());
        assert_eq!(uuids(&read(&files)), ["e0", "e1"]);
        put(&files, &id(), [&sound, junk, b"\n", junk].concat());
        read(&files);
        files.resume(&id(), &ResumeAt::End).unwrap();
    }
}
