//! Everything that must pass before a change is merged, step by step.

use std::time::Instant;

use anyhow::{Context as _, Result};

use crate::workspace::{
    RELEASE_BUILD, cargo, has_subcommand, program, release_binary, root, run as start,
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

const ALWAYS: [Step; 5] = [
    ("formatting", formatting),
    ("tidy", tidiness),
    ("clippy", clippy),
    ("tests", tests),
    ("licences, advisories and bans", deny),
];

const RELEASE: [Step; 3] =
    [("release build", release), ("conformance", conformance), ("benchmark, short", benchmark)];

/// Runs the steps in order and stops at the first that fails.
pub(crate) fn run(extent: Extent) -> Result<()> {
    let release: &[Step] = if extent == Extent::Full { &RELEASE } else { &[] };
    let steps: Vec<&Step> = ALWAYS.iter().chain(release).collect();
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

fn clippy() -> Result<Outcome> {
    done(start(&mut cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])))
}

fn tests() -> Result<Outcome> {
    if has_subcommand("nextest") {
        return done(start(&mut cargo(&["nextest", "run", "--workspace"])));
    }
    println!("cargo-nextest is not installed: running the tests with cargo test");
    done(start(&mut cargo(&["test", "--workspace"])))
}

fn deny() -> Result<Outcome> {
    if !has_subcommand("deny") {
        return Ok(Outcome::Skipped("cargo-deny is not installed"));
    }
    done(start(&mut cargo(&["deny", "check"])))
}

fn release() -> Result<Outcome> {
    done(start(&mut cargo(&RELEASE_BUILD)))
}

fn conformance() -> Result<Outcome> {
    let script = root().join("conformance/run");
    if !script.exists() {
        return Ok(Outcome::Skipped("there is no conformance/run"));
    }
    done(start(program(script).arg(release_binary("tillerman"))))
}

fn benchmark() -> Result<Outcome> {
    done(bench::run(&bench::Options::smoke()))
}

fn done(result: Result<()>) -> Result<Outcome> {
    result.map(|()| Outcome::Done)
}
