//! A disk that fails on demand must never cost an acknowledged entry.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use rustix::io::Errno;
use serde_json::json;
use tillerman_ports::{AppendError, Transcript as _};
use tillerman_protocol::SessionId;
use tillerman_protocol::transcript::Entry;

use super::{FileTranscript, Stage};
use crate::disk::{Disk, may_pass};
use crate::line;
use crate::load::{Loaded, ResumeAt};
use crate::sessions::SessionFiles;

const SESSION: &str = "0b0e7f6a-3f5d-4c58-9d2e-7a4c1f0b9a11";

#[derive(Clone, Copy, Debug)]
enum Fault {
    /// The operation fails.
    Fails(Errno),
    /// An append writes only a part; other operations fail.
    Short,
    /// An append writes a part and still fails.
    PartThenFails(Errno),
}

/// A file in memory, with what a loss of power would leave of it.
#[derive(Debug, Default)]
struct SimulatedDisk(Mutex<Simulation>);

#[derive(Debug, Default)]
struct Simulation {
    bytes: Vec<u8>,
    durable: Vec<u8>,
    operations: usize,
    faulty: std::ops::Range<usize>,
    fault: Option<Fault>,
    only_syncs: bool,
}

impl Simulation {
    /// Counts an operation and tells the fault that strikes it.
    fn strike(&mut self, is_sync: bool) -> Option<Fault> {
        if self.only_syncs && !is_sync {
            return None;
        }
        let at = self.operations;
        self.operations += 1;
        self.fault.filter(|_| self.faulty.contains(&at))
    }

    fn refuse(&mut self, is_sync: bool) -> io::Result<()> {
        match self.strike(is_sync) {
            None => Ok(()),
            Some(Fault::Fails(errno) | Fault::PartThenFails(errno)) => Err(errno.into()),
            Some(Fault::Short) => Err(Errno::IO.into()),
        }
    }
}

impl Disk for SimulatedDisk {
    fn size(&self) -> io::Result<u64> {
        let mut simulation = self.0.lock().unwrap();
        simulation.refuse(false)?;
        Ok(simulation.bytes.len() as u64)
    }

    fn append(&self, bytes: &[u8]) -> io::Result<usize> {
        let mut simulation = self.0.lock().unwrap();
        let part = &bytes[..bytes.len() / 2];
        match simulation.strike(false) {
            None => {
                simulation.bytes.extend_from_slice(bytes);
                Ok(bytes.len())
            }
            Some(Fault::Fails(errno)) => Err(errno.into()),
            Some(Fault::Short) => {
                simulation.bytes.extend_from_slice(part);
                Ok(part.len())
            }
            Some(Fault::PartThenFails(errno)) => {
                simulation.bytes.extend_from_slice(part);
                Err(errno.into())
            }
        }
    }

    fn truncate(&self, size: u64) -> io::Result<()> {
        let mut simulation = self.0.lock().unwrap();
        simulation.refuse(false)?;
        simulation.bytes.truncate(usize::try_from(size).unwrap());
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        let mut simulation = self.0.lock().unwrap();
        simulation.refuse(true)?;
        simulation.durable = simulation.bytes.clone();
        Ok(())
    }
}

fn simulated(disk: &Arc<SimulatedDisk>) -> FileTranscript {
    let disk: Arc<dyn Disk> = Arc::<SimulatedDisk>::clone(disk);
    FileTranscript {
        stage: Stage::Open(disk),
        ..FileTranscript::planned(PathBuf::from("/simulated/file.jsonl"))
    }
}

fn faulty_disk(faulty: std::ops::Range<usize>, fault: Fault) -> Arc<SimulatedDisk> {
    let simulation = Simulation { faulty, fault: Some(fault), ..Simulation::default() };
    Arc::new(SimulatedDisk(Mutex::new(simulation)))
}

fn prompt(number: usize, parent: Option<usize>) -> Entry {
    serde_json::from_value(json!({
        "type": "user", "uuid": format!("entry-{number}"),
        "parentUuid": parent.map(|parent| format!("entry-{parent}")),
        "sessionId": SESSION, "message": {"role": "user", "content": format!("prompt {number}")},
    }))
    .unwrap()
}

