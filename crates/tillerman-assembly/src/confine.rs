//! The sandbox of a session: what settings and rules ask for, made ready before anything runs.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tillerman_config::Layers;
use tillerman_policy::Policy;
use tillerman_ports::Confiner;
use tillerman_protocol::sandbox::SandboxSettings;
use tillerman_runtime::Secrets;
use tillerman_sandbox::{Guard, Sandbox, SandboxError, SessionPlaces, SessionSandbox};

use crate::environment::Environment;
use crate::failure::StartFailure;
use crate::lending;

/// The sandbox of this machine, whose stages this program carries out.
#[must_use]
pub fn machine(stage_program: &Path, environment: &Environment) -> Sandbox {
    Sandbox::new(stage_program.to_path_buf(), environment.temp_dir())
}

/// What settings say about the sandbox; nothing when they do not ask for one.
///
/// # Errors
/// When what they say cannot be read.
pub fn settings(layers: &Layers) -> Result<Option<SandboxSettings>, StartFailure> {
    let settings = layers.sandbox().map_err(|error| StartFailure::usage(error.to_string()))?;
    Ok(Some(settings).filter(SandboxSettings::is_enabled))
}

/// Makes the sandbox ready that the policy asks for. A session that cannot have it does not start.
pub(crate) async fn confiner(
    policy: &Policy,
    environment: &[(std::ffi::OsString, std::ffi::OsString)],
    process: &Environment,
    stage_program: Option<&Path>,
    secrets: &Secrets,
) -> Result<Option<Arc<dyn Confiner>>, StartFailure> {
    let Some(settings) = &policy.sandbox else { return Ok(None) };
    let failed = |error: &dyn std::error::Error| {
        let causes = std::iter::successors(Some(error), |error| error.source());
        let text: Vec<String> = causes.map(ToString::to_string).collect();
        StartFailure::usage(format!(
            "The settings ask for a sandbox that cannot be had: {}. Nothing was started. \
             `tillerman doctor` says what this machine can enforce.",
            text.join(": ")
        ))
    };
    let Some(stage_program) = stage_program else {
        return Err(StartFailure::usage(
            "The settings ask for a sandbox that cannot be had: no program is named that carries \
             out confined commands. Nothing was started. Name the tillerman binary as the order's \
             stage program, or switch the sandbox off.",
        ));
    };
    let sandbox = machine(stage_program, process);
    let cwd = policy.directories.first().map_or(Path::new("/"), PathBuf::as_path);
    let places = SessionPlaces {
        directories: policy.directories.clone(),
        home: policy.home.clone(),
        guarded: guards(policy),
        environment: environment.iter().cloned().collect(),
        credentials: lending::credentials(settings, process, cwd, secrets),
    };
    let settings = with_rules(settings.clone(), policy, &process.config_dir());
    let ready = SessionSandbox::prepare(&sandbox, settings, places).await;
    let ready = ready.map_err(|error: SandboxError| failed(&error))?;
    Ok(Some(Arc::new(ready)))
}

fn guards(policy: &Policy) -> Vec<Guard> {
    let guard =
        |path: PathBuf| if path.is_dir() { Guard::directory(path) } else { Guard::file(path) };
    policy.unwritable_paths().into_iter().map(guard).collect()
}

/// What rules refuse to tools is refused to commands, and sessions are never theirs to read.
fn with_rules(
    mut settings: SandboxSettings,
    policy: &Policy,
    config_dir: &Path,
) -> SandboxSettings {
    let text = |path: PathBuf| format!("/{}", path.display());
    let hidden = policy.unreadable_paths().into_iter().chain([config_dir.to_path_buf()]);
    settings.filesystem.deny_read.extend(hidden.map(text));
    let lent: Vec<String> = lending::files(&settings).collect();
    settings.filesystem.deny_read.extend(lent);
    settings.network.allowed_domains.extend(policy.fetchable_domains());
    settings.network.denied_domains.extend(policy.unfetchable_domains());
    settings
}
