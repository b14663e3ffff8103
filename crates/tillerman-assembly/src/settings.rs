//! The settings of a session: which files are read, how far they are believed, and what changes.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use tillerman_config::{Layers, Places, Source, Standing, Trust, change_key, read_argument};
use tillerman_engine::SessionConfig;
use tillerman_models::catalog::DEFAULT_MODEL;
use tillerman_ports::{LiveSettings, SettingsChange, SettingsNotice, SettingsRules};

use crate::environment::Environment;
use crate::failure::StartFailure;
use crate::model_choice::REHEARSAL;
use crate::order::{JsonSource, SessionOrder};

const MOST_FALLBACKS: usize = 3;
const MOST_REMEMBERED: usize = 64;

/// Where the settings of a session in this directory lie.
#[must_use]
pub fn places(environment: &Environment, cwd: &Path, managed: Option<&PathBuf>) -> Places {
    Places::new(environment.config_dir(), cwd.to_path_buf()).also_managed_by(managed.cloned())
}

/// Reads all layers and decides what of the repository takes effect. Sources that somebody named
/// may run what they name; only the user's stored trust lets them loosen anything.
///
/// # Errors
/// When the settings over those of files cannot be read.
pub fn load(
    places: &Places,
    named: Option<&[Source]>,
    over: Option<&JsonSource>,
) -> Result<Layers, StartFailure> {
    let read = named.unwrap_or(&Source::USUAL);
    let standing = Standing {
        named: named.unwrap_or_default().to_vec(),
        trust: Trust::of(&places.cwd, &places.config_dir),
        approved: Trust::approved(&places.cwd, &places.config_dir),
    };
    let mut layers = Layers::load(places, read).in_effect(standing);
    if let Some(over) = over {
        let text = over.below(&places.cwd).to_string();
        let settings =
            read_argument(&text).map_err(|error| StartFailure::usage(error.to_string()))?;
        layers.push_flag(settings);
    }
    Ok(layers)
}

/// The settings a session is started with.
///
/// # Errors
/// When the settings of the order cannot be read.
pub fn of_session(
    order: &SessionOrder,
    environment: &Environment,
    cwd: &Path,
) -> Result<Layers, StartFailure> {
    let extension = &order.extension;
    let places = places(environment, cwd, extension.managed_settings.as_ref());
    let sources = extension.setting_sources.as_deref();
    let mut layers = load(&places, sources, extension.settings.as_ref())?;
    if let Some(policy) = &extension.host_policy {
        for key in layers.push_host_policy(policy) {
            tracing::warn!(
                "{key} in the host's managed settings restricts nothing and was left out"
            );
        }
    }
    Ok(layers)
}

/// Fills in what neither the command line nor the environment chose, and refuses a model that the
/// settings do not make available.
pub(crate) fn choose(layers: &Layers, engine: &mut SessionConfig) -> Result<(), StartFailure> {
    if engine.fallback_models.is_empty() {
        let named = layers.strongest(|settings| {
            Some(settings.fallback_model.clone()).filter(|models| !models.is_empty())
        });
        let named = named.unwrap_or_default();
        engine.fallback_models = named
            .iter()
            .take(MOST_FALLBACKS)
            .map(|name| engine.catalog.resolve(name).to_owned())
            .collect();
    }
    if engine.effort.is_none() {
        engine.effort = layers.strongest(|settings| settings.effort_level.clone());
    }
    let Some(available) = layers.available_models() else { return Ok(()) };
    let catalog = &engine.catalog;
    engine.fallback_models.retain(|model| catalog.includes(&available, model));
    let model = &engine.model;
    if model == DEFAULT_MODEL || model == REHEARSAL || catalog.includes(&available, model) {
        return Ok(());
    }
    Err(StartFailure::usage(format!(
        "{model} is not among the models that the settings make available ({}), so nothing was \
         started. Choose one of them with --model.",
        available.join(", ")
    )))
}

/// Settings that are looked at again before every request.
#[derive(Debug)]
pub(crate) struct SettingsDesk {
    layers: Layers,
    places: Places,
    told: Vec<SettingsNotice>,
    untold: Vec<SettingsNotice>,
}

impl SettingsDesk {
    /// Watches the files of these layers.
    pub(crate) fn new(layers: Layers, places: Places) -> Self {
        let mut desk = Self { layers, places, told: Vec::new(), untold: Vec::new() };
        desk.note();
        desk
    }

