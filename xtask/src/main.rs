//! Checks, tests and benchmarks of the workspace: `cargo xtask tidy`, `types`, `coverage`, `official`, `doc`, `page`, `test` and `bench`.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a developer's tool talks to its terminal, reads the environment and starts processes"
)]

mod workspace;

mod tidy;
mod typescript;

mod coverage;

mod official;

mod suite;

mod bench;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};

const USAGE: &str = "\
usage: cargo xtask tidy
       cargo xtask types
       cargo xtask coverage [--check]
       cargo xtask official [SUITE]
       cargo xtask doc
       cargo xtask page
       cargo xtask test [--quick]
       cargo xtask bench [--smoke] [--runs N] [--official PATH]

tidy   checks sizes, names, crate edges, registered files, unused dependencies, generated
       files and wording
types  writes the page's TypeScript of the protocol
coverage writes docs/coverage.md: what is there, and which test shows it; --check only looks
official has the SDK's contract suite drive the official CLI where that is installed; SUITE is the
       test program, where it is built already
page   drives the page in a browser, where there is a Chromium
doc    builds the documentation and fails on what is wrong in it
test   runs everything that must pass before a change is merged; --quick leaves out the release
       build and what needs it
bench  measures start-up, turns, memory and size of the release build against their budgets";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // The chain without a backtrace: the message is for people.
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["tidy"] => tidy::run(),
        ["types"] => typescript::run(),
        ["coverage"] => coverage::run(coverage::Purpose::Write),
        ["coverage", "--check"] => coverage::run(coverage::Purpose::Check),
        ["official", suite @ ..] if suite.len() < 2 => {
            if let official::Ran::Skipped(why) = official::run(suite.first().map(Path::new))? {
                println!("skipped: {why}");
            }
            Ok(())
        }
        ["doc"] => workspace::document(),
        ["page"] => suite::browser(),
        ["test"] => suite::run(suite::Extent::Full),
        ["test", "--quick"] => suite::run(suite::Extent::Quick),
        ["bench", options @ ..] => bench::run(&bench::Options::parse(options)?),
        _ => bail!("{USAGE}"),
    }
}
