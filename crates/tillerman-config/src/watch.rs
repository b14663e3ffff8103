//! Noticing that settings files changed, and taking over what may be taken over while a session runs.

use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use serde_json::{Map, Value, json};

use crate::layers::{Layer, Layers};
use crate::source::{Places, Source};
use crate::standing::Standing;
use crate::trust::{Trust, TrustState, ledger_path};

/// When and how each file was last seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stamps(Vec<(PathBuf, Option<Stamp>)>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    changed: (i64, i64),
    size: u64,
    inode: u64,
}

impl Stamps {
    /// Looks at every file that settings or trust can come from; their content is not read.
    pub(crate) fn take(places: &Places, sources: &[Source]) -> Self {
        let mut paths: Vec<PathBuf> =
            places.files(sources).into_iter().map(|(_, path)| path).collect();
        paths.push(ledger_path(&places.config_dir));
        let stamp = |path: PathBuf| {
            let metadata = std::fs::metadata(&path).ok();
            let stamp = metadata.map(|found| Stamp {
                changed: (found.ctime(), found.ctime_nsec()),
                size: found.len(),
                inode: found.ino(),
            });
            (path, stamp)
        };
        Self(paths.into_iter().map(stamp).collect())
    }
}

impl Layers {
    /// The files that were seen differently when other settings were read.
    #[must_use]
    pub fn changed_since(&self, before: &Self) -> Vec<(Source, PathBuf)> {
        let Some(places) = &self.places else { return Vec::new() };
        let of = |stamps: &Stamps, path: &PathBuf| {
            stamps.0.iter().find(|(held, _)| held == path).and_then(|(_, stamp)| *stamp)
        };
        let mut files = places.files(&self.sources);
        files.retain(|(_, path)| of(&self.stamps, path) != of(&before.stamps, path));
        files
    }

    /// The settings as they are now, when any of their files changed since these were read.
    ///
    /// The user's and the administrators' files hold at once. A file of the repository may have
    /// been written by the agent itself, so that until the user trusts it as it is, what it
    /// refuses and asks about is added and nothing else of it changes. A file that has just been
    /// broken holds as it was.
    #[must_use]
    pub fn changed(&self) -> Option<Self> {
        let places = self.places.as_ref()?;
        if Stamps::take(places, &self.sources) == self.stamps {
            return None;
        }
        let mut fresh = Self::load(places, &self.sources);
        let trust = Trust::of(&places.cwd, &places.config_dir);
        self.keep_what_is_broken_now(&mut fresh);
        if trust != TrustState::Trusted {
            self.hold_back(&mut fresh);
        }
        // What lies in no file cannot have changed.
        let given = self.layers.iter().filter(|layer| layer.path.is_none());
        fresh.layers.extend(given.cloned());
        fresh.layers.sort_by_key(|layer| layer.source);
        // What is held back is the content that was trusted, and stays trusted.
        let held = matches!(trust, TrustState::Changed { .. });
        let trust = if held && self.standing.trust == TrustState::Trusted {
            TrustState::Trusted
        } else {
            trust
        };
        let approved = Trust::approved(&places.cwd, &places.config_dir);
        let named = self.standing.named.clone();
        fresh.beside.clone_from(&self.beside);
        Some(fresh.in_effect(Standing { named, trust, approved }))
    }

    fn keep_what_is_broken_now(&self, fresh: &mut Self) {
        let broken: Vec<String> = fresh
            .errors
            .iter()
            .filter(|error| error.key().is_empty())
            .map(crate::read::SettingsError::origin)
            .collect();
        let is_broken = |layer: &&Layer| {
            let path = layer.path.as_ref().map(|path| path.display().to_string());
            path.is_some_and(|path| broken.contains(&path))
        };
        fresh.layers.extend(self.layers.iter().filter(is_broken).cloned());
    }

    fn hold_back(&self, fresh: &mut Self) {
        for source in [Source::Project, Source::Local] {
            let of = |layers: &[Layer]| layers.iter().find(|it| it.source == source).cloned();
            let (old, new) = (of(&self.layers), of(&fresh.layers));
            let path = fresh.places.as_ref().and_then(|places| places.of(source));
            if old.as_ref().map(|it| &it.said) != new.as_ref().map(|it| &it.said) {
                fresh.held.extend(path.clone());
            }
            let mut layer = match (old, &new) {
                (Some(old), _) => old,
                (None, Some(new)) => Layer { said: Map::new(), ..new.clone() },
                (None, None) => continue,
            };
            if let Some(new) = new {
                add_restrictions(&mut layer.said, &new.said);
            }
            fresh.layers.retain(|it| it.source != source);
            fresh.layers.push(layer);
        }
    }
}

/// Adds what settings refuse and ask about.
fn add_restrictions(to: &mut Map<String, Value>, from: &Map<String, Value>) {
    let Some(permissions) = from.get("permissions").and_then(Value::as_object) else { return };
    for name in ["deny", "ask"] {
        let Some(Value::Array(rules)) = permissions.get(name) else { continue };
        let held = to.entry("permissions").or_insert_with(|| json!({}));
        let Some(held) = held.as_object_mut() else { continue };
        let held = held.entry(name).or_insert_with(|| json!([]));
        let Some(held) = held.as_array_mut() else { continue };
        for rule in rules {
            if !held.contains(rule) {
                held.push(rule.clone());
            }
        }
    }
}
