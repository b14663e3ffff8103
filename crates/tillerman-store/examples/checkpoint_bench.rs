//! Measures checkpoints of a tree of 100,000 files: the first one, unchanged ones, and a small edit.
//!
//! `cargo run --release -p tillerman-store --example checkpoint_bench [files]`

use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use tillerman_ports::{Checkpoints as _, Extent};
use tillerman_protocol::{EntryId, SessionId};
use tillerman_store::{CheckpointLimits, FileCheckpoints};

const FILES: usize = 100_000;
const FILES_PER_DIRECTORY: usize = 100;
const ROUNDS: usize = 10;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let files = std::env::args().nth(1).map_or(Ok(FILES), |text| text.parse())?;
    let root = tempfile::tempdir()?;
    let (work, config) = (root.path().join("work"), root.path().join("config"));
    let mut out = std::io::stdout();
    let (_, time) = timed(|| build(&work, files))?;
    writeln!(out, "{files} files made in {time:?}")?;
    let session = SessionId::new("6ba7b810-9dad-41d1-80b4-00c04fd430c8");
    let limits = CheckpointLimits::default();
    let open = || FileCheckpoints::new(config.clone(), session.clone(), limits);
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let checkpoints = open();
    let take = |checkpoints: &FileCheckpoints, name: &str| {
        timed(|| {
            let taking = checkpoints.take(vec![EntryId::new(name)], vec![work.clone()]);
            Ok(runtime.block_on(taking)?)
        })
    };
    let (taken, time) = take(&checkpoints, "first")?;
    writeln!(out, "first checkpoint ({} files): {time:?}", taken.files)?;
    let (_, time) = take(&checkpoints, "settling")?;
    writeln!(out, "second (files of the last moment are read again): {time:?}")?;
    let mut times = Vec::new();
    for round in 0..ROUNDS {
        times.push(take(&checkpoints, &format!("unchanged-{round}"))?.1);
    }
    times.sort_unstable();
    let (median, worst) = (times[ROUNDS / 2], times[ROUNDS - 1]);
    writeln!(out, "unchanged, of {ROUNDS}: median {median:?}, worst {worst:?}")?;
    std::fs::write(work.join("d0/f0"), "changed")?;
    writeln!(out, "one file changed: {:?}", take(&checkpoints, "one")?.1)?;
    std::fs::remove_dir_all(work.join("d1"))?;
    let rewinding = || {
        let rewinding = checkpoints.rewind(EntryId::new("first"), Extent::Whole);
        Ok(runtime.block_on(rewinding)?)
    };
    let (rewound, time) = timed(rewinding)?;
    writeln!(out, "rewind of {} files: {time:?}", rewound.restored)?;
    drop(checkpoints);
    writeln!(out, "resumed, with opening: {:?}", take(&open(), "resumed")?.1)?;
    let other = SessionId::new("6ba7b811-9dad-41d1-80b4-00c04fd430c8");
    let second = FileCheckpoints::new(config.clone(), other, limits);
    writeln!(out, "first checkpoint of another session: {:?}", take(&second, "other")?.1)?;
    Ok(())
}

fn build(work: &Path, files: usize) -> Result<(), Box<dyn std::error::Error>> {
    for number in 0..files {
        let directory = work.join(format!("d{}", number / FILES_PER_DIRECTORY));
        if number % FILES_PER_DIRECTORY == 0 {
            std::fs::create_dir_all(&directory)?;
        }
        let text = format!("file {number}\n").repeat(20);
        std::fs::write(directory.join(format!("f{number}")), text)?;
    }
    Ok(())
}

fn timed<T>(
    work: impl FnOnce() -> Result<T, Box<dyn std::error::Error>>,
) -> Result<(T, Duration), Box<dyn std::error::Error>> {
    let start = Instant::now();
    let done = work()?;
    Ok((done, start.elapsed()))
}
