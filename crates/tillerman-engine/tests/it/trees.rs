//! Random trees of agents with faults, interrupts, races for the budget and restarts.
//!
//! A failing seed is printed. `TILLERMAN_TREE_SEED=<n>` runs just that one and tells every step;
//! `TILLERMAN_TREE_RUNS=<n>` says how many seeds to run.

mod forest;
mod node;
mod said;
mod tally;
mod till;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use forest::Forest;
use tally::Tally;

const RUNS: u64 = 10_000;
const THREADS: u64 = 2;
const ENOUGH_TO_SEE_ALL: u64 = 2_000;

#[test]
fn random_trees_keep_the_invariants() {
    if let Some(seed) = number_from_environment("TILLERMAN_TREE_SEED") {
        Forest::new(seed, true).run().unwrap();
        return;
    }
    let runs = number_from_environment("TILLERMAN_TREE_RUNS").unwrap_or(RUNS);
    let started = Instant::now();
    let share = |first: u64| move || run_share(first, runs);
    let threads: Vec<_> = (0..THREADS).map(|first| std::thread::spawn(share(first))).collect();
    let mut total = Tally::default();
    let mut failures = BTreeMap::new();
    for thread in threads {
        let (tally, failed) = thread.join().unwrap();
        total.add(&tally);
        failures.extend(failed);
    }
    println!("{runs} trees in {:?}: {total:?}", started.elapsed());
    let first: Vec<_> = failures.iter().take(3).collect();
    assert!(failures.is_empty(), "{} seeds failed, such as {first:#?}", failures.len());
    if runs >= ENOUGH_TO_SEE_ALL {
        // A simulation that never gets somewhere proves nothing about it.
        for (what, count) in total.counts() {
            assert!(count > 0, "no tree had {what}");
        }
    }
}

fn run_share(first: u64, runs: u64) -> (Tally, BTreeMap<u64, String>) {
    let mut total = Tally::default();
    let mut failures = BTreeMap::new();
    for seed in (first..runs).step_by(usize::try_from(THREADS).unwrap()) {
        // A panic of the engine is a failure of this seed, not the end of the simulation.
        match catch_unwind(AssertUnwindSafe(|| Forest::new(seed, false).run())) {
            Ok(Ok(tally)) => total.add(&tally),
            Ok(Err(fault)) => drop(failures.insert(seed, fault)),
            Err(_) => drop(failures.insert(seed, "the engine panicked".to_owned())),
        }
    }
    (total, failures)
}

#[expect(clippy::disallowed_methods, reason = "a developer repeats a seed through the environment")]
fn number_from_environment(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}
