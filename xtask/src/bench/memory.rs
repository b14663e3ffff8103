//! Resident memory of a process and everything it started, from `/proc`.

use std::collections::HashMap;
use std::path::Path;

/// Bytes that a process and its descendants hold in memory; nothing where `/proc` cannot tell.
pub(crate) fn resident(process: u32) -> Option<u64> {
    let parents = parents();
    let mut family = vec![process];
    let mut next = 0;
    while let Some(parent) = family.get(next).copied() {
        let children = parents.iter().filter(|(_, of)| **of == parent);
        family.extend(children.map(|(child, _)| *child));
        next += 1;
    }
    let own = resident_of(process)?;
    let others: u64 = family.iter().skip(1).filter_map(|process| resident_of(*process)).sum();
    Some(own + others)
}

/// The parent of every process.
fn parents() -> HashMap<u32, u32> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return HashMap::new() };
    let processes = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    processes.filter_map(|process: u32| Some((process, parent(process)?))).collect()
}

fn parent(process: u32) -> Option<u32> {
    let stat = read(process, "stat")?;
    // The command in parentheses may hold spaces and parentheses itself; the rest does not.
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(1)?.parse().ok()
}

fn resident_of(process: u32) -> Option<u64> {
    let status = read(process, "status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

fn read(process: u32, file: &str) -> Option<String> {
    std::fs::read_to_string(Path::new("/proc").join(process.to_string()).join(file)).ok()
}
