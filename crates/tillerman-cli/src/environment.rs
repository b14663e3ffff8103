//! What this process was started with: its environment and its working directory.

use std::path::PathBuf;

use tillerman_assembly::{Environment, StartFailure};

/// Takes a copy of the environment of this process.
pub(crate) fn capture() -> Environment {
    Environment::new(std::env::vars_os())
}

/// The values of all variables whose names are wanted.
pub(crate) fn values(is_wanted: impl Fn(&str) -> bool) -> Vec<String> {
    let wanted = std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(&is_wanted));
    wanted.filter_map(|(_, value)| value.into_string().ok()).collect()
}

/// The working directory of this process.
pub(crate) fn working_directory() -> Result<PathBuf, StartFailure> {
    std::env::current_dir().map_err(|error| {
        StartFailure::usage(format!("The working directory cannot be used: {error}"))
    })
}
