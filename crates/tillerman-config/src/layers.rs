//! Reading settings files and laying them over each other.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tillerman_protocol::permission::{PermissionMode, UpdateDestination};
use tillerman_protocol::settings::{PermissionSettings, Settings};

const LARGEST_SETTINGS: u64 = 2 << 20;

/// Where a layer comes from, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// The user's own file.
    User,
    /// The project's shared file.
    Project,
    /// The project's local file.
    Local,
    /// The command line.
    Flag,
}

impl Source {
    /// Reads the name that `--setting-sources` uses.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "user" => Some(Self::User),
            "project" => Some(Self::Project),
            "local" => Some(Self::Local),
            _ => None,
        }
    }

    /// Whether it lies in the working copy.
    #[must_use]
    pub const fn is_in_working_copy(self) -> bool {
        matches!(self, Self::Project | Self::Local)
    }

    /// Whether a repository can have written it: such a layer may tighten but not loosen.
    const fn is_shared(self) -> bool {
        matches!(self, Self::Project)
    }
}

/// Where settings files lie.
#[derive(Clone, Debug)]
pub struct Places {
    /// The user's configuration directory.
    pub config_dir: PathBuf,
    /// The working directory.
    pub cwd: PathBuf,
}

impl Places {
    /// The file that keeps updates for a destination; none for the session's own.
    pub(crate) fn file(&self, destination: UpdateDestination) -> Option<PathBuf> {
        match destination {
            UpdateDestination::UserSettings => Some(self.of(Source::User)),
            UpdateDestination::ProjectSettings => Some(self.of(Source::Project)),
            UpdateDestination::LocalSettings => Some(self.of(Source::Local)),
            UpdateDestination::Session | UpdateDestination::CliArg => None,
        }
    }

    fn of(&self, source: Source) -> PathBuf {
        match source {
            Source::User => self.config_dir.join("settings.json"),
            Source::Project => self.cwd.join(".claude/settings.json"),
            Source::Local | Source::Flag => self.cwd.join(".claude/settings.local.json"),
        }
    }
}

/// One settings file or argument.
#[derive(Clone, Debug)]
pub struct Layer {
    /// Where it comes from.
    pub source: Source,
    /// What it says.
    pub settings: Settings,
}

/// Why a settings file or argument could not be used.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// It could not be read.
    #[error("cannot read the settings file {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// It is larger than any settings file should be.
    #[error("the settings file {} is larger than 2 MiB", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// It is not what settings look like.
    #[error("the settings in {origin} are not valid: {source}")]
    Invalid {
        /// The file or argument.
        origin: String,
        /// What is wrong, with line and column.
        source: serde_json::Error,
        /// The rules in it that refuse and ask, if there are any.
        protection: Option<Box<Settings>>,
    },
}

impl SettingsError {
    /// What holds although the rest cannot be used.
    fn protection(&self) -> Option<Settings> {
        match self {
            Self::Invalid { protection, .. } => protection.as_deref().cloned(),
            Self::Unreadable { .. } | Self::TooLarge { .. } => None,
        }
    }
}

/// All layers, weakest first.
#[derive(Debug, Default)]
pub struct Layers {
    layers: Vec<Layer>,
    errors: Vec<SettingsError>,
}

impl Layers {
    /// Reads the files of the given sources. A broken file is left out and reported; it removes no
    /// protection that another file gives, and what it refuses itself stays refused if that can
    /// still be read.
    #[must_use]
    pub fn load(places: &Places, sources: &[Source]) -> Self {
        let mut loaded = Self::default();
        for source in [Source::User, Source::Project, Source::Local] {
            if !sources.contains(&source) {
                continue;
            }
            match read_file(&places.of(source)) {
                Ok(Some(settings)) => loaded.layers.push(Layer { source, settings }),
                Ok(None) => {}
                Err(error) => {
                    let settings = error.protection();
                    loaded.layers.extend(settings.map(|settings| Layer { source, settings }));
                    loaded.errors.push(error);
                }
            }
        }
        loaded
    }

