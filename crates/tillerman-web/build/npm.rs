//! Runs npm.

use std::fs;
use std::path::Path;
use std::process::Command;

/// How much of what npm says is worth repeating.
const SAID_LINES: usize = 12;

/// Installs what the build needs, unless exactly that was installed before.
pub(crate) fn install(workshop: &Path) -> Result<(), String> {
    let lock = fs::read(workshop.join("package-lock.json")).map_err(|error| error.to_string())?;
    let stamp = workshop.join("installed-lock.json");
    let is_there = workshop.join("node_modules/vite").exists();
    if is_there && fs::read(&stamp).is_ok_and(|installed| installed == lock) {
        return Ok(());
    }
    // What only tests need is left out, and no package may run scripts of its own.
    let arguments =
        ["ci", "--omit=dev", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund"];
    run(workshop, &arguments, &[])?;
    fs::write(stamp, lock).map_err(|error| error.to_string())
}

/// Builds the page into a directory.
pub(crate) fn bundle(workshop: &Path, into: &Path) -> Result<(), String> {
    run(workshop, &["run", "--silent", "bundle"], &[("TILLERMAN_WEB_OUT", into)])
}

fn run(directory: &Path, arguments: &[&str], variables: &[(&str, &Path)]) -> Result<(), String> {
    let program = if cfg!(windows) { "npm.cmd" } else { "npm" };
    let output = Command::new(program)
        .args(arguments)
        .envs(variables.iter().copied())
        // Somebody's setting must not leave out the tools of the build.
        .env_remove("NODE_ENV")
        .current_dir(directory)
        .output()
        .map_err(|error| {
            format!("npm could not be started ({error}); install Node.js 20.19 or newer")
        })?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
    // The first lines name the mistake, the rest is mostly where in npm it was noticed.
    let first = lines.iter().take(SAID_LINES).copied().collect::<Vec<_>>().join("\n");
    Err(format!("`npm {}` failed:\n{first}", arguments.join(" ")))
}
