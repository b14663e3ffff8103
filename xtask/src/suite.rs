//! Everything that must pass before a change is merged, step by step.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};

use crate::workspace::{
    RELEASE_BUILD, cargo, has_subcommand, linted, program, release_binary, root, run as start,
};
use crate::{bench, tidy};

/// How much of the suite to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Everything.
    Full,
    /// Without the release build and what needs it.
    Quick,
}

/// What became of a step.
enum Outcome {
    Done,
    Skipped(&'static str),
}

type Step = (&'static str, fn() -> Result<Outcome>);

const QUICK: &[Step] = &[
    ("formatting", formatting),
    ("tidy", tidiness),
    ("licences, advisories and bans", deny),
    ("clippy and tests", tests),
];

const FULL: &[Step] = &[
    ("formatting", formatting),
    ("tidy", tidiness),
    ("licences, advisories and bans", deny),
    ("clippy and tests, and the release build beside them", tests_and_release),
    ("conformance", conformance),
    ("the page, without a browser", page),
    ("benchmark, short", benchmark),
];

/// Where a Chromium of the system is found; `CHROMIUM` names another.
const BROWSERS: [&str; 3] =
    ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/// Runs the steps in order and stops at the first that fails.
pub(crate) fn run(extent: Extent) -> Result<()> {
    let steps = if extent == Extent::Full { FULL } else { QUICK };
    let started = Instant::now();
    for (number, (name, step)) in steps.iter().enumerate() {
        println!("== {}/{} {name}", number + 1, steps.len());
        let began = Instant::now();
        let outcome = step().with_context(|| {
            format!("the step '{name}' failed and the steps after it were not run; fix it and start again")
        })?;
        let seconds = began.elapsed().as_secs_f64();
        match outcome {
            Outcome::Done => println!("== {name}: ok in {seconds:.1} s"),
            Outcome::Skipped(why) => println!("== {name}: skipped: {why}"),
        }
    }
    println!("== everything passed in {:.1} s", started.elapsed().as_secs_f64());
    Ok(())
}

fn formatting() -> Result<Outcome> {
    done(start(&mut cargo(&["fmt", "--all", "--check"])))
}

fn tidiness() -> Result<Outcome> {
    done(tidy::run())
}

fn tests() -> Result<Outcome> {
    if !has_subcommand("nextest") {
        println!("cargo-nextest is not installed: running the tests with cargo test");
        return done(start(&mut linted(&["test", "--workspace"])));
    }
    // Many tests wait more than they work.
    let threads = std::thread::available_parallelism()?.get() + 1;
    let threads = threads.to_string();
    start(&mut linted(&["nextest", "run", "--workspace", "--test-threads", &threads]))?;
    // The examples in the documentation, which nextest does not run.
    done(start(&mut linted(&["test", "--workspace", "--doc"])))
}

fn deny() -> Result<Outcome> {
    if !has_subcommand("deny") {
        return Ok(Outcome::Skipped("cargo-deny is not installed"));
    }
    done(start(&mut cargo(&["deny", "check"])))
}

/// Optimising everything as one piece keeps a single core busy for minutes, in which the other
/// cores build the tests.
fn tests_and_release() -> Result<Outcome> {
    let build = Build::begin()?;
    let tested = tests();
    build.end(tested.is_ok())?;
    tested
}

/// The release build, which goes on while other things do; what it prints is kept in a file.
struct Build {
    process: Child,
    log: PathBuf,
}

impl Build {
    fn begin() -> Result<Self> {
        let log = release_binary("build.log");
        fs::create_dir_all(log.parent().unwrap_or(&log))?;
        let file = File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
        let mut command = cargo(&RELEASE_BUILD);
        command.stdout(file.try_clone()?).stderr(file);
        let process = command.spawn().with_context(|| format!("cannot start {command:?}"))?;
        Ok(Self { process, log })
    }

    /// Waits for it where its result is wanted, and stops it otherwise.
    fn end(mut self, wanted: bool) -> Result<()> {
        if !wanted {
            self.process.kill()?;
            self.process.wait()?;
            return Ok(());
        }
        println!("the tests are done; waiting for the release build, see {}", self.log.display());
        let status = self.process.wait()?;
        if !status.success() {
            print!("{}", fs::read_to_string(&self.log)?);
            bail!("the release build ended with {status}");
        }
        Ok(())
    }
}

fn conformance() -> Result<Outcome> {
    let script = root().join("conformance/run");
    if !script.exists() {
        return Ok(Outcome::Skipped("there is no conformance/run"));
    }
    done(start(program(script).arg(release_binary("tillerman"))))
}

fn page() -> Result<Outcome> {
    let script = root().join("web/check");
    if !script.exists() {
        return Ok(Outcome::Skipped("there is no web/check"));
    }
    done(start(program(script).arg("--no-browser")))
}

/// Drives the page in a browser: against a scripted host, and against the release build.
pub(crate) fn browser() -> Result<()> {
    let has_browser =
        std::env::var_os("CHROMIUM").is_some() || BROWSERS.iter().any(|it| Path::new(it).exists());
    if !has_browser {
        println!("skipped: no Chromium was found: install it, or name it by CHROMIUM");
        return Ok(());
    }
    start(&mut cargo(&RELEASE_BUILD))?;
    start(program(root().join("web/check")).arg(release_binary("tillerman")))
}

fn benchmark() -> Result<Outcome> {
    done(bench::run(&bench::Options::smoke()))
}

fn done(result: Result<()>) -> Result<Outcome> {
    result.map(|()| Outcome::Done)
}
