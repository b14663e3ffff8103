//! Where extensions are looked for.

use std::path::PathBuf;

use crate::extensions::origin::{Home, Origin, Trust};
use crate::extensions::tree;
use crate::source::Source;

/// Where extensions are looked for.
#[derive(Clone, Debug, Default)]
pub struct ExtensionPlaces {
    /// The user's configuration directory.
    pub config_dir: PathBuf,
    /// The user's home directory, for paths that begin with `~/`.
    pub home: Option<PathBuf>,
    /// The working directory.
    pub cwd: PathBuf,
    /// Where the machine's administrator puts files.
    pub managed_dir: Option<PathBuf>,
    /// Further working directories that the command line names.
    pub added: Vec<PathBuf>,
    /// Which sources are read at all.
    pub sources: Vec<Source>,
    /// Whether the user trusts the working copy.
    pub trust: Trust,
    /// Patterns of memory files that are left out.
    pub memory_excludes: Vec<String>,
}

impl ExtensionPlaces {
    /// Whether a source is read.
    #[must_use]
    pub fn reads(&self, source: Source) -> bool {
        self.sources.contains(&source)
    }

    /// The root of the project: that of its repository, else the working directory.
    #[must_use]
    pub fn project_root(&self) -> PathBuf {
        tree::repository_root(&self.cwd).unwrap_or(&self.cwd).to_path_buf()
    }

    pub(crate) fn project(&self) -> Origin {
        Origin::Project { trust: self.trust }
    }

    /// The directories for one kind of file, strongest first, without those of plugins.
    pub(crate) fn homes(&self, kind: &str, order: Order) -> Vec<Home> {
        let mut managed = Vec::new();
        if let Some(root) = &self.managed_dir {
            let directory = root.join(".claude").join(kind);
            managed.push(Home { root: root.clone(), directory, origin: Origin::Managed });
        }
        let mut user = Vec::new();
        if self.reads(Source::User) {
            let root = self.config_dir.clone();
            let directory = root.join(kind);
            user.push(Home { root, directory, origin: Origin::User });
        }
        let project = self.project_homes(kind);
        match order {
            Order::UserFirst => [managed, user, project].concat(),
            Order::ProjectFirst => [managed, project, user].concat(),
        }
    }

    fn project_homes(&self, kind: &str) -> Vec<Home> {
        if !self.reads(Source::Project) {
            return Vec::new();
        }
        let home = |root: PathBuf, base: PathBuf| {
            let directory = base.join(".claude").join(kind);
            Home { root, directory, origin: self.project() }
        };
        let root = self.project_root();
        let bases = tree::up_to_repository(&self.cwd).into_iter();
        // The user's own directory is no project, even when work is done right in the home.
        let bases = bases.filter(|base| base.join(".claude") != self.config_dir);
        let own = bases.map(|base| home(root.clone(), base));
        let added = self.added.iter().map(|base| home(base.clone(), base.clone()));
        own.chain(added).collect()
    }
}

/// Whose file wins when two have the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    UserFirst,
    ProjectFirst,
}
