//! What has to be done so that directories hold again what they held.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::checkpoint::reach;
use crate::checkpoint::tree::{Dir, DirPath, File, Reach, Tree};

/// Everything a rewind does, in this order.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// Files that were made later.
    pub(crate) delete: Vec<Place>,
    /// Directories that were made later, children first. Those that are not empty stay.
    pub(crate) remove_dirs: Vec<DirPath>,
    /// Directories that are gone, parents first.
    pub(crate) make_dirs: Vec<DirPath>,
    /// Files that are gone or hold something else.
    pub(crate) restore: Vec<(Place, File)>,
    /// Files of which only the mode differs.
    pub(crate) modes: Vec<(Place, u32)>,
    /// Directories of which the mode differs.
    pub(crate) dir_modes: Vec<DirPath>,
    /// Links, special files and what lies behind them.
    pub(crate) skipped: u64,
    /// Files that differ and were never kept.
    pub(crate) not_kept: u64,
    /// Files that are written or deleted although what they hold now was not kept.
    pub(crate) beyond_undo: u64,
}

/// Where a file is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) dir: DirPath,
    pub(crate) name: Box<[u8]>,
}

impl Place {
    /// The path, as far as it can be shown.
    pub(crate) fn show(&self) -> String {
        String::from_utf8_lossy(&reach::join(&self.dir, &self.name)).into_owned()
    }
}

impl Plan {
    /// What leads from the present back to the target.
    pub(crate) fn between(target: &Tree, present: &Tree) -> Self {
        let closed = closed(target, present);
        let is_closed = |path: &[u8]| closed.iter().any(|closed| reach::is_within(path, closed));
        let mut plan = Self::default();
        for (path, dir) in &target.dirs {
            match present.dirs.get(path) {
                _ if is_closed(path) => plan.skipped += dir.files.len() as u64,
                Some(now) => plan.compare(path, dir, now),
                None => plan.bring_back(path, dir),
            }
        }
        for (path, now) in present.dirs.iter().rev() {
            if !target.dirs.contains_key(path) && !is_closed(path) {
                for file in &now.files {
                    plan.delete(path, file);
                }
                plan.remove_dirs.push(Arc::clone(path));
                plan.skipped += now.others.len() as u64;
            }
        }
        plan
    }

    fn compare(&mut self, path: &DirPath, then: &Dir, now: &Dir) {
        for file in &then.files {
            match now.file(&file.name) {
                Some(present) if file.holds_the_same(present) => {
                    if file.stamp.mode != present.stamp.mode {
                        self.modes.push((place(path, file), file.stamp.mode));
                    }
                }
                None if now.other(&file.name).is_some() => self.skipped += 1,
                present => {
                    let lost = present.is_some_and(|present| !present.is_kept());
                    self.beyond_undo += u64::from(lost && file.is_kept());
                    self.restore(path, file);
                }
            }
        }
        // A file that took the place of a link stays: the link itself would not come back.
        let is_new = |file: &&File| then.file(&file.name).is_none();
        let is_free = |file: &&File| then.other(&file.name).is_none();
        for file in now.files.iter().filter(is_new).filter(is_free) {
            self.delete(path, file);
        }
        let gone = then.others.iter().filter(|other| now.other(&other.name) != Some(other));
        let came = now
            .others
            .iter()
            .filter(|other| then.other(&other.name).is_none() && then.file(&other.name).is_none());
        self.skipped += (gone.count() + came.count()) as u64;
        if then.mode != now.mode {
            self.dir_modes.push(Arc::clone(path));
        }
    }

    fn bring_back(&mut self, path: &DirPath, dir: &Dir) {
        self.make_dirs.push(Arc::clone(path));
        self.dir_modes.push(Arc::clone(path));
        self.skipped += dir.others.len() as u64;
        for file in &dir.files {
            self.restore(path, file);
        }
    }

    fn delete(&mut self, path: &DirPath, file: &File) {
        self.beyond_undo += u64::from(!file.is_kept());
        self.delete.push(place(path, file));
    }

    fn restore(&mut self, path: &DirPath, file: &File) {
        if file.is_kept() {
            self.restore.push((place(path, file), file.clone()));
        } else {
            self.not_kept += 1;
        }
    }
}

/// Directories that must be left alone with everything below them: nobody looked into them then or
/// now, or a link or special file stands, or stood, in their place.
fn closed(target: &Tree, present: &Tree) -> BTreeSet<DirPath> {
    let unseen = |tree: &Tree| {
        let dirs = tree.dirs.iter().filter(|(_, dir)| dir.reach != Reach::Open);
        dirs.map(|(path, _)| Arc::clone(path)).collect::<Vec<_>>()
    };
    let replaced = |one: &Tree, another: &Tree| {
        let missing = one.dirs.keys().filter(|path| !another.dirs.contains_key(*path));
        let is_other = |path: &&DirPath| {
            let place = reach::split(path);
            let parent = place.and_then(|(parent, name)| Some((another.dirs.get(parent)?, name)));
            parent.is_some_and(|(parent, name)| parent.other(name).is_some())
        };
        missing.filter(is_other).cloned().collect::<Vec<_>>()
    };
    let mut closed = BTreeSet::from_iter(unseen(target));
    closed.extend(unseen(present));
    closed.extend(replaced(target, present));
    closed.extend(replaced(present, target));
    closed
}

fn place(dir: &DirPath, file: &File) -> Place {
    Place { dir: Arc::clone(dir), name: file.name.clone() }
}
