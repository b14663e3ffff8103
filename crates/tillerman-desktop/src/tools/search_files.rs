//! `search_files`: files by a pattern.

use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};
use rustix::fs::{Dir, FileType, Mode, OFlags, openat};
use serde_json::{Value, json};
use tillerman_protocol::tool::{Access, ToolOutcome};
use tokio_util::sync::CancellationToken;

use crate::config::DesktopConfig;
use crate::contained::{Found, ReachError, Root};
use crate::plan::{Field, FieldKind, Need, Plan, answered, failed, text};
use crate::tools::off_thread::off_thread;

/// Folders that hold nothing people search for, unless they say so.
const SKIPPED: [&str; 2] = [".git", "node_modules"];
/// How deep folders are looked into; each level keeps a directory open.
const DEEPEST: usize = 64;

pub(crate) const PLAN: Plan = Plan {
    name: "search_files",
    description: "Finds files of the user's workspace by a pattern such as **/*.md; shows at most \
                  100.",
    access: Access::ReadOnly,
    fields: &[
        Field {
            name: "pattern",
            kind: FieldKind::Text,
            need: Need::Required,
            meaning: "a glob pattern, matched with the path below the folder; without a slash it \
                      is matched with names at any depth",
        },
        Field {
            name: "path",
            kind: FieldKind::Text,
            need: Need::Optional,
            meaning: "the folder to search, relative to the workspace",
        },
    ],
    run: |config, call| off_thread(config, call, search),
};

fn search(config: &DesktopConfig, input: &Value, cancel: &CancellationToken) -> ToolOutcome {
    let pattern = text(input, "pattern").unwrap_or_default();
    let asked = text(input, "path").unwrap_or(".");
    let wanted = if pattern.contains('/') { pattern.to_owned() } else { format!("**/{pattern}") };
    let glob = match GlobBuilder::new(&wanted).literal_separator(true).build() {
        Ok(glob) => glob.compile_matcher(),
        Err(error) => return failed(format!("pattern is not a glob: {error}.")),
    };
    let reached = match Root::new(config.root()).reach(asked) {
        Ok(reached) => reached,
        Err(error) => return failed(error),
    };
    let directory = match reached.found {
        Found::Directory(directory) => directory,
        Found::Entry { .. } => return failed(ReachError::NotADirectory(asked.to_owned())),
        Found::Missing { .. } => return failed(ReachError::Missing(asked.to_owned())),
    };
    let most = config.limits().results;
    let mut search = Search { glob, pattern, most, cancel, found: Vec::new() };
    let is_whole = search.enter(&directory, Path::new(""), 0);
    let mut files: Vec<String> = search
        .found
        .iter()
        .map(|file| reached.shown.join(file).to_string_lossy().into_owned())
        .collect();
    files.sort();
    answered(&json!({"pattern": pattern, "files": files, "truncated": !is_whole}))
}

struct Search<'a> {
    glob: GlobMatcher,
    pattern: &'a str,
    most: usize,
    cancel: &'a CancellationToken,
    found: Vec<PathBuf>,
}

impl Search<'_> {
    /// Looks into a directory and those below it. Links are not followed, so that nothing leads
    /// out. Whether everything was looked at is the answer.
    fn enter(&mut self, directory: &OwnedFd, above: &Path, depth: usize) -> bool {
        // A directory that cannot be read is passed over, like everywhere.
        let Ok(listing) = Dir::read_from(directory) else { return true };
        let mut is_whole = true;
        let mut folders: Vec<OsString> = Vec::new();
        for entry in listing.flatten() {
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            if self.cancel.is_cancelled() {
                return false;
            }
            match kind(directory, name, entry.file_type()) {
                FileType::Directory if !self.skips(name) => folders.push(name.to_owned()),
                FileType::RegularFile if self.glob.is_match(above.join(name)) => {
                    if self.found.len() == self.most {
                        return false;
                    }
                    self.found.push(above.join(name));
                }
                _ => {}
            }
        }
        folders.sort();
        for name in folders {
            if depth == DEEPEST || (self.found.len() == self.most && !is_whole) {
                return false;
            }
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let Ok(folder) = openat(directory, &name, flags, Mode::empty()) else { continue };
            is_whole &= self.enter(&folder, &above.join(&name), depth + 1);
        }
        is_whole
    }

    fn skips(&self, name: &OsStr) -> bool {
        SKIPPED.iter().any(|skipped| name == *skipped && !self.pattern.contains(skipped))
    }
}

/// Some file systems do not say in a listing what an entry is.
fn kind(directory: &OwnedFd, name: &OsStr, listed: FileType) -> FileType {
    if listed != FileType::Unknown {
        return listed;
    }
    let stat = rustix::fs::statat(directory, name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW);
    stat.map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode))
}