    /// Lays the command line's settings on top.
    pub fn push_flag(&mut self, settings: Settings) {
        self.layers.push(Layer { source: Source::Flag, settings });
    }

    /// The layers, weakest first.
    #[must_use]
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Layer> {
        self.layers.iter()
    }

    /// What could not be used.
    #[must_use]
    pub fn errors(&self) -> &[SettingsError] {
        &self.errors
    }

    /// The strongest layer's value of a key.
    pub fn strongest<T>(&self, pick: impl Fn(&Settings) -> Option<T>) -> Option<T> {
        self.layers.iter().rev().find_map(|layer| pick(&layer.settings))
    }

    /// Whether any layer turns a switch on that makes things stricter.
    #[must_use]
    pub fn is_on(&self, key: &str) -> bool {
        let said = |layer: &Layer| layer.settings.extra.get(key) == Some(&Value::Bool(true));
        self.layers.iter().any(said)
    }

    /// A list of texts; a project cannot add any.
    #[must_use]
    pub fn own_texts(&self, key: &str) -> Vec<String> {
        let own = self.layers.iter().filter(|layer| !layer.source.is_shared());
        let lists = own.filter_map(|layer| layer.settings.extra.get(key)?.as_array());
        lists.flatten().filter_map(|text| text.as_str().map(str::to_owned)).collect()
    }

    /// The command that prints the API key; a project cannot name one.
    #[must_use]
    pub fn key_helper(&self) -> Option<String> {
        let own = self.layers.iter().rev().filter(|layer| !layer.source.is_shared());
        own.filter_map(|layer| layer.settings.api_key_helper.clone()).next()
    }

    /// Rules that approve; a project cannot approve anything for itself.
    #[must_use]
    pub fn allow(&self) -> Vec<String> {
        let own = self.layers.iter().filter(|layer| !layer.source.is_shared());
        own.filter_map(|layer| layer.settings.permissions.as_ref())
            .flat_map(|permissions| permissions.allow.clone())
            .collect()
    }

    /// Rules that refuse, from every layer.
    #[must_use]
    pub fn deny(&self) -> Vec<String> {
        let permissions =
            self.layers.iter().filter_map(|layer| layer.settings.permissions.as_ref());
        permissions.flat_map(|permissions| permissions.deny.clone()).collect()
    }

    /// Rules that ask, from every layer.
    #[must_use]
    pub fn ask(&self) -> Vec<String> {
        let permissions =
            self.layers.iter().filter_map(|layer| layer.settings.permissions.as_ref());
        permissions.flat_map(|permissions| permissions.ask.clone()).collect()
    }

    /// The mode to start in. A project may choose a stricter one than the user, never a looser
    /// one, and nothing that lies in a working copy can leave the decisions to a classifier.
    #[must_use]
    pub fn default_mode(&self) -> Option<PermissionMode> {
        let mut chosen = None;
        for layer in &self.layers {
            let mode = layer.settings.permissions.as_ref().and_then(|it| it.default_mode);
            let Some(mode) = mode else { continue };
            let delegates = layer.source.is_in_working_copy() && mode == PermissionMode::Auto;
            let loosens = layer.source.is_shared()
                && strictness(mode) < strictness(chosen.unwrap_or_default());
            if !(loosens || delegates) {
                chosen = Some(mode);
            }
        }
        chosen
    }

    /// Further working directories; a project cannot add any.
    #[must_use]
    pub fn directories(&self) -> Vec<PathBuf> {
        let own = self.layers.iter().filter(|layer| !layer.source.is_shared());
        own.filter_map(|layer| layer.settings.permissions.as_ref())
            .flat_map(|permissions| permissions.additional_directories.iter().map(PathBuf::from))
            .collect()
    }

