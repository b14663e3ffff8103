//! `tillerman trust`: letting a repository's settings take effect, and taking that back.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use tillerman_assembly::{StartFailure, settings};
use tillerman_config::{Origin, Places, Trust, TrustError, TrustState};

use crate::config_command::lines;
use crate::environment;
use crate::permissions::visible;

/// Which directory is trusted, and what is done about it.
#[derive(Debug, clap::Args)]
pub(crate) struct TrustArguments {
    /// The directory (default: this one)
    directory: Option<PathBuf>,
    /// List what is trusted
    #[arg(long, conflicts_with_all = ["directory", "revoke"])]
    list: bool,
    /// Trust it no longer
    #[arg(long)]
    revoke: bool,
}

/// Runs the command; the result is the exit code.
pub(crate) fn run(arguments: &TrustArguments) -> Result<u8, StartFailure> {
    let config_dir = environment::capture().config_dir();
    let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
    let directory = match &arguments.directory {
        Some(directory) => here.join(directory),
        None => here,
    };
    // The name that trust is kept under, when there is such a directory.
    let directory = directory.canonicalize().unwrap_or(directory);
    let text = if arguments.list {
        list(&config_dir)?
    } else if arguments.revoke {
        revoke(&directory, &config_dir)?
    } else {
        grant(&directory, &config_dir)?
    };
    drop(std::io::stdout().write_all(text.as_bytes()));
    Ok(0)
}

fn grant(directory: &Path, config_dir: &Path) -> Result<String, StartFailure> {
    let before = Trust::of(directory, config_dir);
    let files = Trust::grant(directory, config_dir).map_err(|error| failed(&error))?;
    let places = Places::new(config_dir.to_path_buf(), directory.to_path_buf());
    let merged = settings::load(&places, None, None)?.merged();
    let name = visible(&directory.display().to_string());
    let mut text = match before {
        TrustState::Trusted => format!("{name} is still trusted.\n"),
        TrustState::Untrusted { .. } => format!("{name} is trusted now.\n"),
        TrustState::Changed { files } => {
            let files: Vec<String> = files.iter().map(|file| visible(file)).collect();
            format!("{name} is trusted again; changed since last time: {}.\n", files.join(", "))
        }
    };
    let of_repository = |origin: &Origin| origin.source.is_in_repository();
    for line in lines(&merged, of_repository) {
        text.push_str(&format!("  holds now: {line}\n"));
    }
    for file in &files {
        text.push_str(&format!("  trusted as it is: {}\n", visible(file)));
    }
    if files.is_empty() {
        text.push_str("  There is nothing in it yet that could run or loosen anything; what comes later is asked about.\n");
    }
    text.push_str("Take it back with `tillerman trust --revoke`.\n");
    Ok(text)
}

fn revoke(directory: &Path, config_dir: &Path) -> Result<String, StartFailure> {
    let was_there = Trust::revoke(directory, config_dir).map_err(|error| failed(&error))?;
    let name = visible(&directory.display().to_string());
    Ok(if was_there {
        format!("{name} is not trusted any more.\n")
    } else {
        format!("{name} was not trusted; nothing changed.\n")
    })
}

fn list(config_dir: &Path) -> Result<String, StartFailure> {
    let directories = Trust::list(config_dir).map_err(|error| failed(&error))?;
    if directories.is_empty() {
        return Ok("No directory is trusted. Trust one with `tillerman trust DIR`.\n".to_owned());
    }
    let mut text = String::new();
    for (name, entry) in directories {
        let state = match (entry.files, Trust::of(Path::new(&name), config_dir)) {
            (None, _) => "not trusted".to_owned(),
            (Some(_), TrustState::Trusted) => "trusted".to_owned(),
            (Some(_), TrustState::Changed { files }) => format!("changed: {}", files.join(", ")),
            (Some(_), TrustState::Untrusted { why }) => why,
        };
        text.push_str(&format!("{}: {}", visible(&name), visible(&state)));
        if !entry.approved.is_empty() {
            text.push_str(&format!("; approved: {}", visible(&entry.approved.join(", "))));
        }
        text.push('\n');
    }
    Ok(text)
}

fn failed(error: &TrustError) -> StartFailure {
    StartFailure::usage(format!("Nothing was changed: {}", settings::told(error)))
}
