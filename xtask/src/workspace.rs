//! Where the workspace is and how its commands are started.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

/// The folder with the workspace's `Cargo.toml`.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// Where a binary of the release build is.
pub(crate) fn release_binary(name: &str) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    root().join(target).join("release").join(name)
}

/// The one release build of everything that is run afterwards. Another set of packages would unify
/// features differently and compile the dependencies once more.
pub(crate) const RELEASE_BUILD: [&str; 7] = [
    "build",
    "--release",
    "--bins",
    "--package",
    "tillerman-cli",
    "--package",
    "tillerman-testkit",
];

/// A cargo command in the workspace.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let mut command = program(cargo_path());
    command.args(arguments);
    command
}

fn cargo_path() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// A cargo command with clippy in the compiler's place: what is tested is linted as it is built,
/// and nothing is compiled once for each. It gives way to a release build beside it, which ends in
/// minutes on a single core and would otherwise be waited for in the end.
pub(crate) fn linted(arguments: &[&str]) -> Command {
    let mut command = program("nice");
    command.args(["-n", "5"]).arg(cargo_path()).args(arguments);
    command.env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver").env("CLIPPY_ARGS", "-Dwarnings");
    // A panic names its line without it.
    command.env("CARGO_PROFILE_DEV_DEBUG", "false");
    command
}

/// Links that lead nowhere and examples that are no Rust, in what people read.
pub(crate) fn document() -> Result<()> {
    let mut command = cargo(&["doc", "--workspace", "--lib", "--no-deps"]);
    run(command.env("RUSTDOCFLAGS", "-D warnings"))
}

/// A command in the workspace that may run cargo itself.
///
/// What `cargo run` set for this program is removed, because build scripts that watch those
/// variables would run again in every nested build.
pub(crate) fn program(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root());
    for (name, _) in std::env::vars_os() {
        let of_this_package = ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_"];
        let text = name.to_string_lossy();
        if of_this_package.iter().any(|prefix| text.starts_with(prefix)) {
            command.env_remove(&name);
        }
    }
    command
}

/// Runs a command to its end with its output on the terminal.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start {command:?}"))?;
    if !status.success() {
        bail!("{command:?} ended with {status}");
    }
    Ok(())
}

/// Whether a cargo subcommand is installed.
pub(crate) fn has_subcommand(name: &str) -> bool {
    let mut command = cargo(&[name, "--version"]);
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// What a command prints, trimmed.
pub(crate) fn output(program: impl AsRef<OsStr>, arguments: &[&str]) -> Result<String> {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root()).stdin(Stdio::null());
    let output = command.output().with_context(|| format!("cannot start {command:?}"))?;
    if !output.status.success() {
        bail!("{command:?} ended with {}", output.status);
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