    /// Variables for tools; a project cannot set any.
    #[must_use]
    pub fn variables(&self) -> Vec<(String, String)> {
        let own = self.layers.iter().filter(|layer| !layer.source.is_shared());
        own.filter_map(|layer| layer.settings.env.clone()).flatten().collect()
    }

    /// Whether any layer wants commands confined.
    #[must_use]
    pub fn wants_sandbox(&self) -> bool {
        self.layers.iter().any(|layer| {
            let sandbox = layer.settings.sandbox.as_ref();
            sandbox.and_then(|sandbox| sandbox.get("enabled")) == Some(&Value::Bool(true))
        })
    }

    /// The layers and errors as `get_settings` tells them.
    #[must_use]
    pub fn describe(&self) -> Value {
        let sources: Vec<Value> = self
            .layers
            .iter()
            .map(|layer| json!({"source": format!("{:?}", layer.source).to_lowercase(), "settings": layer.settings}))
            .collect();
        let errors: Vec<String> = self.errors.iter().map(ToString::to_string).collect();
        json!({"sources": sources, "errors": errors})
    }
}

/// Reads what `--settings` was given: a JSON object or the path of a file.
///
/// # Errors
/// When the file cannot be read or the text is not settings.
pub fn read_argument(text: &str) -> Result<Settings, SettingsError> {
    if text.trim_start().starts_with('{') {
        return parse(text, "--settings");
    }
    let path = Path::new(text);
    read_file(path)?.ok_or_else(|| SettingsError::Unreadable {
        path: path.to_path_buf(),
        source: std::io::ErrorKind::NotFound.into(),
    })
}

/// How much a mode leaves to be asked or refused.
const fn strictness(mode: PermissionMode) -> u8 {
    match mode {
        PermissionMode::BypassPermissions => 0,
        PermissionMode::Auto => 1,
        PermissionMode::AcceptEdits => 2,
        PermissionMode::Default => 3,
        PermissionMode::DontAsk => 4,
        PermissionMode::Plan => 5,
    }
}

fn read_file(path: &Path) -> Result<Option<Settings>, SettingsError> {
    let unreadable = |source| SettingsError::Unreadable { path: path.to_path_buf(), source };
    match std::fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(error)),
        Ok(metadata) if !metadata.is_file() => {
            return Err(unreadable(std::io::Error::other("it is not a regular file")));
        }
        Ok(metadata) if metadata.len() > LARGEST_SETTINGS => {
            return Err(SettingsError::TooLarge { path: path.to_path_buf() });
        }
        Ok(_) => {}
    }
    let text = std::fs::read_to_string(path).map_err(unreadable)?;
    // Some editors begin a file with a mark and leave an empty one behind.
    let text = text.trim_start_matches('\u{feff}');
    if text.trim().is_empty() {
        return Ok(None);
    }
    parse(text, &path.display().to_string()).map(Some)
}

fn parse(text: &str, origin: &str) -> Result<Settings, SettingsError> {
    serde_json::from_str(text).map_err(|source| {
        let protection = salvage(text).map(Box::new);
        SettingsError::Invalid { origin: origin.to_owned(), source, protection }
    })
}

/// Reads the rules that refuse and ask out of settings that are wrong elsewhere.
fn salvage(text: &str) -> Option<Settings> {
    let value: Value = serde_json::from_str(text).ok()?;
    let rules = |name: &str| -> Vec<String> {
        let list = value.pointer(&format!("/permissions/{name}")).and_then(Value::as_array);
        list.into_iter().flatten().filter_map(|rule| rule.as_str().map(str::to_owned)).collect()
    };
    let (deny, ask) = (rules("deny"), rules("ask"));
    if deny.is_empty() && ask.is_empty() {
        return None;
    }
    let permissions = PermissionSettings { deny, ask, ..Default::default() };
    Some(Settings { permissions: Some(permissions), ..Settings::default() })
}
