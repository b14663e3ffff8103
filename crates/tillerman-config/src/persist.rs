//! Writing permission updates into the settings file they are meant for.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use tillerman_protocol::permission::{
    PermissionRule, PermissionUpdate, RuleBehavior, UpdateDestination,
};

use crate::source::{Places, Source};
use crate::trust::{Trust, TrustError};

/// Why an update could not be kept.
#[derive(Debug, thiserror::Error)]
pub enum PersistError {
    /// The file holds something that is not settings; it was left as it is.
    #[error("{} is not valid, so nothing was added to it: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The file could not be read or written.
    #[error("cannot update {}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// The file was written, and that the user wanted it could not be written down.
    #[error("{} was updated, but later sessions may ask again", path.display())]
    NotRemembered {
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: TrustError,
    },
}

/// Adds an update to the settings file of its destination; updates for the session are kept by the
/// session alone. Everything else in the file stays as it is.
///
/// # Errors
/// When the file is damaged or cannot be written; it is left as it was.
pub fn persist(places: &Places, update: &PermissionUpdate) -> Result<(), PersistError> {
    let Some(path) = destination(update).and_then(|destination| places.file(destination)) else {
        return Ok(());
    };
    change_file(places, &path, |settings| {
        let permissions = settings.entry("permissions").or_insert_with(|| json!({}));
        let permissions = permissions.as_object_mut().ok_or("`permissions` is not an object")?;
        apply(permissions, update)
    })?;
    if path.starts_with(&places.cwd) {
        remember(places, update, &path)?;
    }
    Ok(())
}

/// Sets a key of the settings file of a source; everything else in the file stays as it is.
///
/// # Errors
/// When the source has no file, or the file is damaged or cannot be written; it is left as it was.
pub fn change_key(
    places: &Places,
    source: Source,
    key: &str,
    value: Value,
) -> Result<(), PersistError> {
    let Some(path) = places.of(source) else { return Ok(()) };
    change_file(places, &path, |settings| {
        settings.insert(key.to_owned(), value);
        Ok(())
    })
}

/// Changes a file that the user lets us change. If the file was trusted before it stays so: the only
/// difference is what the user has just asked for.
fn change_file(
    places: &Places,
    path: &Path,
    change: impl FnOnce(&mut Map<String, Value>) -> Result<(), &'static str>,
) -> Result<(), PersistError> {
    refuse_links(path)?;
    let before = read(path)?;
    let mut settings = parse(path, before.as_deref())?;
    change(&mut settings).map_err(|reason| PersistError::Damaged {
        path: path.to_path_buf(),
        reason: reason.to_owned(),
    })?;
    let after = write(path, &settings)?;
    let Ok(name) = path.strip_prefix(&places.cwd) else { return Ok(()) };
    let name = name.display().to_string();
    Trust::renew(&places.cwd, &places.config_dir, &name, (before.as_deref(), &after))
        .map_err(|error| not_remembered(path, error))
}

/// Writes down what the user approved, so that it holds although nobody trusts the whole file.
fn remember(places: &Places, update: &PermissionUpdate, path: &Path) -> Result<(), PersistError> {
    use RuleBehavior::Allow;
    let (cwd, config_dir) = (&places.cwd, &places.config_dir);
    let texts = |rules: &[PermissionRule]| rules.iter().map(written).collect::<Vec<_>>();
    let remembered = match update {
        PermissionUpdate::AddRules { rules, behavior: Allow, .. }
        | PermissionUpdate::ReplaceRules { rules, behavior: Allow, .. } => {
            Trust::approve(cwd, config_dir, &texts(rules))
        }
        PermissionUpdate::AddDirectories { directories, .. } => {
            Trust::approve(cwd, config_dir, directories)
        }
        PermissionUpdate::RemoveRules { rules, behavior: Allow, .. } => {
            Trust::disapprove(cwd, config_dir, &texts(rules))
        }
        PermissionUpdate::RemoveDirectories { directories, .. } => {
            Trust::disapprove(cwd, config_dir, directories)
        }
        PermissionUpdate::AddRules { .. }
        | PermissionUpdate::ReplaceRules { .. }
        | PermissionUpdate::RemoveRules { .. }
        | PermissionUpdate::SetMode { .. }
        | PermissionUpdate::Other(_) => Ok(()),
    };
    remembered.map_err(|error| not_remembered(path, error))
}

fn not_remembered(path: &Path, source: TrustError) -> PersistError {
    PersistError::NotRemembered { path: path.to_path_buf(), source }
}

