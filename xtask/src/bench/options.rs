//! What the caller of the benchmark may choose.

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};

const RUNS: usize = 20;
const SMOKE_RUNS: usize = 5;

/// How to measure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Options {
    /// How often everything is measured.
    pub(crate) runs: usize,
    /// What the run is for.
    pub(crate) purpose: Purpose,
    /// The official CLI, where the caller names it.
    pub(crate) official: Option<PathBuf>,
}

/// What a run is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Numbers to quote: budgets as they are, side by side with the official CLI.
    Comparison,
    /// A quick check on a busy machine: only gross slowness fails, only ours is measured.
    Smoke,
}

impl Options {
    /// The quick check that is part of the test suite.
    pub(crate) fn smoke() -> Self {
        Self { runs: SMOKE_RUNS, purpose: Purpose::Smoke, official: None }
    }

    /// Reads the options of the command line.
    pub(crate) fn parse(arguments: &[&str]) -> Result<Self> {
        let smoke = arguments.contains(&"--smoke");
        let mut options = if smoke {
            Self::smoke()
        } else {
            Self { runs: RUNS, purpose: Purpose::Comparison, official: None }
        };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            match *argument {
                "--smoke" => {}
                "--runs" => {
                    let runs = arguments.next().and_then(|runs| runs.parse().ok());
                    options.runs = runs
                        .filter(|runs| *runs > 0)
                        .context("--runs wants the number of runs, such as --runs 20")?;
                }
                "--official" => {
                    let path = arguments.next().context("--official wants the path of the CLI")?;
                    options.official = Some(path.into());
                }
                other => {
                    bail!("bench has no option {other}: use --smoke, --runs N, --official PATH")
                }
            }
        }
        Ok(options)
    }
}
