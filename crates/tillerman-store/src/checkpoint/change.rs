//! What differs between two trees, so that a checkpoint stores only that.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::checkpoint::tree::{Dir, DirPath, File, Other, Reach, Tree};

/// How one tree follows from another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Change {
    /// The working directories from now on.
    pub(crate) roots: Vec<DirPath>,
    /// Directories that are gone.
    pub(crate) removed: Vec<DirPath>,
    /// Directories that are new or differ.
    pub(crate) dirs: Vec<(DirPath, DirChange)>,
}

/// How one directory follows from another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DirChange {
    pub(crate) mode: u32,
    pub(crate) reach: Reach,
    /// All links and special files.
    pub(crate) others: Vec<Other>,
    /// Names of files that are gone.
    pub(crate) removed: Vec<Box<[u8]>>,
    /// Files that are new or differ, by name.
    pub(crate) files: Vec<File>,
}

impl Change {
    /// What leads from one tree to the other.
    pub(crate) fn between(old: &Tree, new: &Tree) -> Self {
        let removed = old.dirs.keys().filter(|path| !new.dirs.contains_key(*path)).cloned();
        let dirs = new.dirs.iter().filter_map(|(path, dir)| {
            let before = old.dirs.get(path);
            let same = before.is_some_and(|before| Arc::ptr_eq(before, dir) || before == dir);
            (!same).then(|| (Arc::clone(path), DirChange::between(before.map(|dir| &**dir), dir)))
        });
        Self { roots: new.roots.clone(), removed: removed.collect(), dirs: dirs.collect() }
    }

    /// Changes a tree in place.
    pub(crate) fn apply(self, tree: &mut Tree) {
        tree.roots = self.roots;
        for path in self.removed {
            tree.dirs.remove(&path);
        }
        for (path, change) in self.dirs {
            let before = tree.dirs.get(&path).map_or(&[][..], |dir| &dir.files);
            let dir = change.onto(before);
            tree.dirs.insert(path, Arc::new(dir));
        }
    }
}

impl DirChange {
    fn between(old: Option<&Dir>, new: &Dir) -> Self {
        let old_file = |name: &[u8]| old.and_then(|dir| dir.file(name));
        let files = new.files.iter().filter(|file| old_file(&file.name) != Some(file));
        let gone = |file: &&File| new.file(&file.name).is_none();
        let removed = old.map_or(&[][..], |dir| &dir.files).iter().filter(gone);
        Self {
            mode: new.mode,
            reach: new.reach,
            others: new.others.clone(),
            removed: removed.map(|file| file.name.clone()).collect(),
            files: files.cloned().collect(),
        }
    }

    fn onto(self, before: &[File]) -> Dir {
        let (mode, reach, others) = (self.mode, self.reach, self.others);
        if before.is_empty() {
            return Dir { mode, reach, others, files: self.files };
        }
        let mut files: BTreeMap<Box<[u8]>, File> =
            before.iter().map(|file| (file.name.clone(), file.clone())).collect();
        for name in &self.removed {
            files.remove(name);
        }
        files.extend(self.files.into_iter().map(|file| (file.name.clone(), file)));
        Dir { mode, reach, others, files: files.into_values().collect() }
    }
}
