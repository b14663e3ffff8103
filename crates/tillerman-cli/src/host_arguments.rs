//! Flags that programs pass which run this one; people have no use for them.

use std::path::PathBuf;

use serde_json::{Map, Value};
use tillerman_assembly::StartFailure;

/// What a host decides about the process.
#[derive(Debug, clap::Args)]
pub(crate) struct HostArguments {
    /// Who answers permission questions: host, or none so that they are all denied
    #[arg(long, value_parser = ["host", "none"], hide = true)]
    pub(crate) permission_prompts: Option<String>,
    /// Write what goes on inside to this file instead of standard error
    #[arg(long, value_name = "FILE", hide = true)]
    pub(crate) debug_file: Option<PathBuf>,
    /// Begin with the handshake, in which the host names plugins
    #[arg(long, hide = true)]
    pub(crate) await_initialize: bool,
    /// The checkout whose settings hold instead of those of the working directory
    #[arg(long, value_name = "DIR", hide = true)]
    pub(crate) project_config_root: Option<PathBuf>,
    /// Managed settings: a directory, or a JSON object of which what restricts holds
    #[arg(long, value_name = "DIR-OR-JSON", hide = true)]
    pub(crate) managed_settings: Option<String>,
}

/// Managed settings as a host gives them.
#[derive(Debug, Default)]
pub(crate) struct ManagedSettings {
    /// A further directory of them.
    pub(crate) directory: Option<PathBuf>,
    /// The host's own.
    pub(crate) policy: Option<Map<String, Value>>,
}

impl HostArguments {
    /// Whether nobody is to be asked.
    pub(crate) fn asks_nobody(&self) -> bool {
        self.permission_prompts.as_deref() == Some("none")
    }

    /// Refuses what would otherwise be passed over: a host that names another checkout does not
    /// want what the working directory brings along.
    pub(crate) fn check(&self) -> Result<(), StartFailure> {
        let Some(root) = &self.project_config_root else { return Ok(()) };
        Err(StartFailure::usage(format!(
            "--project-config-root {} is not available, so nothing was started: the settings of \
             the working directory would hold instead. Start the session in that checkout, or \
             leave project settings out with --setting-sources.",
            root.display()
        )))
    }

    /// Reads the managed settings.
    pub(crate) fn managed(&self) -> Result<ManagedSettings, StartFailure> {
        let Some(text) = self.managed_settings.as_deref() else {
            return Ok(ManagedSettings::default());
        };
        if !text.trim_start().starts_with('{') {
            return Ok(ManagedSettings { directory: Some(text.into()), policy: None });
        }
        let policy = serde_json::from_str(text).map_err(|error| {
            StartFailure::usage(format!(
                "--managed-settings cannot be read: {error}. Nothing was started, since they may \
                 forbid something."
            ))
        })?;
        Ok(ManagedSettings { directory: None, policy: Some(policy) })
    }
}
