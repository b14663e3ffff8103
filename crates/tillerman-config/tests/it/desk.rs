//! A user, a project and their settings files.

use std::path::PathBuf;

use serde_json::Value;
use tempfile::TempDir;
use tillerman_config::{Layers, Places, Source, Standing, Trust, TrustState};

/// All sources that are files.
pub(crate) const ALL: [Source; 3] = [Source::User, Source::Project, Source::Local];

/// A directory with a user's configuration and a project in it.
pub(crate) struct Desk {
    directory: TempDir,
    pub(crate) places: Places,
}

impl Desk {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let places = Places {
            config_dir: directory.path().join("config"),
            cwd: directory.path().join("project"),
            managed: vec![directory.path().join("managed")],
        };
        std::fs::create_dir_all(&places.config_dir).unwrap();
        std::fs::create_dir_all(places.cwd.join(".claude")).unwrap();
        std::fs::create_dir_all(places.managed[0].join("managed-settings.d")).unwrap();
        Self { directory, places }
    }

    pub(crate) fn path(&self, source: Source) -> PathBuf {
        match source {
            Source::User => self.places.config_dir.join("settings.json"),
            Source::Project => self.places.cwd.join(".claude/settings.json"),
            Source::Local => self.places.cwd.join(".claude/settings.local.json"),
            Source::Flag => self.directory.path().join("flag.json"),
            Source::Managed => self.places.managed[0].join("managed-settings.json"),
        }
    }

    pub(crate) fn write(&self, source: Source, text: &str) {
        std::fs::write(self.path(source), text).unwrap();
    }

    pub(crate) fn put(&self, source: Source, settings: &Value) {
        self.write(source, &settings.to_string());
    }

    pub(crate) fn load(&self) -> Layers {
        Layers::load(&self.places, &ALL)
    }

    /// Trusts the project as it is.
    pub(crate) fn trust(&self) -> Vec<String> {
        Trust::grant(&self.places.cwd, &self.places.config_dir).unwrap()
    }

    /// Whether the project is trusted as it is.
    pub(crate) fn state(&self) -> TrustState {
        Trust::of(&self.places.cwd, &self.places.config_dir)
    }

    /// The settings as a session has them whose host named these sources.
    pub(crate) fn session(&self, named: &[Source]) -> Layers {
        self.load().in_effect(Standing {
            named: named.to_vec(),
            trust: self.state(),
            approved: Trust::approved(&self.places.cwd, &self.places.config_dir),
        })
    }
}
