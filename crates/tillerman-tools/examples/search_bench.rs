//! Measures Grep and Glob against `rg` on a made-up tree of 100,000 files, turn about.
//!
//! `cargo run --release -p tillerman-tools --example search_bench [files] [rounds]`

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tillerman_ports::{BackgroundTask, Bounds, TaskDesk, TaskRefused, Tool, ToolCall};
use tillerman_protocol::ToolUseId;
use tillerman_tools::{Audience, ToolConfig, ToolLimits, WebConfig, session_tools};
use tokio_util::sync::CancellationToken;

const WORDS: [&str; 12] = [
    "session", "turn", "frame", "model", "tool", "policy", "engine", "store", "stream", "token",
    "cancel", "effect",
];

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "a measurement is for people to read")]
async fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<usize>());
    let files = arguments.next().and_then(Result::ok).unwrap_or(100_000);
    let rounds = arguments.next().and_then(Result::ok).unwrap_or(7);
    let tree = tempfile::tempdir()?;
    make_tree(tree.path(), files)?;
    println!("{files} files, {rounds} rounds, median of each");
    let tools = session_tools(config(tree.path()));
    let cases: [(&str, &str, Value, &[&str]); 5] = [
        ("rare literal", "Grep", json!({"pattern": "xyzzy_needle"}), &["-l", "xyzzy_needle"]),
        ("common literal", "Grep", json!({"pattern": "cancel"}), &["-l", "cancel"]),
        ("regex", "Grep", json!({"pattern": "fn [a-z]+_9\\d9\\("}), &["-l", "fn [a-z]+_9\\d9\\("]),
        (
            "lines",
            "Grep",
            json!({"pattern": "policy_77", "output_mode": "content", "head_limit": 0}),
            &["-n", "policy_77"],
        ),
        (
            "names",
            "Glob",
            json!({"pattern": "**/*7.rs"}),
            &["--files", "--no-ignore", "--sortr", "modified", "-g", "**/*7.rs"],
        ),
    ];
    for (name, tool, input, arguments) in cases {
        let tool = tools.iter().find(|it| it.spec().name == tool);
        let Some(tool) = tool else { continue };
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..=rounds {
            ours.push(call(tool.as_ref(), &input).await);
            theirs.extend(run_rg(tree.path(), arguments));
        }
        let (ours, theirs) = (median(ours), median(theirs));
        match theirs.zip(ours) {
            Some((theirs, ours)) => println!(
                "{name:>15}: {ours:>9.1?}  rg {theirs:>9.1?}  ratio {:.2}",
                ours.as_secs_f64() / theirs.as_secs_f64()
            ),
            None => println!("{name:>15}: {ours:>9.1?}  (rg is not installed)"),
        }
    }
    Ok(())
}

fn make_tree(root: &Path, files: usize) -> std::io::Result<()> {
    std::fs::create_dir(root.join(".git"))?;
    std::fs::write(root.join(".gitignore"), "target/\n*.o\n")?;
    let mut state = 1_u64;
    for number in 0..files {
        let directory = root.join(format!("d{}/e{}", number / 2_000, number / 50 % 40));
        if number % 50 == 0 {
            std::fs::create_dir_all(&directory)?;
        }
        let mut text = String::new();
        for line in 0..30 + number % 40 {
            // A small generator of its own, so that every run makes the same tree.
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let word = |shift: u32| WORDS[(state >> shift) as usize % WORDS.len()];
            let (one, two, many) = (word(33), word(40), state >> 50 & 0x3ff);
            text.push_str(&format!(
                "pub fn {one}_{many}({two}: u32) -> u64 {{ {line} + {many} }}\n"
            ));
        }
        if number % 5_000 == 17 {
            text.push_str("// xyzzy_needle\n");
        }
        std::fs::write(directory.join(format!("file{number}.rs")), text)?;
    }
    Ok(())
}

fn config(root: &Path) -> ToolConfig {
    ToolConfig {
        cwd: root.to_path_buf(),
        working_directories: Vec::new(),
        scratch_directory: root.join("scratch"),
        environment: Vec::new(),
        shell: "/bin/sh".into(),
        limits: ToolLimits::default(),
        audience: Audience::Absent,
        web: WebConfig::default(),
        confiner: None,
    }
}

#[derive(Debug)]
struct NoDesk;

impl TaskDesk for NoDesk {
    fn take(&self, _: BackgroundTask) -> Result<(), TaskRefused> {
        Err(TaskRefused)
    }
}

#[expect(clippy::print_stderr, reason = "a measurement is for people to read")]
async fn call(tool: &dyn Tool, input: &Value) -> Duration {
    let call = ToolCall {
        environment: Vec::new(),
        bounds: Bounds::Confined,
        hidden: tillerman_ports::Hidden::default(),
        tool_use_id: ToolUseId::new("bench"),
        input: input.clone(),
        cancel: CancellationToken::new(),
        tasks: Arc::new(NoDesk),
    };
    let start = Instant::now();
    if let Err(failure) = tool.call(call).await {
        eprintln!("{}", failure.message);
    }
    start.elapsed()
}

#[expect(clippy::disallowed_methods, reason = "rg is only run to be compared with")]
fn run_rg(root: &Path, arguments: &[&str]) -> Option<Duration> {
    let start = Instant::now();
    let output = std::process::Command::new("rg")
        .args(["--hidden", "--glob", "!.git"])
        .args(arguments)
        .arg("./")
        .current_dir(root)
        .output();
    output.ok().map(|_| start.elapsed())
}

/// The middle one, without the first, which warms the caches.
fn median(mut times: Vec<Duration>) -> Option<Duration> {
    if times.is_empty() {
        return None;
    }
    times.remove(0);
    times.sort();
    times.get(times.len() / 2).copied()
}
