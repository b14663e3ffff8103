//! Files that deny rules keep from being read, for tools that look at many.

use std::path::{Path, PathBuf};

use crate::path_pattern::Side;
use crate::place::{Disk, Place};
use crate::policy::Policy;
use crate::rule::{Matter, Rule};

/// The deny rules of a session that name files which must not be read.
#[derive(Clone, Debug)]
pub struct Unreadable {
    rules: Vec<Rule>,
    directories: Vec<PathBuf>,
    home: Option<PathBuf>,
}

impl Unreadable {
    /// Whether a rule names this file or directory.
    #[must_use]
    pub fn covers(&self, path: &Path, disk: &dyn Disk) -> bool {
        let place = Place { directories: &self.directories, home: self.home.as_deref(), disk };
        self.rules.iter().any(|rule| rule.fits_path(path, &place, Side::Restrict))
    }
}

impl Policy {
    /// What a search must pass over, because it could not be read by its name. Judging the search
    /// cannot see it: what is searched is the directory above.
    #[must_use]
    pub fn unreadable(&self) -> Option<Unreadable> {
        let names_files = |rule: &&Rule| {
            matches!(rule.matter, Matter::Path(_)) && rule.is_about("Grep", Side::Restrict)
        };
        let rules: Vec<Rule> = self.deny.iter().filter(names_files).cloned().collect();
        let (directories, home) = (self.directories.clone(), self.home.clone());
        (!rules.is_empty()).then_some(Unreadable { rules, directories, home })
    }
}
