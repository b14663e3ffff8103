//! What people should know about a checkpoint, each thing once.

use std::collections::HashMap;

use crate::checkpoint::objects::Room;
use crate::checkpoint::plan::Place;
use crate::checkpoint::tree::{Content, Reach, Tree, Why};

/// How many names a note lists.
const EXAMPLES: usize = 3;

/// Something that a checkpoint does not cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Gap {
    File(Why),
    Directory(Reach),
}

/// What was said already.
#[derive(Debug, Default)]
pub(crate) struct Told(HashMap<Gap, u64>);

impl Told {
    /// What is to be said about a tree: every gap that is new or has grown.
    pub(crate) fn news(&mut self, tree: &Tree, room: Room) -> Vec<String> {
        let mut gaps: Vec<(Gap, u64, Vec<String>)> = Vec::new();
        let mut add = |gap: Gap, name: &dyn Fn() -> String| {
            let known = gaps.iter().position(|(known, ..)| *known == gap);
            let at = known.unwrap_or_else(|| {
                gaps.push((gap, 0, Vec::new()));
                gaps.len() - 1
            });
            let (_, count, names) = &mut gaps[at];
            *count += 1;
            if names.len() < EXAMPLES {
                names.push(name());
            }
        };
        for (path, file) in tree.files() {
            if let Content::Unkept(why) = file.content {
                let place = || Place { dir: path.clone(), name: file.name.clone() }.show();
                add(Gap::File(why), &place);
            }
        }
        for (path, dir) in &tree.dirs {
            if matches!(dir.reach, Reach::Unreadable | Reach::Foreign) {
                add(Gap::Directory(dir.reach), &|| String::from_utf8_lossy(path).into_owned());
            }
        }
        gaps.retain(|(gap, count, _)| self.0.insert(*gap, *count).unwrap_or(0) < *count);
        gaps.iter().map(|(gap, count, names)| say(*gap, *count, names, room)).collect()
    }
}

fn say(gap: Gap, count: u64, names: &[String], room: Room) -> String {
    let megabytes = |bytes: u64| bytes >> 20;
    let (what, why) = match gap {
        Gap::File(Why::TooLarge) => {
            ("file", format!("larger than {} MB", megabytes(room.file_bytes)))
        }
        Gap::File(Why::OverBudget) => {
            let limit = megabytes(room.total_bytes);
            ("file", format!("more than the {limit} MB that a session may keep"))
        }
        Gap::File(Why::Unreadable) => ("file", "not readable".to_owned()),
        Gap::Directory(Reach::Foreign) => ("directory", "on another file system".to_owned()),
        Gap::Directory(_) => ("directory", "not readable".to_owned()),
    };
    let what = match (what, count) {
        ("directory", 2..) => "directories",
        (_, 2..) => "files",
        (what, _) => what,
    };
    let more = if count > names.len() as u64 { ", …" } else { "" };
    format!(
        "Checkpoints do not cover {count} {what} ({why}), so a rewind cannot restore what is in \
         there: {}{more}",
        names.join(", ")
    )
}
