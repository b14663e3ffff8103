//! Control groups: limits for a command together with everything it starts.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::capabilities::GroupLimits;
use crate::confinement::Limits;

/// The control groups of one command. They go away with it.
#[derive(Debug, Default)]
pub(crate) struct ControlGroups {
    directories: Vec<PathBuf>,
    /// What they enforce.
    pub(crate) enforced: GroupLimits,
}

/// Groups that were still in use when they were to go.
static LEFTOVER: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

#[derive(Clone, Copy)]
enum Limit {
    Memory,
    Processes,
}

/// A place where groups can be made, and the files that set limits there.
struct Place {
    parent: PathBuf,
    limits: &'static [(Limit, &'static str)],
}

impl ControlGroups {
    /// Makes groups for the limits, as far as this process may.
    pub(crate) fn make(limits: Limits) -> Self {
        let mut groups = Self::default();
        for place in places() {
            groups.make_in(&place, limits);
        }
        groups
    }

    /// The files a process writes itself into.
    pub(crate) fn entrances(&self) -> Vec<PathBuf> {
        self.directories.iter().map(|directory| directory.join("cgroup.procs")).collect()
    }

    /// What is left to limit by other means.
    pub(crate) fn remaining(&self, limits: Limits) -> Limits {
        Limits { memory: limits.memory.filter(|_| !self.enforced.memory), ..limits }
    }

    fn make_in(&mut self, place: &Place, limits: Limits) {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("tillerman-{}-{count}", std::process::id());
        let directory = place.parent.join(name);
        if std::fs::create_dir(&directory).is_err() {
            return;
        }
        let mut useful = false;
        for (limit, file) in place.limits {
            let value = match limit {
                Limit::Memory => limits.memory,
                Limit::Processes => limits.processes.map(u64::from),
            };
            let Some(value) = value else { continue };
            if set(&directory.join(file), value).is_ok() {
                useful = true;
                match limit {
                    Limit::Memory => self.enforced.memory = true,
                    Limit::Processes => self.enforced.processes = true,
                }
            }
        }
        if useful {
            self.directories.push(directory);
        } else {
            drop(std::fs::remove_dir(&directory));
        }
    }
}

impl Drop for ControlGroups {
    fn drop(&mut self) {
        for directory in &self.directories {
            // Where the kernel can end a whole group at once, whoever is left in it ends now.
            drop(std::fs::write(directory.join("cgroup.kill"), "1"));
        }
        // Processes that were just killed may keep a group for a moment; the next command tries
        // again, so that nobody has to wait here.
        let mut leftover = LEFTOVER.lock().unwrap_or_else(PoisonError::into_inner);
        leftover.append(&mut self.directories);
        leftover.retain(|directory| {
            std::fs::remove_dir(directory)
                .is_err_and(|error| error.kind() != io::ErrorKind::NotFound)
        });
    }
}

fn set(file: &Path, value: u64) -> io::Result<()> {
    // Opening must not create: a file that is not there is a limit that is not there.
    use std::io::Write as _;
    std::fs::OpenOptions::new().write(true).open(file)?.write_all(value.to_string().as_bytes())
}

/// Where this process is in the hierarchies of groups.
fn places() -> Vec<Place> {
    const MEMORY: &[(Limit, &str)] =
        &[(Limit::Memory, "memory.limit_in_bytes"), (Limit::Memory, "memory.memsw.limit_in_bytes")];
    const PROCESSES: &[(Limit, &str)] = &[(Limit::Processes, "pids.max")];
    const UNIFIED: &[(Limit, &str)] = &[
        (Limit::Memory, "memory.max"),
        (Limit::Memory, "memory.swap.max"),
        (Limit::Processes, "pids.max"),
    ];
    let membership = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let place = |line: &str| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next()?, fields.next()?);
        let has = |name: &str| controllers.split(',').any(|controller| controller == name);
        let (mount, limits) = if controllers.is_empty() {
            (mounted(&mounts, "cgroup2", "")?, UNIFIED)
        } else if has("memory") {
            (mounted(&mounts, "cgroup", "memory")?, MEMORY)
        } else if has("pids") {
            (mounted(&mounts, "cgroup", "pids")?, PROCESSES)
        } else {
            return None;
        };
        Some(Place { parent: mount.join(path.trim_start_matches('/')), limits })
    };
    membership.lines().filter_map(place).collect()
}

/// Where a hierarchy is mounted.
fn mounted(mounts: &str, kind: &str, controller: &str) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        let mut after = after.split(' ');
        let (fs, options) = (after.next()?, after.nth(1)?);
        let fits = fs == kind
            && (controller.is_empty() || options.split(',').any(|option| option == controller));
        fits.then(|| before.split(' ').nth(4).map(PathBuf::from)).flatten()
    })
}
