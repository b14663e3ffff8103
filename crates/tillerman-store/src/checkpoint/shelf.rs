//! Everything that is open while a session has checkpoints: its log, its contents, its newest tree.

use std::collections::{BTreeMap, HashMap};
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tillerman_ports::{CheckpointError, Extent, Rewound, Taken};
use tillerman_protocol::{EntryId, SessionId};

use crate::checkpoint::borrow::borrow;
use crate::checkpoint::change::Change;
use crate::checkpoint::codec::Record;
use crate::checkpoint::file_checkpoints::{CheckpointLimits, file_history_dir};
use crate::checkpoint::log::Log;
use crate::checkpoint::notes::Told;
use crate::checkpoint::objects::{Objects, Purpose, create_private};
use crate::checkpoint::plan::Plan;
use crate::checkpoint::scan::Scan;
use crate::checkpoint::tree::{Content, Digest, Dir, DirPath, Stamp, Tree};
use crate::checkpoint::walk::{Route, walk};
use crate::checkpoint::{lines, reach, restore};
use crate::disk::{self, Lock};
use crate::names;

/// The open checkpoints of a session.
#[derive(Debug)]
pub(crate) struct Shelf {
    directory: PathBuf,
    config_dir: PathBuf,
    limits: CheckpointLimits,
    /// Keeps other processes away until it is closed.
    _lock: File,
    log: Log,
    /// The names of the records of the log, oldest first.
    heads: Vec<Vec<String>>,
    next_number: u64,
    objects: Objects,
    /// The tree of the newest record.
    latest: Tree,
    /// Directories of walks that were given up, and what other sessions knew about them; the next
    /// walk need not read them again.
    aside: BTreeMap<DirPath, Arc<Dir>>,
    told: Told,
    /// Why there can be no checkpoints in this session.
    hopeless: Option<String>,
}

impl Shelf {
    pub(crate) fn open(
        config_dir: &Path,
        session: &SessionId,
        limits: CheckpointLimits,
    ) -> Result<Self, CheckpointError> {
        let directory = file_history_dir(config_dir, session);
        let failed = |source| CheckpointError::Io {
            what: format!("the checkpoints in {} cannot be opened", directory.display()),
            source,
        };
        if !names::is_uuid(session.as_str()) {
            return Err(failed(io::ErrorKind::InvalidInput.into()));
        }
        create_private(&directory).map_err(failed)?;
        let lock = lock(&directory.join("lock")).map_err(failed)?;
        let (mut log, mut records) = Log::open(&directory.join("log")).map_err(failed)?;
        if records.len() > limits.kept {
            records = newest(records, limits.kept);
            log.replace(&records).map_err(failed)?;
        }
        let objects = Objects::open(directory.join("objects"), &references(&records));
        let objects = objects.map_err(failed)?;
        let heads = records.iter().map(|record| record.messages.clone()).collect();
        let next_number = records.last().map_or(1, |record| record.number + 1);
        let mut latest = Tree::default();
        for record in records {
            record.change.apply(&mut latest);
        }
        latest.distrust(|digest| !objects.has(digest));
        let config_dir = config_dir.canonicalize().map_err(failed)?;
        Ok(Self {
            directory,
            config_dir,
            limits,
            _lock: lock,
            log,
            heads,
            next_number,
            objects,
            latest,
            aside: BTreeMap::new(),
            told: Told::default(),
            hopeless: None,
        })
    }

    pub(crate) fn take(
        &mut self,
        messages: &[EntryId],
        directories: &[PathBuf],
        abandoned: &AtomicBool,
    ) -> Result<Taken, CheckpointError> {
        if let Some(reason) = &self.hopeless {
            return Err(CheckpointError::TooMuch(reason.clone()));
        }
        let roots = roots(directories);
        if self.heads.is_empty() && self.aside.is_empty() {
            let room = self.limits.room();
            self.aside = borrow(&self.directory, &roots, &self.objects, room, abandoned);
        }
        let walked = self.walk(&roots, Purpose::Keep, abandoned);
        if let Err(CheckpointError::TooMuch(reason)) = &walked {
            self.hopeless = Some(reason.clone());
        }
        let tree = walked?;
        // Whoever stopped waiting has gone on, and what was seen last may be their work already.
        if abandoned.load(Ordering::Relaxed) {
            return Err(CheckpointError::Abandoned);
        }
        self.store(messages, tree)?;
        let notes = self.told.news(&self.latest, self.limits.room());
        let files = self.latest.dirs.values().map(|dir| dir.files.len() as u64).sum();
        Ok(Taken { files, notes })
    }

    pub(crate) fn rewind(
        &mut self,
        message: &EntryId,
        extent: Extent,
    ) -> Result<Rewound, CheckpointError> {
        let target = self.tree_of(message)?;
        let never = AtomicBool::new(false);
        let purpose = match extent {
            Extent::DryRun => Purpose::Compare,
            Extent::Whole => Purpose::Keep,
        };
        let mut present = self.walk(&target.roots, purpose, &never)?;
        if extent == Extent::Whole && restore::reopen(&target, &present) {
            present = self.walk(&target.roots, purpose, &never)?;
        }
        let plan = Plan::between(&target, &present);
        let lines = lines::count(&plan, &self.objects);
        let mut report = match extent {
            Extent::DryRun => restore::describe(&plan),
            Extent::Whole => {
                let undo = EntryId::new(format!("undo-{}", self.next_number));
                self.store(std::slice::from_ref(&undo), present)?;
                let report = restore::carry_out(&plan, &target, &self.objects);
                Rewound { undo: Some(undo), ..report }
            }
        };
        (report.insertions, report.deletions) = (lines.inserted, lines.deleted);
        Ok(report)
    }

