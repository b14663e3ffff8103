//! Settings and the sandbox as one argument.

use serde_json::{Map, Value};
use tillerman_protocol::sandbox::SandboxSettings;

use crate::error::{Error, ErrorKind, Result};
use crate::options::extension::Settings;

/// The value of `--settings`: a path as it is, or everything as JSON once there is a sandbox.
pub(crate) fn argument(
    settings: Option<&Settings>,
    sandbox: Option<&SandboxSettings>,
) -> Result<Option<String>> {
    let mut fields = match (settings, sandbox) {
        (None, None) => return Ok(None),
        (Some(Settings::File(path)), None) => return Ok(Some(path.display().to_string())),
        (Some(Settings::File(path)), Some(_)) => read(path)?,
        (Some(Settings::Json(fields)), _) => fields.clone(),
        (None, Some(_)) => Map::new(),
    };
    if let Some(sandbox) = sandbox {
        let sandbox = serde_json::to_value(sandbox).unwrap_or_default();
        fields.insert("sandbox".to_owned(), sandbox);
    }
    Ok(Some(Value::Object(fields).to_string()))
}

fn read(path: &std::path::Path) -> Result<Map<String, Value>> {
    let unusable = || {
        let text = format!(
            "the settings file {} cannot be read, and the sandbox belongs into it; nothing was \
             started; correct the file or leave it out",
            path.display()
        );
        Error::new(ErrorKind::InvalidOptions, text)
    };
    let text = std::fs::read_to_string(path).map_err(|error| unusable().because(error))?;
    serde_json::from_str(&text).map_err(|error| unusable().because(error))
}
