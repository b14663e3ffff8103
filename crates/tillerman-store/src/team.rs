//! Teams on disk: who belongs to one, and a mailbox for each, as files that only grow.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tillerman_ports::{Kept, Letter, Member, TeamFiles};
use tillerman_protocol::EntryId;

use crate::growing;

/// Keeps one team in a directory of its own.
#[derive(Clone, Debug)]
pub struct TeamDirectory {
    directory: PathBuf,
}

/// A line of a mailbox.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Line {
    Letter(Letter),
    Read { id: EntryId },
}

impl TeamDirectory {
    /// The team of this name below a configuration directory. Nothing is created.
    #[must_use]
    pub fn new(config_dir: &Path, team: &str) -> Self {
        Self { directory: config_dir.join("teams").join(team) }
    }

    fn members(&self) -> PathBuf {
        self.directory.join("members.jsonl")
    }

    fn mailbox(&self, member: &str) -> PathBuf {
        self.directory.join("inboxes").join(format!("{}.jsonl", file_name(member)))
    }

    fn unread(&self) -> Vec<Letter> {
        let boxes = std::fs::read_dir(self.directory.join("inboxes"));
        let mut boxes: Vec<PathBuf> =
            boxes.into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        boxes.sort();
        let mut unread = Vec::new();
        for path in boxes {
            let mut letters: Vec<Letter> = Vec::new();
            for line in growing::lines::<Line>(&path) {
                match line {
                    Line::Letter(letter) => letters.push(letter),
                    Line::Read { id } => letters.retain(|letter| letter.id != id),
                }
            }
            unread.extend(letters);
        }
        unread
    }
}

impl TeamFiles for TeamDirectory {
    fn load(&self) -> Kept {
        let mut order: Vec<String> = Vec::new();
        let mut newest: BTreeMap<String, Member> = BTreeMap::new();
        for member in growing::lines::<Member>(&self.members()) {
            if !newest.contains_key(&member.name) {
                order.push(member.name.clone());
            }
            newest.insert(member.name.clone(), member);
        }
        let members = order.iter().filter_map(|name| newest.remove(name)).collect();
        Kept { members, unread: self.unread() }
    }

    fn note(&self, member: &Member) -> Result<(), String> {
        let explain = |error| failed("what became of a teammate", &self.directory, &error);
        growing::append(&self.members(), member).map_err(explain)
    }

    fn post(&self, letter: &Letter) -> Result<(), String> {
        let explain = |error| failed("a message", &self.directory, &error);
        let line = Line::Letter(letter.clone());
        growing::append(&self.mailbox(&letter.to), &line).map_err(explain)
    }

    fn read(&self, receiver: &str, letter: &EntryId) -> Result<(), String> {
        let explain = |error| failed("that a message was read", &self.directory, &error);
        let line = Line::Read { id: letter.clone() };
        growing::append(&self.mailbox(receiver), &line).map_err(explain)
    }

    fn remove(&self) -> Result<(), String> {
        match std::fs::remove_dir_all(&self.directory) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(format!("the files of the team in {} stay: {error}", self.directory.display()))
            }
            _ => Ok(()),
        }
    }
}

/// Keeps nothing, for sessions that are not to be stored.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoTeamFiles;

impl TeamFiles for NoTeamFiles {
    fn load(&self) -> Kept {
        Kept::default()
    }

    fn note(&self, _: &Member) -> Result<(), String> {
        Ok(())
    }

    fn post(&self, _: &Letter) -> Result<(), String> {
        Ok(())
    }

    fn read(&self, _: &str, _: &EntryId) -> Result<(), String> {
        Ok(())
    }

    fn remove(&self) -> Result<(), String> {
        Ok(())
    }
}

/// A name that models chose, as a file's: no separators, and never hidden.
fn file_name(member: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '_' };
    member.chars().take(64).map(safe).collect()
}

fn failed(what: &str, directory: &Path, error: &io::Error) -> String {
    format!("{what} could not be kept in {}: {error}", directory.display())
}