/// An agent can plant a link where a settings file belongs; nothing is written through one.
pub(crate) fn refuse_links(path: &Path) -> Result<(), PersistError> {
    for place in [Some(path), path.parent()].into_iter().flatten() {
        if std::fs::symlink_metadata(place).is_ok_and(|metadata| metadata.is_symlink()) {
            let reason = format!("{} is a link", place.display());
            return Err(PersistError::Damaged { path: path.to_path_buf(), reason });
        }
    }
    Ok(())
}

fn destination(update: &PermissionUpdate) -> Option<UpdateDestination> {
    match update {
        PermissionUpdate::AddRules { destination, .. }
        | PermissionUpdate::ReplaceRules { destination, .. }
        | PermissionUpdate::RemoveRules { destination, .. }
        | PermissionUpdate::SetMode { destination, .. }
        | PermissionUpdate::AddDirectories { destination, .. }
        | PermissionUpdate::RemoveDirectories { destination, .. } => Some(*destination),
        PermissionUpdate::Other(_) => None,
    }
}

fn apply(
    permissions: &mut Map<String, Value>,
    update: &PermissionUpdate,
) -> Result<(), &'static str> {
    match update {
        PermissionUpdate::AddRules { rules, behavior, .. } => {
            add(list(permissions, name(*behavior))?, rules.iter().map(written));
        }
        PermissionUpdate::ReplaceRules { rules, behavior, .. } => {
            *list(permissions, name(*behavior))? =
                rules.iter().map(|rule| json!(written(rule))).collect();
        }
        PermissionUpdate::RemoveRules { rules, behavior, .. } => {
            let gone: Vec<String> = rules.iter().map(written).collect();
            remove(list(permissions, name(*behavior))?, &gone);
        }
        PermissionUpdate::SetMode { mode, .. } => {
            permissions.insert("defaultMode".to_owned(), json!(mode));
        }
        PermissionUpdate::AddDirectories { directories, .. } => {
            add(list(permissions, "additionalDirectories")?, directories.iter().cloned());
        }
        PermissionUpdate::RemoveDirectories { directories, .. } => {
            remove(list(permissions, "additionalDirectories")?, directories);
        }
        PermissionUpdate::Other(_) => {}
    }
    Ok(())
}

const fn name(behavior: RuleBehavior) -> &'static str {
    match behavior {
        RuleBehavior::Allow => "allow",
        RuleBehavior::Deny => "deny",
        RuleBehavior::Ask => "ask",
    }
}

fn written(rule: &PermissionRule) -> String {
    match &rule.rule_content {
        Some(content) => format!("{}({content})", rule.tool_name),
        None => rule.tool_name.clone(),
    }
}

fn list<'a>(
    permissions: &'a mut Map<String, Value>,
    key: &str,
) -> Result<&'a mut Vec<Value>, &'static str> {
    let value = permissions.entry(key).or_insert_with(|| json!([]));
    value.as_array_mut().ok_or("a list of rules is not a list")
}

fn add(list: &mut Vec<Value>, texts: impl Iterator<Item = String>) {
    for text in texts {
        let value = Value::String(text);
        if !list.contains(&value) {
            list.push(value);
        }
    }
}

fn remove(list: &mut Vec<Value>, gone: &[String]) {
    list.retain(|value| !gone.iter().any(|text| value == text.as_str()));
}

pub(crate) fn read(path: &Path) -> Result<Option<String>, PersistError> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(PersistError::Io { path: path.to_path_buf(), source }),
    }
}

pub(crate) fn parse(path: &Path, text: Option<&str>) -> Result<Map<String, Value>, PersistError> {
    match text {
        Some(text) if !text.trim().is_empty() => serde_json::from_str(text).map_err(|error| {
            PersistError::Damaged { path: path.to_path_buf(), reason: error.to_string() }
        }),
        _ => Ok(Map::new()),
    }
}

/// Replaces the file in one step, so that no reader ever sees half of it; the result is the text.
pub(crate) fn write(path: &Path, settings: &Map<String, Value>) -> Result<String, PersistError> {
    let io = |source| PersistError::Io { path: path.to_path_buf(), source };
    let directory = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(directory).map_err(io)?;
    let mut text = serde_json::to_string_pretty(settings).map_err(|error| io(error.into()))?;
    text.push('\n');
    let mut file = tempfile::NamedTempFile::new_in(directory).map_err(io)?;
    file.write_all(text.as_bytes()).map_err(io)?;
    file.persist(path).map_err(|error| io(error.error))?;
    Ok(text)
}
