//! Contents that another session keeps for the same directories need not be read again.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use crate::checkpoint::log;
use crate::checkpoint::objects::{Objects, Room};
use crate::checkpoint::reach;
use crate::checkpoint::tree::{Content, Digest, Dir, DirPath, Stamp, Tree};

/// How many other sessions are looked at.
const MOST_LENDERS: usize = 8;

/// What another session knows about directories, with the contents it keeps taken over as second
/// names of the same files. Nothing there is changed, and it may go away at any time.
pub(crate) fn borrow(
    own: &Path,
    roots: &[DirPath],
    objects: &Objects,
    room: Room,
    abandoned: &AtomicBool,
) -> BTreeMap<DirPath, Arc<Dir>> {
    let mut taken: HashMap<Digest, bool> = HashMap::new();
    let Some((lender, tree)) = lenders(own).into_iter().find_map(|path| known_there(path, roots))
    else {
        return BTreeMap::new();
    };
    let lent = lender.join("objects");
    let mut borrowed = BTreeMap::new();
    for (path, mut dir) in tree.dirs {
        if abandoned.load(Ordering::Relaxed) {
            break;
        }
        if !roots.iter().any(|root| reach::is_within(&path, root)) {
            continue;
        }
        for file in &mut Arc::make_mut(&mut dir).files {
            // Whether there is room is for this session to find out.
            let Content::Kept(digest) = file.content else {
                file.stamp.ctime = Stamp::UNTRUSTED;
                continue;
            };
            let size = file.stamp.size;
            let adopt = || size <= room.file_bytes && objects.adopt(&lent, &digest, size, room);
            if !*taken.entry(digest).or_insert_with(adopt) {
                file.stamp.ctime = Stamp::UNTRUSTED;
            }
        }
        borrowed.insert(path, dir);
    }
    borrowed
}

/// Other sessions with checkpoints, the one that was used last first.
fn lenders(own: &Path) -> Vec<PathBuf> {
    let siblings = own.parent().and_then(|histories| std::fs::read_dir(histories).ok());
    let paths = siblings.into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let mut used: Vec<(SystemTime, PathBuf)> = paths
        .filter(|path| path != own)
        .filter_map(|path| {
            let log = path.join("log").symlink_metadata().ok()?;
            Some((log.modified().ok()?, path))
        })
        .collect();
    used.sort_unstable_by(|one, another| another.cmp(one));
    used.into_iter().take(MOST_LENDERS).map(|(_, path)| path).collect()
}

/// The newest tree of a session, if it covers any of these directories.
fn known_there(session: PathBuf, roots: &[DirPath]) -> Option<(PathBuf, Tree)> {
    let mut tree = Tree::default();
    for record in log::peek(&session.join("log")).ok()? {
        record.change.apply(&mut tree);
    }
    let overlaps = |root: &DirPath| {
        let is_near =
            |other: &DirPath| reach::is_within(root, other) || reach::is_within(other, root);
        tree.roots.iter().any(is_near)
    };
    roots.iter().any(overlaps).then_some((session, tree))
}
