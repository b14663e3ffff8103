//! Reading one settings file or argument: what it says, and what in it cannot be used.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use tillerman_protocol::settings::{PermissionSettings, Settings};

use crate::keys::{self, Shape};
use crate::spots::{Spot, Spots, escaped};

const LARGEST_SETTINGS: u64 = 2 << 20;
/// The rule that stands where nobody can know what was to be refused or asked about.
const EVERYTHING: &str = "*";

/// Why a settings file or argument, or a value in it, could not be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// The file could not be read.
    #[error("cannot read the settings file {}: {problem}; the file was left out", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        problem: String,
    },
    /// The file is larger than any settings file should be.
    #[error("the settings file {} is larger than 2 MiB; the file was left out", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// The text is not what settings look like.
    #[error("the settings in {origin} are not valid: {problem} at line {} column {}; {consequence}", spot.line, spot.column)]
    Invalid {
        /// The file or argument.
        origin: String,
        /// The key, with a dot between names; empty when it is about the whole text.
        key: String,
        /// What is wrong.
        problem: String,
        /// Where.
        spot: Spot,
        /// What was done about it.
        consequence: &'static str,
    },
}

impl SettingsError {
    /// The file or argument it is about.
    #[must_use]
    pub fn origin(&self) -> String {
        match self {
            Self::Unreadable { path, .. } | Self::TooLarge { path } => path.display().to_string(),
            Self::Invalid { origin, .. } => origin.clone(),
        }
    }

    /// The key it is about, with a dot between names; empty when it is about everything.
    #[must_use]
    pub fn key(&self) -> &str {
        match self {
            Self::Unreadable { .. } | Self::TooLarge { .. } => "",
            Self::Invalid { key, .. } => key,
        }
    }

    /// Where it is, if that is known.
    #[must_use]
    pub const fn spot(&self) -> Option<Spot> {
        match self {
            Self::Unreadable { .. } | Self::TooLarge { .. } => None,
            Self::Invalid { spot, .. } => Some(*spot),
        }
    }
}

/// What a file says as far as it can be used, and where it says it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reading {
    /// What can be used.
    pub(crate) said: Map<String, Value>,
    /// Where each value stands.
    pub(crate) spots: Spots,
    /// What cannot be used.
    pub(crate) errors: Vec<SettingsError>,
}

/// Reads what `--settings` was given: a JSON object or the path of a file.
///
/// # Errors
/// When the file cannot be read or anything in it is wrong: what somebody names on the command
/// line is wanted whole.
pub fn read_argument(text: &str) -> Result<Settings, SettingsError> {
    let reading = if text.trim_start().starts_with('{') {
        read_text(text, "--settings")?
    } else {
        let path = Path::new(text);
        read_file(path)?.ok_or_else(|| SettingsError::Unreadable {
            path: path.to_path_buf(),
            problem: "there is no such file".to_owned(),
        })?
    };
    match reading.errors.into_iter().next() {
        Some(error) => Err(error),
        None => Ok(typed(&reading.said)),
    }
}

/// Reads a file; none when it is missing or empty.
pub(crate) fn read_file(path: &Path) -> Result<Option<Reading>, SettingsError> {
    let unreadable =
        |problem: String| SettingsError::Unreadable { path: path.to_path_buf(), problem };
    match std::fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(error.to_string())),
        Ok(metadata) if !metadata.is_file() => {
            return Err(unreadable("it is not a regular file".to_owned()));
        }
        Ok(metadata) if metadata.len() > LARGEST_SETTINGS => {
            return Err(SettingsError::TooLarge { path: path.to_path_buf() });
        }
        Ok(_) => {}
    }
    let text = std::fs::read_to_string(path).map_err(|error| unreadable(error.to_string()))?;
    // Some editors begin a file with a mark and leave an empty one behind.
    let text = text.trim_start_matches('\u{feff}');
    if text.trim().is_empty() {
        return Ok(None);
    }
    read_text(text, &path.display().to_string()).map(Some)
}

/// Reads a text, leaving out every known key whose value has the wrong shape.
pub(crate) fn read_text(text: &str, origin: &str) -> Result<Reading, SettingsError> {
    let whole = |problem: String, spot: Spot| SettingsError::Invalid {
        origin: origin.to_owned(),
        key: String::new(),
        problem,
        spot,
        consequence: "all of it was left out",
    };
    let said = match serde_json::from_str(text) {
        Ok(Value::Object(said)) => said,
        Ok(_) => {
            let spot = Spot { line: 1, column: 1 };
            return Err(whole("settings are a JSON object, and this is none".to_owned(), spot));
        }
        Err(error) => {
            let spot = Spot { line: error.line(), column: error.column() };
            let told = error.to_string();
            let problem = told.split(" at line ").next().unwrap_or(&told).to_owned();
            return Err(whole(problem, spot));
        }
    };
    let check = Check { origin, spots: Spots::of(text), errors: Vec::new() };
    Ok(check.run(said))
}

