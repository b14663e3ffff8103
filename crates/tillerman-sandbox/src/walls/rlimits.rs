//! Limits of the process, for what no control group limits.

use rustix::process::{Resource, Rlimit, setrlimit};

use crate::confinement::Limits;
use crate::plan::Namespaces;
use crate::stage::StageError;

/// Sets the limits for this process and everything it starts.
pub(crate) fn apply(limits: Limits, namespaces: Namespaces) -> Result<(), StageError> {
    set(Resource::Core, 0)?;
    if let Some(bytes) = limits.memory {
        // Counts what is really written to, unlike the size of the address space, which some
        // runtimes reserve by the terabyte.
        set(Resource::Data, bytes)?;
    }
    if let Some(processes) = limits.processes {
        let others = match namespaces {
            // In a user namespace of its own the kernel counts only what is inside.
            Namespaces::Own => 0,
            Namespaces::Shared => threads_of_this_user(),
        };
        set(Resource::Nproc, u64::from(processes) + others)?;
    }
    Ok(())
}

fn set(resource: Resource, limit: u64) -> Result<(), StageError> {
    let limit = Rlimit { current: Some(limit), maximum: Some(limit) };
    setrlimit(resource, limit)
        .map_err(|error| StageError::step(format!("no limit could be set for {resource:?}"), error))
}

fn threads_of_this_user() -> u64 {
    use std::os::unix::fs::MetadataExt as _;
    let own = rustix::process::getuid().as_raw();
    let Ok(processes) = std::fs::read_dir("/proc") else { return 0 };
    let threads = processes.flatten().filter_map(|process| {
        let is_process = process.file_name().to_str()?.parse::<u32>().is_ok();
        let is_own = process.metadata().ok()?.uid() == own;
        let tasks = std::fs::read_dir(process.path().join("task")).ok()?;
        (is_process && is_own).then(|| tasks.count() as u64)
    });
    threads.sum()
}
