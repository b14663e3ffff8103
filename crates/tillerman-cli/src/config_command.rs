//! `tillerman config show`: the settings in force, and where each value came from.

use std::io::Write as _;
use std::path::PathBuf;

use serde_json::{Value, json};
use tillerman_assembly::{JsonSource, StartFailure, settings};
use tillerman_config::{Layers, Merged, Origin};

use crate::environment;
use crate::order::sources;
use crate::permissions::visible;

/// What can be done about settings.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print the settings in force here
    Show(ShowArguments),
}

/// What is shown of the settings, and how.
#[derive(Debug, clap::Args)]
pub(crate) struct ShowArguments {
    /// Say where each value came from
    #[arg(long)]
    origin: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Further settings: a file or a JSON object
    #[arg(long, value_name = "FILE-OR-JSON")]
    settings: Option<String>,
    /// Which settings files are read: user, project, local (default: all)
    #[arg(long, value_name = "SOURCES")]
    setting_sources: Option<String>,
    /// A further directory of managed settings
    #[arg(long, value_name = "DIR", hide = true)]
    managed_settings: Option<PathBuf>,
}

/// Runs the command; the result is the exit code.
pub(crate) fn run(command: &ConfigCommand) -> Result<u8, StartFailure> {
    let ConfigCommand::Show(arguments) = command;
    let (environment, cwd) = (environment::capture(), environment::working_directory()?);
    let places = settings::places(&environment, &cwd, arguments.managed_settings.as_ref());
    let named = arguments.setting_sources.as_deref().map(sources).transpose()?;
    let over = arguments.settings.as_deref().map(JsonSource::read);
    let layers = settings::load(&places, named.as_deref(), over.as_ref())?;
    let merged = layers.merged();
    let text = match (arguments.json, arguments.origin) {
        (true, true) => as_json(&layers, &merged).to_string() + "\n",
        (true, false) => format!("{}\n", merged.shown()),
        (false, true) => lines(&merged, |_| true).iter().map(|line| format!("{line}\n")).collect(),
        (false, false) => format!("{:#}\n", merged.shown()),
    };
    drop(std::io::stdout().write_all(text.as_bytes()));
    let mut stderr = std::io::stderr();
    for error in layers.errors() {
        drop(writeln!(stderr, "{error}"));
    }
    if let Some(notice) = layers.notice() {
        drop(writeln!(stderr, "{notice}"));
    }
    Ok(u8::from(!layers.errors().is_empty()))
}

fn as_json(layers: &Layers, merged: &Merged) -> Value {
    let mut told = layers.describe();
    let origins = merged.origins.iter().map(|(pointer, origin)| {
        let mut place = json!({"source": origin.source.name()});
        if let Some(path) = &origin.path {
            place["path"] = json!(path);
        }
        if let Some(spot) = origin.spot {
            place["line"] = json!(spot.line);
        }
        (pointer.clone(), place)
    });
    told["origins"] = origins.collect::<serde_json::Map<_, _>>().into();
    told
}

/// One line per value: the key, the value, and the file and line it stands in.
pub(crate) fn lines(merged: &Merged, wanted: impl Fn(&Origin) -> bool) -> Vec<String> {
    let shown = merged.shown();
    let line = |(pointer, origin): (&String, &Origin)| {
        let value = shown.pointer(pointer).cloned().unwrap_or_default().to_string();
        let (key, place) = (visible(&dotted(pointer)), visible(&origin.to_string()));
        format!("{key} = {}  # {place} ({})", visible(&value), origin.source)
    };
    merged.origins.iter().filter(|(_, origin)| wanted(origin)).map(line).collect()
}

/// A JSON pointer as people write keys: `permissions.deny[0]`.
fn dotted(pointer: &str) -> String {
    let mut key = String::new();
    for part in pointer.split('/').skip(1) {
        let part = part.replace("~1", "/").replace("~0", "~");
        if part.parse::<usize>().is_ok() {
            key.push_str(&format!("[{part}]"));
        } else {
            if !key.is_empty() {
                key.push('.');
            }
            key.push_str(&part);
        }
    }
    key
}