/// Settings with their types, from an object whose known keys have the right shape. Should one of
/// them have another after all, everything is refused rather than a rule lost.
pub(crate) fn typed(said: &Map<String, Value>) -> Settings {
    serde_json::from_value(Value::Object(said.clone())).unwrap_or_else(|_| {
        let deny = vec![EVERYTHING.to_owned()];
        let permissions = PermissionSettings { deny, ..PermissionSettings::default() };
        Settings { permissions: Some(permissions), ..Settings::default() }
    })
}

struct Check<'a> {
    origin: &'a str,
    spots: Spots,
    errors: Vec<SettingsError>,
}

impl Check<'_> {
    fn run(mut self, mut said: Map<String, Value>) -> Reading {
        said.retain(|name, value| {
            let Some(key) = keys::of(name) else { return true };
            let fits = value.is_null() || key.shape.fits(value);
            if !fits {
                self.left_out(&[name], key.shape, value);
            }
            fits && !value.is_null()
        });
        if let Some(Value::Object(permissions)) = said.get_mut("permissions") {
            self.check_permissions(permissions);
        }
        Reading { said, spots: self.spots, errors: self.errors }
    }

    fn check_permissions(&mut self, permissions: &mut Map<String, Value>) {
        for name in ["deny", "ask"] {
            if let Some(value) = permissions.get_mut(name).filter(|value| !value.is_null()) {
                self.close(name, value);
            }
        }
        permissions.retain(|name, value| {
            let Some(key) = keys::of_permissions(name) else { return true };
            let fits = value.is_null() || key.shape.fits(value);
            if !fits && name == "allow" {
                // Each rule that can be read was meant; the others approve nothing.
                return self.keep_texts(name, value);
            }
            if !fits {
                self.left_out(&["permissions", name], key.shape, value);
            }
            fits && !value.is_null()
        });
    }

    /// Makes a broken list of restrictions restrict everything: what it was to refuse is unknown.
    fn close(&mut self, name: &str, value: &mut Value) {
        let items = value.as_array().cloned();
        let broken = match &items {
            None => vec![String::new()],
            Some(items) => {
                let wrong = |(index, item): (usize, &Value)| {
                    (!item.is_string()).then(|| format!("/{index}"))
                };
                items.iter().enumerate().filter_map(wrong).collect()
            }
        };
        if broken.is_empty() {
            return;
        }
        let consequence = if name == "deny" {
            "nobody can know what it was to refuse, so EVERY TOOL CALL IS REFUSED until it is mended"
        } else {
            "nobody can know what it was to ask about, so every tool call is asked about until it \
             is mended"
        };
        for place in broken {
            let pointer = format!("/permissions/{name}{place}");
            self.errors.push(SettingsError::Invalid {
                origin: self.origin.to_owned(),
                key: format!("permissions.{name}"),
                problem: format!("permissions.{name} must be a list of rules, each a text"),
                spot: self.spot(&pointer),
                consequence,
            });
        }
        let mut rules: Vec<Value> = items.into_iter().flatten().filter(Value::is_string).collect();
        rules.push(Value::from(EVERYTHING));
        *value = Value::Array(rules);
    }

    /// Keeps the texts of a list and reports the rest; false when there is no list.
    fn keep_texts(&mut self, name: &str, value: &mut Value) -> bool {
        let Some(items) = value.as_array_mut() else {
            self.left_out(&["permissions", name], Shape::Texts, &Value::Null);
            return false;
        };
        for (index, item) in items.iter().enumerate().filter(|(_, item)| !item.is_string()) {
            self.left_out(&["permissions", name, &index.to_string()], Shape::Text, item);
        }
        items.retain(Value::is_string);
        true
    }

    fn left_out(&mut self, path: &[&str], shape: Shape, value: &Value) {
        let mut pointer = String::new();
        for name in path {
            pointer.push('/');
            pointer.push_str(&escaped(name));
        }
        if shape == Shape::Variables
            && let Some((name, _)) = value
                .as_object()
                .into_iter()
                .flatten()
                .find(|(_, it)| !(it.is_string() || it.is_number() || it.is_boolean()))
        {
            pointer.push('/');
            pointer.push_str(&escaped(name));
        }
        let key = path.join(".");
        self.errors.push(SettingsError::Invalid {
            origin: self.origin.to_owned(),
            problem: format!("{key} must be {}", shape.words()),
            key,
            spot: self.spot(&pointer),
            consequence: "the value was left out, everything else holds",
        });
    }

    fn spot(&self, pointer: &str) -> Spot {
        self.spots.find(pointer).unwrap_or(Spot { line: 1, column: 1 })
    }
}
