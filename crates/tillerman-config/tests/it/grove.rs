//! A user, a repository and a machine's administrator, each with files of their own.

use std::path::{Path, PathBuf};

use tempfile::TempDir;
use tillerman_config::Source;
use tillerman_config::extensions::{
    ExtensionPlaces, Extensions, Memory, PluginFolder, Surroundings, Trust,
};

/// `user/` is the configuration directory, `home/` the home, `repo/` a repository with the working
/// directory `repo/app`.
pub(crate) struct Grove {
    root: TempDir,
    pub(crate) places: ExtensionPlaces,
}

impl Grove {
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let base = root.path().canonicalize().unwrap();
        for name in ["user", "home", "managed", "repo/.git", "repo/app"] {
            std::fs::create_dir_all(base.join(name)).unwrap();
        }
        let places = ExtensionPlaces {
            config_dir: base.join("user"),
            home: Some(base.join("home")),
            cwd: base.join("repo/app"),
            managed_dir: Some(base.join("managed")),
            sources: vec![Source::User, Source::Project, Source::Local],
            ..ExtensionPlaces::default()
        };
        Self { root, places }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(name)
    }

    /// Writes a file with the folders above it.
    pub(crate) fn put(&self, name: &str, text: &str) -> &Self {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    pub(crate) fn link(&self, target: &str, name: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(self.path(target), path).unwrap();
    }

    pub(crate) fn trusted(mut self) -> Self {
        self.places.trust = Trust::Trusted;
        self
    }

    pub(crate) fn load(&self) -> Extensions {
        Extensions::load(&self.places, &[])
    }

    pub(crate) fn with_plugin(&self, name: &str, trust: Trust) -> Extensions {
        let folder =
            PluginFolder { root: self.path(name), marketplace: "inline".to_owned(), trust };
        Extensions::load(&self.places, &[folder])
    }

    pub(crate) fn memory(&self) -> Memory {
        Memory::load(&self.places)
    }

    pub(crate) fn surroundings(&self) -> Surroundings {
        Surroundings::new(self.places.clone(), &self.memory())
    }

    /// The path of a file, told from the top of the grove.
    pub(crate) fn short(&self, path: &Path) -> String {
        path.strip_prefix(self.path("")).unwrap_or(path).display().to_string()
    }

    /// The memory files that were read.
    pub(crate) fn files(&self) -> Vec<String> {
        self.memory().files.iter().map(|file| self.short(&file.path)).collect()
    }
}

/// The only problem, as people read it.
#[track_caller]
pub(crate) fn only<T: ToString>(problems: &[T]) -> String {
    let texts: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(texts.len(), 1, "exactly one problem was expected: {texts:#?}");
    texts.into_iter().next().unwrap()
}
