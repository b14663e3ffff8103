//! `tillerman doctor`: what this machine and this configuration can do.

use std::path::Path;

use tillerman_assembly::{Environment, agent_trees, confine, settings};
use tillerman_config::Layers;
use tillerman_sandbox::{Backend, report};

/// What was found, and whether everything that was asked for can be had.
#[derive(Debug)]
pub(crate) struct Findings {
    /// The report for people.
    pub(crate) text: String,
    /// Whether a session could start as configured.
    pub(crate) well: bool,
}

/// Looks at everything a session would need.
pub(crate) fn examine(environment: &Environment, cwd: &Path) -> Findings {
    let mut text = format!("Tillerman {}\n\n", env!("CARGO_PKG_VERSION"));
    let mut well = true;
    text.push_str("Sessions\n");
    let config_dir = environment.config_dir();
    match writable(&config_dir) {
        Ok(()) => line(&mut text, "kept in", &config_dir.display().to_string()),
        Err(error) => {
            well = false;
            let problem = format!("{} cannot be written: {error}", config_dir.display());
            line(&mut text, "kept nowhere", &problem);
        }
    }
    let layers = match settings::load(&settings::places(environment, cwd, None), None, None) {
        Ok(layers) => layers,
        Err(failure) => {
            line(&mut text, "settings", &failure.message);
            return Findings { text, well: false };
        }
    };
    match layers.errors() {
        [] => line(&mut text, "settings", "read without problems"),
        errors => {
            well = false;
            for error in errors {
                line(&mut text, "settings", &error.to_string());
            }
        }
    }
    line(&mut text, "credentials", &credentials(environment, &layers));
    for tree in agent_trees(cwd) {
        line(&mut text, "agent's tree", &format!("{} (git worktree remove)", tree.display()));
    }
    text.push('\n');
    well &= sandbox(&mut text, environment, &layers);
    Findings { text, well }
}

fn sandbox(text: &mut String, environment: &Environment, layers: &Layers) -> bool {
    let wanted = match confine::settings(layers) {
        Ok(settings) => settings.is_some(),
        Err(failure) => {
            line(text, "sandbox", &failure.message);
            return false;
        }
    };
    match std::env::current_exe() {
        Ok(program) => {
            let sandbox = confine::machine(&program, environment);
            let capabilities = sandbox.probe();
            text.push_str(&report(capabilities));
            let state = if wanted { "on in the settings" } else { "off (sandbox.enabled)" };
            line(text, "switched", state);
            !wanted || !matches!(capabilities.backend, Backend::None { .. })
        }
        Err(error) => {
            let problem = format!("this program cannot find itself to confine commands: {error}");
            line(text, "sandbox", &problem);
            !wanted
        }
    }
}

fn credentials(environment: &Environment, layers: &Layers) -> String {
    let named = ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"];
    if let Some(name) = named.iter().find(|name| environment.get(name).is_some()) {
        return format!("{name} is set");
    }
    if layers.key_helper().is_some() {
        return "from the settings' apiKeyHelper".to_owned();
    }
    "none: the offline rehearsal model answers; set ANTHROPIC_API_KEY for a real one".to_owned()
}

/// Tries what a session does first: making its directory and a file in it.
fn writable(directory: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(directory)?;
    let probe = directory.join(format!(".doctor-{}", std::process::id()));
    std::fs::File::create_new(&probe)?;
    std::fs::remove_file(probe)
}

fn line(text: &mut String, what: &str, state: &str) {
    text.push_str(&format!("  {what:<22} {state}\n"));
}
