//! Walking the working directories on several threads.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use rustix::io::Errno;
use tillerman_ports::CheckpointError;

use crate::checkpoint::reach;
use crate::checkpoint::scan::Scan;
use crate::checkpoint::tree::{Dir, DirPath, Reach, Tree};

/// More threads than this wait for each other in the kernel.
const MOST_THREADS: usize = 8;

/// What a walk goes by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Route<'a> {
    /// Where it starts.
    pub(crate) roots: &'a [DirPath],
    /// Directories it does not look into.
    pub(crate) excluded: &'a [DirPath],
    /// What directories held at the newest checkpoint.
    pub(crate) latest: &'a Tree,
    /// What is known about directories from elsewhere, which is newer.
    pub(crate) aside: &'a BTreeMap<DirPath, Arc<Dir>>,
}

/// What a walk found, also when it did not reach its end.
#[derive(Debug)]
pub(crate) struct Walked {
    pub(crate) dirs: BTreeMap<DirPath, Arc<Dir>>,
    pub(crate) failure: Option<CheckpointError>,
}

/// Walks everything below the roots.
pub(crate) fn walk(route: Route<'_>, scan: &Scan<'_>) -> Walked {
    let starts = route.roots.iter().map(|root| Job { path: Arc::clone(root), device: None });
    let queue = Queue::new(starts.collect());
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
    let found: Vec<(DirPath, Arc<Dir>)> = std::thread::scope(|scope| {
        let work = || work(route, scan, &queue);
        let helpers: Vec<_> = (1..threads)
            .filter_map(|_| std::thread::Builder::new().spawn_scoped(scope, work).ok())
            .collect();
        let mut found = work();
        for helper in helpers {
            match helper.join() {
                Ok(more) => found.extend(more),
                Err(_) => queue.stop(CheckpointError::Abandoned),
            }
        }
        found
    });
    Walked { dirs: found.into_iter().collect(), failure: queue.into_failure() }
}

/// A directory to look into.
#[derive(Debug)]
struct Job {
    path: DirPath,
    /// The file system it must be on; roots may be on any.
    device: Option<u64>,
}

fn work(route: Route<'_>, scan: &Scan<'_>, queue: &Queue) -> Vec<(DirPath, Arc<Dir>)> {
    let mut found = Vec::new();
    while let Some(mut claim) = queue.claim() {
        let visited = if scan.abandoned.load(Ordering::Relaxed) {
            Err(CheckpointError::Abandoned)
        } else {
            visit(route, scan, &claim.job, &mut found)
        };
        match visited {
            Ok(children) => claim.children = children,
            Err(failure) => queue.stop(failure),
        }
    }
    found
}

fn visit(
    route: Route<'_>,
    scan: &Scan<'_>,
    job: &Job,
    found: &mut Vec<(DirPath, Arc<Dir>)>,
) -> Result<Vec<Job>, CheckpointError> {
    let before = route.aside.get(&job.path).or_else(|| route.latest.dirs.get(&job.path));
    let mut put = |dir: Dir| {
        // The old record is shared, so that the trees compare quickly.
        let dir = match before {
            Some(before) if **before == dir => Arc::clone(before),
            _ => Arc::new(dir),
        };
        found.push((Arc::clone(&job.path), dir));
        Ok(Vec::new())
    };
    if route.excluded.iter().any(|path| **path == *job.path) {
        return put(Dir::closed(0, Reach::Excluded));
    }
    let fd = match reach::open_directory(&job.path) {
        Ok(fd) => fd,
        // It vanished during the walk, or something else took its place.
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(Vec::new()),
        Err(error) if reach::is_shortage(error) => {
            let what = "the files cannot be looked through".to_owned();
            return Err(CheckpointError::Io { what, source: error.into() });
        }
        Err(_) => return put(Dir::closed(mode_of(&job.path), Reach::Unreadable)),
    };
    let Ok(stat) = rustix::fs::fstat(&fd) else {
        return put(Dir::closed(0, Reach::Unreadable));
    };
    let device = job.device.unwrap_or(stat.st_dev);
    if stat.st_dev != device {
        return put(Dir::closed(0, Reach::Foreign));
    }
    let scanned = scan.directory(&fd, &stat, before.map(|dir| &**dir))?;
    match (scanned.dir, before) {
        (None, Some(before)) => found.push((Arc::clone(&job.path), Arc::clone(before))),
        (dir, _) => found.extend(dir.map(|dir| (Arc::clone(&job.path), Arc::new(dir)))),
    }
    let child = |name: CString| Job {
        path: reach::join(&job.path, name.as_bytes()).into(),
        device: Some(device),
    };
    Ok(scanned.children.into_iter().map(child).collect())
}

fn mode_of(path: &[u8]) -> u32 {
    let stat = reach::split(path).and_then(|(parent, name)| {
        let parent = reach::open_directory(parent).ok()?;
        reach::look(&parent, name).ok()?
    });
    stat.map_or(0, |stat| stat.st_mode & 0o7777)
}

/// Directories that wait, the newest first, so that few wait at a time.
#[derive(Debug)]
struct Queue {
    state: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Debug)]
struct Waiting {
    jobs: Vec<Job>,
    /// Jobs that are being done and may bring more.
    busy: usize,
    failure: Option<CheckpointError>,
}

impl Queue {
    fn new(jobs: Vec<Job>) -> Self {
        let state = Mutex::new(Waiting { jobs, busy: 0, failure: None });
        Self { state, changed: Condvar::new() }
    }

    /// The next job; nothing when all is done or given up.
    fn claim(&self) -> Option<Claim<'_>> {
        let mut state = self.lock();
        loop {
            if state.failure.is_some() {
                return None;
            }
            if let Some(job) = state.jobs.pop() {
                state.busy += 1;
                return Some(Claim { queue: self, job, children: Vec::new() });
            }
            if state.busy == 0 {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn stop(&self, failure: CheckpointError) {
        self.lock().failure.get_or_insert(failure);
        self.changed.notify_all();
    }

    fn into_failure(self) -> Option<CheckpointError> {
        self.state.into_inner().unwrap_or_else(PoisonError::into_inner).failure
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A job that somebody does. Dropping it says that it is done, also when that ended in a panic,
/// since the others would wait for ever otherwise.
struct Claim<'a> {
    queue: &'a Queue,
    job: Job,
    children: Vec<Job>,
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        let mut state = self.queue.lock();
        state.busy -= 1;
        state.jobs.append(&mut self.children);
        if state.busy == 0 || !state.jobs.is_empty() {
            self.queue.changed.notify_all();
        }
    }
}
