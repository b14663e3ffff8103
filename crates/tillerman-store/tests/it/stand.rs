//! A working directory with checkpoints, and pictures of what it holds.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use tempfile::TempDir;
use tillerman_ports::{CheckpointError, Checkpoints as _, Extent, Rewound, Taken};
use tillerman_protocol::{EntryId, SessionId};
use tillerman_store::{CheckpointLimits, FileCheckpoints, file_history_dir};

/// Every name below a directory with its mode and, for files, its contents; `.git` left out.
pub(crate) type Picture = BTreeMap<PathBuf, (u32, Option<Vec<u8>>)>;

pub(crate) struct Stand {
    pub(crate) root: TempDir,
    pub(crate) limits: CheckpointLimits,
    session: SessionId,
    checkpoints: FileCheckpoints,
}

pub(crate) fn session() -> SessionId {
    SessionId::new("6ba7b810-9dad-41d1-80b4-00c04fd430c8")
}

impl Stand {
    pub(crate) fn new() -> Self {
        Self::with(CheckpointLimits::default())
    }

    pub(crate) fn with(limits: CheckpointLimits) -> Self {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("work")).unwrap();
        std::fs::create_dir(root.path().join("config")).unwrap();
        let checkpoints = FileCheckpoints::new(root.path().join("config"), session(), limits);
        Self { root, limits, session: session(), checkpoints }
    }

    /// Goes on in the same directory as another session.
    pub(crate) fn another_session(&mut self, session: SessionId) {
        self.session = session;
        self.reopen();
    }

    /// Forgets everything that is only in memory, as a new process does.
    pub(crate) fn reopen(&mut self) {
        // The old one holds the lock until it is gone.
        let config = self.root.path().join("config");
        let nowhere = FileCheckpoints::new(PathBuf::new(), session(), self.limits);
        drop(std::mem::replace(&mut self.checkpoints, nowhere));
        self.checkpoints = FileCheckpoints::new(config, self.session.clone(), self.limits);
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join("work").join(name)
    }

    pub(crate) fn store(&self) -> PathBuf {
        file_history_dir(&self.root.path().join("config"), &self.session)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn exists(&self, name: &str) -> bool {
        self.path(name).symlink_metadata().is_ok()
    }

    pub(crate) fn picture(&self) -> Picture {
        picture(&self.path(""))
    }

    pub(crate) fn take(&self, message: &str) -> Taken {
        self.try_take(message).unwrap()
    }

    pub(crate) fn try_take(&self, message: &str) -> Result<Taken, CheckpointError> {
        self.take_of(message, vec![self.path("")])
    }

    pub(crate) fn take_of(
        &self,
        message: &str,
        directories: Vec<PathBuf>,
    ) -> Result<Taken, CheckpointError> {
        at_once(self.checkpoints.take(vec![EntryId::new(message)], directories))
    }

    pub(crate) fn rewind(&self, message: &str) -> Rewound {
        self.try_rewind(message).unwrap()
    }

    pub(crate) fn try_rewind(&self, message: &str) -> Result<Rewound, CheckpointError> {
        at_once(self.checkpoints.rewind(EntryId::new(message), Extent::Whole))
    }

    pub(crate) fn dry_run(&self, message: &str) -> Rewound {
        at_once(self.checkpoints.rewind(EntryId::new(message), Extent::DryRun)).unwrap()
    }

    /// The kept contents, by path.
    pub(crate) fn objects(&self) -> Vec<PathBuf> {
        let shelves = std::fs::read_dir(self.store().join("objects")).unwrap();
        let files = shelves.flat_map(|shelf| {
            std::fs::read_dir(shelf.unwrap().path()).into_iter().flatten().map(|it| it.unwrap())
        });
        files.map(|file| file.path()).collect()
    }
}

/// Outside an async runtime checkpoints are taken on the spot.
fn at_once<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("it should not have to wait"),
    }
}

pub(crate) fn picture(directory: &Path) -> Picture {
    let mut picture = Picture::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        if entry.file_name() == ".git" {
            continue;
        }
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        let mode = entry.metadata().unwrap().permissions().mode() & 0o7777;
        if kind.is_dir() {
            picture.extend(self::picture(&path));
            picture.insert(path, (mode, None));
        } else if kind.is_file() {
            let contents = std::fs::read(&path).unwrap();
            picture.insert(path, (mode, Some(contents)));
        } else {
            picture.insert(path, (0, None));
        }
    }
    picture
}

/// Runs something as a user who is not root, since root may read and write everything.
pub(crate) fn as_somebody<T: Send>(stand: &Stand, work: impl FnOnce() -> T + Send) -> T {
    let nobody = rustix::fs::Uid::from_raw(65_534);
    let is_root = rustix::process::getuid().is_root();
    std::thread::scope(|scope| {
        let work = move || {
            if is_root {
                give_away(stand.root.path(), nobody);
                rustix::thread::set_thread_uid(nobody).unwrap();
            }
            work()
        };
        scope.spawn(work).join().unwrap()
    })
}

fn give_away(path: &Path, owner: rustix::fs::Uid) {
    let flags = rustix::fs::AtFlags::SYMLINK_NOFOLLOW;
    rustix::fs::chownat(rustix::fs::CWD, path, Some(owner), None, flags).unwrap();
    if path.symlink_metadata().unwrap().is_dir() {
        for entry in std::fs::read_dir(path).unwrap() {
            give_away(&entry.unwrap().path(), owner);
        }
    }
}
