//! The course of a benchmark: build, measure run by run, report.

use std::path::Path;

use anyhow::{Context as _, Result, bail};

use crate::bench::arena::{Arena, Contender, find_official};
use crate::bench::crowd;
use crate::bench::measure::{megabytes, round};
use crate::bench::options::{Options, Purpose};
use crate::bench::report::{Results, Row, rows, table};
use crate::workspace::{self, RELEASE_BUILD, cargo, output, release_binary};

/// Measures, prints the table and fails when a budget is exceeded.
pub(crate) fn run(options: &Options) -> Result<()> {
    let contenders = contenders(options)?;
    build()?;
    let arena = Arena::open()?;
    let results = measure(&arena, &contenders, options.runs)?;
    let rows = rows(options.purpose, &results[0], results.get(1));
    println!("{}", table(&rows));
    println!("{}", conditions(options, &arena, &contenders));
    if options.purpose == Purpose::Comparison {
        crowd::run(&arena)?;
    }
    let over = rows.iter().filter(|row| Row::is_over_budget(row)).count();
    if over > 0 {
        bail!("{over} budgets are exceeded; the rows marked OVER say which and by how much");
    }
    Ok(())
}

fn contenders(options: &Options) -> Result<Vec<Contender>> {
    let mut contenders = vec![Contender { name: "tillerman", binary: release_binary("tillerman") }];
    if options.purpose == Purpose::Comparison {
        match find_official(options.official.as_deref())? {
            Some(binary) => contenders.push(Contender { name: "official", binary }),
            None => println!(
                "the official CLI was not found and is left out; --official PATH names one"
            ),
        }
    }
    Ok(contenders)
}

fn build() -> Result<()> {
    workspace::run(&mut cargo(&RELEASE_BUILD)).context("the release build failed")
}

/// Measures the contenders in turns, so that whatever else the machine does meets all of them.
fn measure(arena: &Arena, contenders: &[Contender], runs: usize) -> Result<Vec<Results>> {
    let mut results = Vec::new();
    for contender in contenders {
        // The first round fills caches and makes first-start files; it does not count.
        round(arena, contender)?;
        results.push(Results { rounds: Vec::new(), binary: size(&contender.binary)? });
    }
    for _ in 0..runs {
        for (contender, results) in contenders.iter().zip(&mut results) {
            results.rounds.push(round(arena, contender)?);
        }
    }
    Ok(results)
}

fn size(binary: &Path) -> Result<f64> {
    let metadata = std::fs::metadata(binary);
    let bytes = metadata.with_context(|| format!("cannot read {}", binary.display()))?.len();
    Ok(megabytes(bytes))
}

/// What the numbers depend on, for whoever quotes them.
fn conditions(options: &Options, arena: &Arena, contenders: &[Contender]) -> String {
    let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    let unknown = |_| "unknown".to_owned();
    let commit = output("git", &["rev-parse", "--short", "HEAD"]).unwrap_or_else(unknown);
    let changed = output("git", &["status", "--porcelain"]).is_ok_and(|text| !text.is_empty());
    let changed = if changed { " with local changes" } else { "" };
    let rustc = output("rustc", &["--version"]).unwrap_or_else(unknown);
    let versions = contenders.iter().map(|contender| {
        let version = arena.version(contender).unwrap_or_else(unknown);
        format!("{} is {version}", contender.name)
    });
    let versions: Vec<String> = versions.collect();
    let relaxed = match options.purpose {
        Purpose::Comparison => "",
        Purpose::Smoke => ", time budgets tripled",
    };
    format!(
        "{cores} cores, {} runs{relaxed}, commit {commit}{changed}, {rustc}\n{}",
        options.runs,
        versions.join("\n")
    )
}
