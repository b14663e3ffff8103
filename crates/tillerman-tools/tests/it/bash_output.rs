//! Output of any size and kind reaches the model in a form it can use.

use std::os::unix::fs::MetadataExt as _;
use std::time::{Duration, Instant};

use serde_json::json;
use tillerman_tools::ToolLimits;

use crate::bench::{Bench, peak_memory_kb, structured, text};

#[tokio::test]
async fn long_output_is_previewed_and_saved_whole() {
    let bench = Bench::new();
    let output = bench.bash("seq 1 300000").await.unwrap();
    let shown = text(&output);
    assert!(shown.len() < 10_000);
    assert!(shown.starts_with("1\n2\n3\n") && shown.ends_with("\n299999\n300000"));
    let structured = structured(&output);
    let path = structured["persistedOutputPath"].as_str().unwrap();
    assert!(shown.contains(path));
    let saved = std::fs::read_to_string(path).unwrap();
    assert_eq!(structured["persistedOutputSize"], saved.len());
    assert!(saved.lines().map(|line| line.parse::<u32>().unwrap()).eq(1..=300_000));
    assert_eq!(structured["stdout"].as_str().unwrap().chars().count(), 30_000);
    assert_eq!(std::fs::metadata(path).unwrap().mode() & 0o777, 0o600);
    let scratch = bench.root().join("scratch");
    assert_eq!(std::fs::metadata(scratch).unwrap().mode() & 0o777, 0o700);
}

#[tokio::test]
async fn output_is_passed_on_whole_up_to_the_limit() {
    let bench = Bench::new();
    let output = bench.bash("head -c 30000 /dev/zero | tr '\\0' x").await.unwrap();
    assert_eq!(text(&output), "x".repeat(30_000));
    assert_eq!(structured(&output).get("persistedOutputPath"), None);
    let output = bench.bash("head -c 30001 /dev/zero | tr '\\0' x").await.unwrap();
    assert_eq!(structured(&output)["persistedOutputSize"], 30_001);
    let output = bench.bash("for i in $(seq 15000); do printf 'é\\n'; done").await.unwrap();
    assert_eq!(text(&output).chars().count(), 29_999, "characters count, not bytes");
}

#[tokio::test]
async fn the_output_of_failures_is_shorter() {
    let bench = Bench::new();
    let failure = bench.bash("seq 1 5000; exit 4").await.unwrap_err();
    assert!(failure.message.starts_with("Exit code 4\n1\n2\n"));
    assert!(failure.message.ends_with("\n5000"));
    assert!((10_000..11_000).contains(&failure.message.len()), "{}", failure.message.len());
    assert!(failure.message.contains("/scratch/bash-"));
}

#[tokio::test]
async fn two_hundred_megabytes_without_a_newline_take_little_memory() {
    let bench = Bench::new();
    let before = peak_memory_kb();
    let output = bench.bash("head -c 200000000 /dev/zero | tr '\\0' x").await.unwrap();
    assert_eq!(structured(&output)["persistedOutputSize"], 200_000_000);
    // Other tests of this process take memory too, but not as much as the output would.
    assert!(peak_memory_kb() - before < 100_000, "memory grew with the output");
}

#[tokio::test]
async fn endless_output_is_stopped_at_its_limit() {
    let limits = ToolLimits { output_bytes: 1_000_000, ..ToolLimits::default() };
    let bench = Bench::with_limits(limits);
    let start = Instant::now();
    let message = bench.failure("Bash", json!({"command": "yes"})).await;
    assert!(message.starts_with("The command wrote more than 1000000 bytes"), "{message}");
    assert!(start.elapsed() < Duration::from_secs(8));
}

#[tokio::test]
async fn bytes_that_are_no_text_are_shown_safely_and_saved_unchanged() {
    let bench = Bench::new();
    let output = bench.bash(r"printf 'a\0b\377c\355\240\200d\033[1m'").await.unwrap();
    let shown = text(&output);
    assert!(shown.starts_with("a\u{fffd}b\u{fffd}c\u{fffd}"), "{shown:?}");
    assert!(shown.ends_with("d\u{1b}[1m") && !shown.contains('\0'));
    let output = bench.bash("head -c 200000 /dev/zero | tr '\\0' '\\377'").await.unwrap();
    let path = structured(&output)["persistedOutputPath"].as_str().unwrap().to_owned();
    assert_eq!(std::fs::read(path).unwrap(), vec![0xff; 200_000]);
}

#[tokio::test]
async fn a_scratch_directory_that_cannot_be_made_is_named() {
    let bench = Bench::with(|config| config.scratch_directory = "/proc/tillerman".into());
    let failure = bench.bash("echo hi").await.unwrap_err();
    assert!(failure.message.contains("/proc/tillerman"), "{}", failure.message);
}
