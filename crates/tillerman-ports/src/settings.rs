//! The port through which a session hears that its settings changed.

use std::path::PathBuf;

use serde_json::{Map, Value};
use tillerman_protocol::hook::HookSource;

/// The permission rules and directories that settings give, as they are written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SettingsRules {
    /// Rules that approve.
    pub allow: Vec<String>,
    /// Rules that refuse.
    pub deny: Vec<String>,
    /// Rules that ask.
    pub ask: Vec<String>,
    /// Further working directories; absolute, links resolved.
    pub directories: Vec<PathBuf>,
}

/// Settings that changed while a session runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SettingsChange {
    /// What held until now.
    pub before: SettingsRules,
    /// What holds from now on.
    pub after: SettingsRules,
    /// Hooks of the settings that hold from now on.
    pub hooks: Vec<HookSource>,
    /// The files that changed, each with its source as hooks know it, such as `user_settings`.
    pub files: Vec<(&'static str, PathBuf)>,
}

/// Something about settings that people should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsNotice {
    /// What it is about, for programs.
    pub key: &'static str,
    /// What happened and what to do, for people.
    pub text: String,
}

/// Settings that are watched while a session runs.
pub trait LiveSettings: Send + std::fmt::Debug {
    /// The settings as `get_settings` tells them.
    fn describe(&self) -> Value;

    /// The models that a host may choose while the session runs; none when nobody limits them.
    fn available_models(&self) -> Option<Vec<String>> {
        None
    }

    /// What has not been told yet; asking twice tells nothing twice.
    fn notices(&mut self) -> Vec<SettingsNotice>;

    /// What changed since the last call. It is called before every request to the model and must
    /// cost next to nothing when nothing changed.
    fn refresh(&mut self) -> Option<SettingsChange>;

    /// Changes keys of the host's own settings: each is replaced whole, `null` takes it back.
    ///
    /// # Errors
    /// A text for people; nothing was changed then.
    fn apply_flags(&mut self, changes: &Map<String, Value>) -> Result<SettingsChange, String>;

    /// Changes keys in the settings file of a source.
    ///
    /// # Errors
    /// A text for people; nothing was changed then.
    fn update_file(&mut self, source: &str, settings: &Map<String, Value>) -> Result<(), String>;
}

/// Settings that never change: what `get_settings` is answered with.
impl LiveSettings for Value {
    fn describe(&self) -> Value {
        self.clone()
    }

    fn notices(&mut self) -> Vec<SettingsNotice> {
        Vec::new()
    }

    fn refresh(&mut self) -> Option<SettingsChange> {
        None
    }

    fn apply_flags(&mut self, _: &Map<String, Value>) -> Result<SettingsChange, String> {
        Err("The settings of this session are fixed, so nothing was changed.".to_owned())
    }

    fn update_file(&mut self, _: &str, _: &Map<String, Value>) -> Result<(), String> {
        Err("The settings of this session are fixed, so nothing was changed.".to_owned())
    }
}
