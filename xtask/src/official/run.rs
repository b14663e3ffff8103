//! Finds the official CLI and the suite, and runs one against the other without a network.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::bench::find_official;
use crate::official::verdict::{judge, outcomes, read_differences};
use crate::workspace::{linted, root};

/// Tests that must fail, with their reasons.
const DIFFERENCES: &str = "crates/tillerman/tests/official-differences.txt";
/// The tests of the suite that start a program.
const FILTER: &str = "subprocess::";
/// They wait more than they work.
const AT_ONCE: &str = "--test-threads=4";
/// Runs what follows where there is nothing but loopback.
const ALONE: [&str; 5] = ["unshare", "-rn", "sh", "-c", "ip link set lo up && exec \"$0\" \"$@\""];

/// What became of it.
pub(crate) enum Ran {
    /// Everything was as expected.
    Done,
    /// It could not be run, for this reason.
    Skipped(&'static str),
}

/// Runs the suite: this test program, or the one that is built for it.
pub(crate) fn run(suite: Option<&Path>) -> Result<Ran> {
    let Some(official) = find_official(None)? else {
        return Ok(Ran::Skipped(
            "no official CLI was found: conformance/run installs it, or name it by \
             TILLERMAN_OFFICIAL_CLI",
        ));
    };
    if !alone("true".as_ref()).output().is_ok_and(|output| output.status.success()) {
        return Ok(Ran::Skipped(
            "this machine has no network namespaces (unshare, ip), and the official CLI must not \
             reach a network",
        ));
    }
    let suite = suite.map_or_else(build, |suite| Ok(suite.to_path_buf()))?;
    let path = root().join(DIFFERENCES);
    let text = std::fs::read_to_string(&path).with_context(|| DIFFERENCES.to_owned())?;
    let differences = read_differences(&text).context(DIFFERENCES)?;
    let output = alone(&suite)
        .args([FILTER, AT_ONCE])
        .env("TILLERMAN_OFFICIAL_CLI", &official)
        .env("RUST_BACKTRACE", "0")
        .output()
        .with_context(|| format!("cannot start {}", suite.display()))?;
    let printed = String::from_utf8_lossy(&output.stdout);
    let outcomes = outcomes(&printed);
    if outcomes.is_empty() {
        bail!("no test ran:\n{printed}\n{}", String::from_utf8_lossy(&output.stderr));
    }
    let problems = judge(&outcomes, &differences);
    if !problems.is_empty() {
        print!("{printed}");
        bail!("{DIFFERENCES} does not say what happened:\n{}", problems.join("\n"));
    }
    println!("{} tests, {} of them listed as different", outcomes.len(), differences.len());
    Ok(Ran::Done)
}

/// A command that sees loopback and nothing else.
fn alone(program: &Path) -> Command {
    let mut command = Command::new(ALONE[0]);
    command.args(&ALONE[1..]).arg(program).current_dir(root()).stdin(Stdio::null());
    command
}

/// Builds the suite the way the tests of the workspace do, so that nothing is compiled twice.
fn build() -> Result<PathBuf> {
    let mut command = linted(&["test", "--workspace", "--no-run", "--message-format=json"]);
    let output = command.stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        bail!("the suite cannot be built: {}", output.status);
    }
    let manifest = root().join("crates/tillerman/Cargo.toml");
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    let messages = lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut suites = messages.filter_map(|message| {
        let is_suite = message["target"]["name"] == "it"
            && message["manifest_path"].as_str() == manifest.to_str();
        message["executable"].as_str().filter(|_| is_suite).map(PathBuf::from)
    });
    suites.next().context("cargo did not say where it put the suite")
}
