//! Looking at the files of the shelf: which there are, whether they changed, what they hold.

use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::document::Document as _;
use crate::shelf::head::{Read, Trouble, read};
use crate::store::Kind;
use crate::wire::{Agent, Persona, Project, Skill};

/// The largest file.
const LARGEST: u64 = 512 * 1024;
/// Files of one kind that are read.
const MOST: usize = 1_000;

/// A file and how it was when it was last seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) kind: Kind,
    pub(crate) path: PathBuf,
    stamp: (i64, i64, u64, u64),
}

/// Everything that is on the shelf.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Inventory {
    pub(crate) files: Vec<Seen>,
    /// Directories that cannot be read; nothing is known about their kinds.
    pub(crate) unreadable: Vec<(Kind, PathBuf, String)>,
}

/// What a file holds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Held {
    pub(crate) kind: Kind,
    pub(crate) id: String,
    pub(crate) path: String,
    pub(crate) outcome: Result<Read, Trouble>,
}

/// The directory of a kind.
pub(crate) const fn directory_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Project => Project::PLURAL,
        Kind::Persona => Persona::PLURAL,
        Kind::Skill => Skill::PLURAL,
        Kind::Agent => Agent::PLURAL,
    }
}

/// Looks at the files without reading them.
pub(crate) fn look(root: &Path) -> Inventory {
    let mut inventory = Inventory::default();
    for kind in Kind::ALL {
        let directory = root.join(directory_of(kind));
        let entries = match std::fs::read_dir(&directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => {
                inventory.unreadable.push((kind, directory, error.to_string()));
                continue;
            }
        };
        let paths = entries.filter_map(Result::ok).map(|entry| entry.path());
        let mut paths: Vec<PathBuf> = paths.filter(|path| is_document(path)).take(MOST).collect();
        paths.sort();
        for path in paths {
            let Ok(metadata) = std::fs::metadata(&path) else { continue };
            let stamp = (metadata.ctime(), metadata.ctime_nsec(), metadata.size(), metadata.ino());
            inventory.files.push(Seen { kind, path, stamp });
        }
    }
    inventory
}

/// Markdown that is neither hidden nor about the directory itself.
fn is_document(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    name.is_some_and(|name| {
        name.ends_with(".md") && !name.starts_with('.') && !name.eq_ignore_ascii_case("README.md")
    })
}

/// Reads the files.
pub(crate) fn open(inventory: &Inventory) -> Vec<Held> {
    let open = |seen: &Seen| {
        let id = seen.path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let id = id.unwrap_or_default();
        let outcome =
            check_name(&id).and_then(|()| text_of(&seen.path)).and_then(|text| match seen.kind {
                Kind::Project => read::<Project>(&id, &text),
                Kind::Persona => read::<Persona>(&id, &text),
                Kind::Skill => read::<Skill>(&id, &text),
                Kind::Agent => read::<Agent>(&id, &text),
            });
        Held { kind: seen.kind, id, path: seen.path.display().to_string(), outcome }
    };
    inventory.files.iter().map(open).collect()
}

fn check_name(id: &str) -> Result<(), Trouble> {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || ".-_".contains(letter);
    if id.is_empty() || id.len() > 64 || !id.chars().all(fits) {
        let message = "The name of the file is to have up to 64 letters, digits, dots, dashes and \
                       underscores before its ending: others name it by that.";
        return Err(Trouble { line: None, message: message.to_owned() });
    }
    Ok(())
}

fn text_of(path: &Path) -> Result<String, Trouble> {
    let trouble = |message: String| Trouble { line: None, message };
    let failed = |error: std::io::Error| trouble(format!("It cannot be read: {error}."));
    let file = std::fs::File::open(path).map_err(failed)?;
    if !file.metadata().map_err(failed)?.is_file() {
        return Err(trouble("It is no file.".to_owned()));
    }
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > LARGEST {
        return Err(trouble("It is larger than 512 KiB.".to_owned()));
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = valid.iter().filter(|byte| **byte == b'\n').count() as u64 + 1;
        Trouble::at(line, "It is not text in UTF-8.")
    })
}
