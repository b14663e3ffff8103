//! Thousands of random sessions with faults; after every step the invariants are checked.
//!
//! A failing seed is printed. `TILLERMAN_SIM_SEED=<n>` runs just that one and tells every step;
//! `TILLERMAN_SIM_SESSIONS=<n>` says how many seeds to run.

mod answers;
mod callbook;
pub(crate) mod dice;
mod fault;
mod flight;
mod negative;
mod queue;
mod requests;
mod rounds;
mod run;
mod script;
mod setup;
mod spending;
mod transcript;
mod watch;
mod world;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use fault::Fault;
use run::{Runner, Tally};

const SESSIONS: u64 = 10_000;
const THREADS: u64 = 2;
const ENOUGH_TO_SEE_ALL: u64 = 2_000;
const ENDINGS: [&str; 17] = [
    "completed",
    "refusal",
    "blocked",
    "hook_stopped",
    "stop_hook_prevented",
    "max_turns",
    "budget_exhausted",
    "token_budget_exhausted",
    "deadline_exceeded",
    "aborted_streaming",
    "aborted_tools",
    "tool_deferred",
    "api_error",
    "rapid_refill_breaker",
    "structured_output_retry_exhausted",
    "(compacted)",
    "(outputs cleared)",
];

#[test]
fn random_sessions_keep_the_invariants() {
    if let Some(seed) = number_from_environment("TILLERMAN_SIM_SEED") {
        let outcome = Runner::new(true).run(seed);
        assert!(outcome.is_ok(), "{}", outcome.err().map_or_else(String::new, |f| f.detail));
        return;
    }
    let sessions = number_from_environment("TILLERMAN_SIM_SESSIONS").unwrap_or(SESSIONS);
    let started = Instant::now();
    let share = |first: u64| move || run_share(first, sessions);
    let threads: Vec<_> = (0..THREADS).map(|first| std::thread::spawn(share(first))).collect();
    let mut failures: Vec<Fault> = Vec::new();
    let mut total = Tally::default();
    for thread in threads {
        let (tally, failed) = thread.join().unwrap();
        total.add(&tally);
        failures.extend(failed);
    }
    println!("{sessions} sessions in {:?}: {total:?}", started.elapsed());
    assert!(failures.is_empty(), "{}", describe(&failures));
    if sessions >= ENOUGH_TO_SEE_ALL {
        // A simulation that never gets somewhere proves nothing about it.
        for ending in ENDINGS {
            assert!(total.endings.contains_key(ending), "no round ended as {ending}");
        }
    }
}

/// Every seed that leaves the same remainder as `first`.
fn run_share(first: u64, sessions: u64) -> (Tally, Vec<Fault>) {
    let runner = Runner::new(false);
    let mut total = Tally::default();
    let mut failures = Vec::new();
    for seed in (first..sessions).step_by(usize::try_from(THREADS).unwrap()) {
        // A panic of the engine is a failure of this seed, not the end of the simulation.
        match catch_unwind(AssertUnwindSafe(|| runner.run(seed))) {
            Ok(Ok(tally)) => total.add(&tally),
            Ok(Err(fault)) => failures.push(fault),
            Err(_) => {
                failures
                    .push(Fault { check: "no-panics", detail: format!("seed {seed} panicked") });
            }
        }
    }
    (total, failures)
}

/// How many sessions each check failed in, with one of them.
fn describe(failures: &[Fault]) -> String {
    let mut by_check: BTreeMap<&str, (u64, &str)> = BTreeMap::new();
    for Fault { check, detail } in failures {
        by_check.entry(check).or_insert((0, detail)).0 += 1;
    }
    let mut text = "TILLERMAN_SIM_SEED=<seed> repeats a session and tells every step.".to_owned();
    for (check, (count, detail)) in by_check {
        let detail: String = detail.chars().take(1_500).collect();
        text.push_str(&format!("\n{check} failed in {count} sessions, such as\n  {detail}"));
    }
    text
}

#[expect(clippy::disallowed_methods, reason = "a developer repeats a seed through the environment")]
fn number_from_environment(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}
