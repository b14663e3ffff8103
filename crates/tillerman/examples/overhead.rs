//! What a query in this process costs over the model's own time, and whether anything is left.
//!
//! `cargo run --release -p tillerman --example overhead -- [QUERIES]`

#![expect(clippy::print_stdout, reason = "an example talks to its terminal")]

use std::time::{Duration, Instant};

use tillerman::testing::{Script, ScriptedServer, response};
use tillerman::{Options, prompt};

/// Resident kilobytes, threads and open files of this process.
fn footprint() -> (u64, usize, usize) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
    let count = |path: &str| std::fs::read_dir(path).map_or(0, Iterator::count);
    (kilobytes.unwrap_or_default(), count("/proc/self/task"), count("/proc/self/fd"))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let queries = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(200_usize);
    let script = Script::from_fn(|_| response().text("hi").into()).forgetting();
    let server = ScriptedServer::start(script).await;
    let folder = tempfile::tempdir()?;
    let options = Options::new()
        .model("claude-sonnet-4-5")
        .cwd(folder.path())
        .no_session_persistence()
        .env("HOME", folder.path().to_string_lossy())
        .env("ANTHROPIC_BASE_URL", server.url())
        .env("ANTHROPIC_API_KEY", "not-a-key");
    let mut times = Vec::new();
    let mut settled = (0, 0, 0);
    for number in 0..queries {
        let begun = Instant::now();
        prompt("hello", options.clone()).await?;
        times.push(begun.elapsed());
        if number == queries / 10 {
            settled = footprint();
        }
    }
    times.sort_unstable();
    let median = times.get(times.len() / 2).copied().unwrap_or(Duration::ZERO);
    let (memory, threads, files) = footprint();
    println!("{queries} queries, median {:.2} ms each", median.as_secs_f64() * 1000.0);
    println!("memory {} -> {memory} kB", settled.0);
    println!("threads {} -> {threads}, open files {} -> {files}", settled.1, settled.2);
    Ok(())
}
