//! `tillerman doctor`: what this machine and this configuration can do, and what is wrong with them.

mod host;
mod lent;
mod report;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use tillerman_assembly::{Environment, StartFailure, agent_trees, confine, settings};
use tillerman_config::Layers;
use tillerman_sandbox::{Backend, report as report_sandbox};

pub(crate) use report::Report;
use report::Row;

use crate::environment;

const SESSIONS: &str = "Sessions";
const SANDBOX: &str = "Sandbox";

/// What is looked at, and how it is told.
#[derive(Debug, clap::Args)]
pub(crate) struct DoctorArguments {
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
    /// Where the host keeps its data
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// The port that the host would use
    #[arg(long, default_value_t = crate::serve::PORT)]
    port: u16,
}

/// Looks and tells; the exit code says whether something is wrong.
pub(crate) fn run(arguments: &DoctorArguments) -> Result<u8, StartFailure> {
    let cwd = std::env::current_dir().unwrap_or_default();
    let environment = environment::capture();
    let report = examine(&environment, &cwd, arguments.data_dir.clone(), arguments.port);
    let text = if arguments.json { report.json() } else { report.text() };
    drop(std::io::stdout().write_all(text.as_bytes()));
    Ok(u8::from(!report.is_well()))
}

/// Looks at everything that sessions and the host would need. Nothing is changed.
pub(crate) fn examine(
    environment: &Environment,
    cwd: &Path,
    data_dir: Option<PathBuf>,
    port: u16,
) -> Report {
    let mut report = Report::default();
    report.add(kept(environment));
    match settings::load(&settings::places(environment, cwd, None), None, None) {
        Ok(layers) => {
            read_settings(&mut report, &layers);
            report.add(credentials(environment, &layers));
            sandbox(&mut report, environment, &layers);
            lent::examine(&mut report, environment, &layers, cwd);
        }
        Err(failure) => {
            report.add(Row::bad(SESSIONS, "settings", failure.message, "correct the file"));
        }
    }
    for tree in agent_trees(cwd) {
        let shown = tree.display();
        let remedy = format!("git worktree remove {shown}, once you need nothing of it");
        report.add(Row::note(SESSIONS, "agent's tree", shown.to_string(), remedy));
    }
    host::examine(&mut report, environment, cwd, data_dir, port);
    report
}

fn kept(environment: &Environment) -> Row {
    let config_dir = environment.config_dir();
    let shown = config_dir.display();
    match writable(&config_dir) {
        Ok(()) => Row::ok(SESSIONS, "kept in", shown.to_string()),
        Err(error) => Row::bad(
            SESSIONS,
            "kept nowhere",
            format!("{shown} cannot be written: {error}"),
            "make it yours, or name another directory with CLAUDE_CONFIG_DIR",
        ),
    }
}

fn read_settings(report: &mut Report, layers: &Layers) {
    if layers.errors().is_empty() {
        report.add(Row::ok(SESSIONS, "settings", "read without problems"));
    }
    for error in layers.errors() {
        report.add(Row::bad(SESSIONS, "settings", error.to_string(), "correct the file"));
    }
}

fn credentials(environment: &Environment, layers: &Layers) -> Row {
    let what = "credentials";
    let named = [
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "TILLERMAN_API_KEY_FILE",
    ];
    if let Some(name) = named.iter().find(|name| environment.get(name).is_some()) {
        return Row::ok(SESSIONS, what, format!("{name} is set"));
    }
    if layers.key_helper().is_some() {
        return Row::ok(SESSIONS, what, "from the settings' apiKeyHelper");
    }
    let meaning = "none: the offline rehearsal model answers people, and programs get an error";
    Row::note(SESSIONS, what, meaning, "set ANTHROPIC_API_KEY for a real one")
}

fn sandbox(report: &mut Report, environment: &Environment, layers: &Layers) {
    let wanted = match confine::settings(layers) {
        Ok(settings) => settings.is_some(),
        Err(failure) => {
            return report.add(Row::bad(SANDBOX, "settings", failure.message, "correct them"));
        }
    };
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(error) => {
            let meaning = format!("this program cannot find itself to confine commands: {error}");
            return report.add(Row::bad(SANDBOX, "program", meaning, "start it by its whole path"));
        }
    };
    let sandbox = confine::machine(&program, environment);
    let capabilities = sandbox.probe();
    for line in report_sandbox(capabilities).lines().skip(1) {
        report.add(Row::of_line(SANDBOX, line));
    }
    let cannot = matches!(capabilities.backend, Backend::None { .. });
    report.add(match (wanted, cannot) {
        (true, true) => Row::bad(
            SANDBOX,
            "switched",
            "on in the settings, and this machine cannot do it: no session starts",
            "install bubblewrap, or switch sandbox.enabled off",
        ),
        (true, false) => Row::ok(SANDBOX, "switched", "on in the settings"),
        (false, _) => Row::ok(SANDBOX, "switched", "off (sandbox.enabled)"),
    });
}

/// Tries what a session does first: making its directory and a file in it.
fn writable(directory: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(directory)?;
    let probe = directory.join(format!(".doctor-{}", std::process::id()));
    std::fs::File::create_new(&probe)?;
    std::fs::remove_file(probe)
}