    /// Says that credentials are not lent, if so.
    pub(crate) fn telling(mut self, unlent: Option<String>) -> Self {
        self.say(unlent.map(|text| SettingsNotice { key: "credentials_not_lent", text }));
        self
    }

    /// Says what is new about the files.
    fn note(&mut self) {
        let error = |error: &tillerman_config::SettingsError| SettingsNotice {
            key: "settings_error",
            text: error.to_string(),
        };
        let mut notices: Vec<SettingsNotice> = self.layers.errors().iter().map(error).collect();
        notices.extend(
            self.layers.notice().map(|text| SettingsNotice { key: "settings_left_out", text }),
        );
        self.say(notices);
    }

    /// Says on standard error what is new, and keeps it for the host.
    fn say(&mut self, notices: impl IntoIterator<Item = SettingsNotice>) {
        for notice in notices {
            if !self.told.contains(&notice) {
                // Whoever keeps changing a file hears of old mistakes again, and fills no memory.
                if self.told.len() == MOST_REMEMBERED {
                    self.told.remove(0);
                }
                tracing::warn!("{}", notice.text);
                self.untold.push(notice.clone());
                self.told.push(notice);
            }
        }
    }

    fn rules(&self) -> SettingsRules {
        SettingsRules {
            allow: self.layers.allow(),
            deny: self.layers.deny(),
            ask: self.layers.ask(),
            directories: directories(&self.layers, &self.places.cwd),
        }
    }

    fn swap(&mut self, layers: Layers) -> SettingsChange {
        let before = self.rules();
        let files = layers.changed_since(&self.layers).into_iter();
        let files = files.map(|(source, path)| (name_for_hooks(source), path)).collect();
        self.layers = layers;
        self.note();
        SettingsChange { before, after: self.rules(), hooks: self.layers.hooks().sources, files }
    }
}

const fn name_for_hooks(source: Source) -> &'static str {
    match source {
        Source::User => "user_settings",
        Source::Project => "project_settings",
        Source::Local => "local_settings",
        Source::Flag => "flag_settings",
        Source::Managed => "policy_settings",
    }
}

impl LiveSettings for SettingsDesk {
    fn describe(&self) -> Value {
        self.layers.describe()
    }

    fn available_models(&self) -> Option<Vec<String>> {
        self.layers.available_models()
    }

    fn notices(&mut self) -> Vec<SettingsNotice> {
        std::mem::take(&mut self.untold)
    }

    fn refresh(&mut self) -> Option<SettingsChange> {
        let layers = self.layers.changed()?;
        Some(self.swap(layers))
    }

    fn apply_flags(&mut self, changes: &Map<String, Value>) -> Result<SettingsChange, String> {
        let mut layers = self.layers.clone();
        layers.change_flag(changes).map_err(|error| error.to_string())?;
        Ok(self.swap(layers))
    }

    fn update_file(&mut self, source: &str, settings: &Map<String, Value>) -> Result<(), String> {
        // A settings file grants permissions and runs hooks, so each key is let in one by one.
        let (source, key) = match source {
            "localSettings" => (Source::Local, "outputStyle"),
            "userSettings" => (Source::User, "effortLevel"),
            other => {
                return Err(format!(
                    "{other} cannot be changed; name localSettings or userSettings"
                ));
            }
        };
        if let Some(other) = settings.keys().find(|name| *name != key) {
            return Err(format!(
                "{other} cannot be changed this way, so nothing was; {source} settings take {key}"
            ));
        }
        let Some(value) = settings.get(key) else { return Ok(()) };
        if !value.is_string() {
            return Err(format!("{key} must be a text, so nothing was changed"));
        }
        change_key(&self.places, source, key, value.clone()).map_err(|error| told(&error))
    }
}

/// Further working directories that exist; one in a settings file may exist on one machine and not
/// on another.
pub(crate) fn directories(layers: &Layers, cwd: &Path) -> Vec<PathBuf> {
    let named = layers.directories().into_iter();
    named.filter_map(|path| cwd.join(path).canonicalize().ok()).collect()
}

/// An error with everything that led to it.
#[must_use]
pub fn told(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text.push_str(&format!(": {error}"));
        source = error.source();
    }
    text
}