fn wait<T>(future: tillerman_ports::BoxFuture<T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

/// Puts bytes where a session would be and resumes it.
fn reopen(bytes: &[u8], name: &str) -> (tempfile::TempDir, FileTranscript, Loaded) {
    let directory = tempfile::Builder::new().prefix(name).tempdir().unwrap();
    let files = SessionFiles::new(directory.path().to_owned(), directory.path());
    let id = SessionId::new(SESSION);
    std::fs::create_dir_all(files.project_dir()).unwrap();
    std::fs::write(files.path(&id), bytes).unwrap();
    let (transcript, loaded) = files.resume(&id, &ResumeAt::End).unwrap();
    (directory, transcript, loaded)
}

fn numbers(loaded: &Loaded) -> Vec<usize> {
    let ids = loaded.entries.iter().filter_map(|entry| Some(entry.link()?.uuid.as_str()));
    ids.map(|id| id.trim_start_matches("entry-").parse().unwrap()).collect()
}

/// Appends six entries, trying each a few times, with a sync after every second one. Returns the
/// entries that were acknowledged.
fn run(transcript: &mut FileTranscript) -> Vec<usize> {
    let mut acknowledged: Vec<usize> = Vec::new();
    for number in 0..6 {
        let entry = prompt(number, acknowledged.last().copied());
        if (0..5).any(|_| transcript.append(&entry).is_ok()) {
            acknowledged.push(number);
        }
        if number % 2 == 1 && wait(transcript.sync()).is_err() {
            break;
        }
    }
    acknowledged
}

#[test]
fn a_fault_at_any_operation_loses_and_repeats_nothing() {
    let faults = [
        Fault::Fails(Errno::NOSPC),
        Fault::Fails(Errno::IO),
        Fault::Short,
        Fault::PartThenFails(Errno::DQUOT),
    ];
    for fault in faults {
        for length in 1..=4 {
            for start in 0.. {
                let disk = faulty_disk(start..start + length, fault);
                let acknowledged = run(&mut simulated(&disk));
                let simulation = disk.0.lock().unwrap();
                if simulation.operations <= start {
                    break;
                }
                let (_directory, mut transcript, loaded) = reopen(&simulation.bytes, "fault");
                let stored = numbers(&loaded);
                assert_eq!(stored, acknowledged, "{fault:?} at {start} for {length}");
                assert_eq!(loaded.repairs.skipped, []);
                transcript.append(&prompt(99, acknowledged.last().copied())).unwrap();
                let bytes = std::fs::read(transcript.file()).unwrap();
                drop(transcript);
                let (_again, _, loaded) = reopen(&bytes, "after");
                let expected: Vec<usize> = acknowledged.into_iter().chain([99]).collect();
                assert_eq!(numbers(&loaded), expected);
                assert_eq!(loaded.repairs.torn_tail_bytes, 0);
            }
        }
    }
}

#[test]
fn a_loss_of_power_keeps_what_was_synced() {
    let disk = Arc::new(SimulatedDisk::default());
    let mut transcript = simulated(&disk);
    for number in 0..3 {
        transcript.append(&prompt(number, number.checked_sub(1))).unwrap();
    }
    wait(transcript.sync()).unwrap();
    transcript.append(&prompt(3, Some(2))).unwrap();
    transcript.append(&prompt(4, Some(3))).unwrap();
    let simulation = disk.0.lock().unwrap();
    for kept in simulation.durable.len()..=simulation.bytes.len() {
        let (_directory, _, loaded) = reopen(&simulation.bytes[..kept], "power");
        let stored = numbers(&loaded);
        assert_eq!(stored[..3], [0, 1, 2], "cut at {kept}");
        assert!(stored.is_sorted(), "cut at {kept}: {stored:?}");
        assert_eq!(stored.iter().collect::<BTreeSet<_>>().len(), stored.len());
    }
    // Pages may reach the disk out of order: the first unsynced line is a hole, the second is not.
    let hole = simulation.durable.len()..simulation.bytes.len() - 10;
    let mut bytes = simulation.bytes.clone();
    bytes[hole].fill(0);
    let (_directory, _, loaded) = reopen(&bytes, "hole");
    assert_eq!(numbers(&loaded), [0, 1, 2]);
}

#[test]
fn a_failed_sync_is_never_forgotten() {
    let disk = faulty_disk(0..1, Fault::Fails(Errno::IO));
    disk.0.lock().unwrap().only_syncs = true;
    let mut transcript = simulated(&disk);
    transcript.append(&prompt(0, None)).unwrap();
    let first = wait(transcript.sync()).unwrap_err();
    assert_eq!(first.source.raw_os_error(), Some(Errno::IO.raw_os_error()));
    let later: [AppendError; 2] =
        [transcript.append(&prompt(1, Some(0))).unwrap_err(), wait(transcript.sync()).unwrap_err()];
    for error in later {
        assert!(!error.may_pass);
        assert!(error.source.to_string().contains("earlier synchronisation failed"));
    }
    assert_eq!(disk.0.lock().unwrap().operations, 1, "the sync is not tried again");
}

#[tokio::test]
async fn a_sync_nobody_waits_for_still_counts() {
    let disk = faulty_disk(0..1, Fault::Fails(Errno::IO));
    disk.0.lock().unwrap().only_syncs = true;
    let mut transcript = simulated(&disk);
    drop(transcript.sync());
    transcript.sync().await.unwrap_err();
    transcript.append(&prompt(0, None)).unwrap_err();
}

#[test]
fn a_sync_works_outside_a_runtime() {
    use std::task::{Context, Poll, Waker};

    let disk = Arc::new(SimulatedDisk::default());
    let mut transcript = simulated(&disk);
    transcript.append(&prompt(0, None)).unwrap();
    let mut sync = transcript.sync();
    let poll = sync.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert!(matches!(poll, Poll::Ready(Ok(()))));
    assert!(!disk.0.lock().unwrap().durable.is_empty());
}

#[test]
fn a_full_disk_may_pass_and_a_broken_one_may_not() {
    let full = OpenOptions::new().read(true).append(true).open("/dev/full").unwrap();
    let mut transcript = FileTranscript::opened(PathBuf::from("/dev/full"), full);
    let error = transcript.append(&prompt(0, None)).unwrap_err();
    assert!(error.may_pass, "{error:?}");
    assert_eq!(error.source.raw_os_error(), Some(Errno::NOSPC.raw_os_error()));

    for (fault, passes) in [
        (Fault::Short, true),
        (Fault::Fails(Errno::NOSPC), true),
        (Fault::Fails(Errno::DQUOT), true),
        (Fault::Fails(Errno::MFILE), true),
        (Fault::Fails(Errno::NFILE), true),
        (Fault::Fails(Errno::AGAIN), true),
        (Fault::Fails(Errno::INTR), true),
        (Fault::Fails(Errno::IO), false),
        (Fault::Fails(Errno::ROFS), false),
    ] {
        let disk = faulty_disk(1..2, fault);
        let error = simulated(&disk).append(&prompt(0, None)).unwrap_err();
        assert_eq!(error.may_pass, passes, "{fault:?}");
        assert_eq!(may_pass(&error.source), passes);
        assert!(disk.0.lock().unwrap().bytes.is_empty(), "{fault:?} left something behind");
    }
}

#[test]
fn a_line_that_a_helper_added_meanwhile_survives_a_rollback() {
    let disk = faulty_disk(3..4, Fault::Short);
    let mut transcript = simulated(&disk);
    transcript.append(&prompt(0, None)).unwrap();
    let title = b"{\"type\":\"custom-title\",\"customTitle\":\"t\",\"sessionId\":\"s\"}\n";
    disk.0.lock().unwrap().bytes.extend_from_slice(title);
    transcript.append(&prompt(1, Some(0))).unwrap_err();
    transcript.append(&prompt(1, Some(0))).unwrap();
    let bytes = disk.0.lock().unwrap().bytes.clone();
    let (_directory, _, loaded) = reopen(&bytes, "helper");
    assert_eq!(numbers(&loaded), [0, 1]);
    assert_eq!(loaded.entries.len(), 3);
}

#[test]
fn a_first_append_that_fails_leaves_no_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("new/file.jsonl");
    let mut transcript = FileTranscript::planned(path.clone());
    std::fs::write(directory.path().join("new"), "in the way").unwrap();
    assert!(!transcript.append(&prompt(0, None)).unwrap_err().may_pass);
    std::fs::remove_file(directory.path().join("new")).unwrap();
    transcript.append(&prompt(0, None)).unwrap();
    let line = std::fs::read(&path).unwrap();
    assert_eq!(line, line::encode(&prompt(0, None)).unwrap());
    assert!(File::open(path).unwrap().metadata().unwrap().is_file());
}
