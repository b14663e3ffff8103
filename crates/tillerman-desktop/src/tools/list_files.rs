//! `list_files`: what is in a directory.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;

use rustix::fs::{AtFlags, Dir, FileType, statat};
use serde_json::{Value, json};
use tillerman_protocol::tool::{Access, ToolOutcome};
use tokio_util::sync::CancellationToken;

use crate::config::DesktopConfig;
use crate::contained::{Found, ReachError, Root};
use crate::plan::{Field, FieldKind, Need, Plan, answered, failed, text};
use crate::tools::off_thread::off_thread;

/// Entries that are looked at before a list is cut off; they are sorted after that.
const MOST_SEEN: usize = 10_000;

pub(crate) const PLAN: Plan = Plan {
    name: "list_files",
    description: "Lists the files and folders in a folder of the user's workspace.",
    access: Access::ReadOnly,
    fields: &[Field {
        name: "path",
        kind: FieldKind::Text,
        need: Need::Optional,
        meaning: "the folder, relative to the workspace; nothing means the workspace itself",
    }],
    run: |config, call| off_thread(config, call, list),
};

fn list(config: &DesktopConfig, input: &Value, cancel: &CancellationToken) -> ToolOutcome {
    let asked = text(input, "path").unwrap_or(".");
    let reached = match Root::new(config.root()).reach(asked) {
        Ok(reached) => reached,
        Err(error) => return failed(error),
    };
    let directory = match reached.found {
        Found::Directory(directory) => directory,
        Found::Entry { .. } => return failed(ReachError::NotADirectory(asked.to_owned())),
        Found::Missing { .. } => return failed(ReachError::Missing(asked.to_owned())),
    };
    match entries(&directory, cancel) {
        Ok((entries, is_whole)) => {
            answered(&json!({"path": asked, "files": entries, "truncated": !is_whole}))
        }
        Err(errno) => failed(format!("{asked} could not be listed: {errno}.")),
    }
}

fn entries(
    directory: &OwnedFd,
    cancel: &CancellationToken,
) -> Result<(Vec<Value>, bool), rustix::io::Errno> {
    let mut found = Vec::new();
    let mut is_whole = true;
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name == "." || name == ".." {
            continue;
        }
        if found.len() >= MOST_SEEN || cancel.is_cancelled() {
            is_whole = false;
            break;
        }
        // What has gone meanwhile is not in the list.
        let Ok(stat) = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
        let kind = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => "file",
            FileType::Directory => "directory",
            FileType::Symlink => "link",
            _ => "other",
        };
        let name = name.to_string_lossy().into_owned();
        found.push((name.clone(), json!({"name": name, "type": kind, "size": stat.st_size})));
    }
    found.sort_by(|left, right| left.0.cmp(&right.0));
    Ok((found.into_iter().map(|(_, entry)| entry).collect(), is_whole))
}