    fn walk(
        &mut self,
        roots: &[DirPath],
        purpose: Purpose,
        abandoned: &AtomicBool,
    ) -> Result<Tree, CheckpointError> {
        let clock = clock(&self.directory.join("clock")).map_err(|source| CheckpointError::Io {
            what: "the checkpoint cannot be stored".to_owned(),
            source,
        })?;
        let scan = Scan {
            objects: &self.objects,
            purpose,
            room: self.limits.room(),
            clock,
            most_files: self.limits.files,
            files: AtomicU64::new(0),
            abandoned,
        };
        let excluded = excluded(&self.config_dir, roots);
        let route = Route { roots, excluded: &excluded, latest: &self.latest, aside: &self.aside };
        let walked = walk(route, &scan);
        match walked.failure {
            None => Ok(Tree { roots: roots.to_vec(), dirs: walked.dirs }),
            Some(failure) => {
                // Contents that were only compared are not kept, so nothing may rely on them.
                if purpose == Purpose::Keep {
                    self.aside.extend(walked.dirs);
                }
                Err(failure)
            }
        }
    }

    fn store(&mut self, messages: &[EntryId], tree: Tree) -> Result<(), CheckpointError> {
        let messages: Vec<String> = messages.iter().map(ToString::to_string).collect();
        let change = Change::between(&self.latest, &tree);
        let record = Record { number: self.next_number, messages: messages.clone(), change };
        self.log.append(&record).map_err(|source| CheckpointError::Io {
            what: "the checkpoint cannot be stored".to_owned(),
            source,
        })?;
        self.heads.push(messages);
        self.next_number += 1;
        self.latest = tree;
        self.aside.clear();
        if self.heads.len() >= self.limits.kept.saturating_mul(2) {
            // Without this the log is merely longer than it need be, and the next checkpoint
            // tries again.
            drop(self.shorten());
        }
        Ok(())
    }

    /// Forgets the checkpoints that are too old and the contents that only they needed.
    fn shorten(&mut self) -> io::Result<()> {
        let records = newest(self.log.read()?, self.limits.kept);
        self.log.replace(&records)?;
        self.heads = records.iter().map(|record| record.messages.clone()).collect();
        self.objects.tidy(&references(&records))
    }

    fn tree_of(&mut self, message: &EntryId) -> Result<Tree, CheckpointError> {
        let is_named = |names: &Vec<String>| names.iter().any(|name| name == message.as_str());
        let at = self.heads.iter().rposition(is_named).ok_or(CheckpointError::Unknown)?;
        if self.heads.len() - at > self.limits.kept {
            return Err(CheckpointError::Unknown);
        }
        let records = self.log.read().map_err(|source| CheckpointError::Io {
            what: "the checkpoints cannot be read".to_owned(),
            source,
        })?;
        let mut tree = Tree::default();
        for record in records.into_iter().take(at + 1) {
            record.change.apply(&mut tree);
        }
        Ok(tree)
    }
}

/// The newest records; the first of them stands on its own.
fn newest(records: Vec<Record>, count: usize) -> Vec<Record> {
    let forgotten = records.len().saturating_sub(count.max(1));
    let mut tree = Tree::default();
    let mut kept = Vec::new();
    for (at, record) in records.into_iter().enumerate() {
        if at > forgotten {
            kept.push(record);
            continue;
        }
        let (number, messages) = (record.number, record.messages);
        record.change.apply(&mut tree);
        if at == forgotten {
            let change = Change::between(&Tree::default(), &tree);
            kept.push(Record { number, messages, change });
        }
    }
    kept
}

/// All contents that records speak of, with their sizes.
fn references(records: &[Record]) -> HashMap<Digest, u64> {
    let dirs = records.iter().flat_map(|record| &record.change.dirs);
    let files = dirs.flat_map(|(_, dir)| &dir.files);
    let kept = files.filter_map(|file| match file.content {
        Content::Kept(digest) => Some((digest, file.stamp.size)),
        Content::Unkept(_) => None,
    });
    kept.collect()
}

/// Working directories by their real paths, without those that lie in others.
fn roots(directories: &[PathBuf]) -> Vec<DirPath> {
    let real = directories.iter().filter_map(|path| path.canonicalize().ok());
    let mut paths: Vec<DirPath> = real.map(|path| path.as_os_str().as_bytes().into()).collect();
    paths.sort_unstable();
    let mut roots: Vec<DirPath> = Vec::new();
    for path in paths {
        if !roots.iter().any(|root| reach::is_within(&path, root)) {
            roots.push(path);
        }
    }
    roots
}

/// What no checkpoint looks into: sessions and checkpoints are written while others are rewound.
fn excluded(config_dir: &Path, roots: &[DirPath]) -> Vec<DirPath> {
    let bytes = |path: &Path| DirPath::from(path.as_os_str().as_bytes());
    let works_in_it = |root: &DirPath| reach::is_within(root, config_dir.as_os_str().as_bytes());
    if roots.iter().any(works_in_it) {
        ["projects", "file-history"].map(|name| bytes(&config_dir.join(name))).to_vec()
    } else {
        vec![bytes(config_dir)]
    }
}

fn lock(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(0o600);
    let file = options.open(path)?;
    match disk::lock(&file)? {
        Lock::Taken => Ok(file),
        Lock::Busy => {
            let text = "another process uses them; end it first";
            Err(io::Error::new(io::ErrorKind::ResourceBusy, text))
        }
    }
}

/// The time of the file system's clock, which is the one that stamps are compared with.
fn clock(path: &Path) -> io::Result<i64> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    let mut file = options.open(path)?;
    file.write_all(b".")?;
    Ok(Stamp::of(&rustix::fs::fstat(&file)?).ctime)
}
