//! Reviews a directory and returns its findings as a Rust type.
//!
//! `cargo run -p tillerman --example code_reviewer -- [DIRECTORY] [MODEL]`

#![expect(clippy::print_stdout, reason = "an example talks to its terminal")]

use schemars::JsonSchema;
use serde::Deserialize;
use tillerman::{Options, query};

/// What a review comes to.
#[derive(Debug, Deserialize, JsonSchema)]
struct Review {
    /// One sentence about the whole.
    summary: String,
    /// What should change, most important first.
    findings: Vec<Finding>,
}

/// Something that should change.
#[derive(Debug, Deserialize, JsonSchema)]
struct Finding {
    /// The file, relative to the directory.
    file: String,
    /// The line, where there is one.
    line: Option<u32>,
    /// What is wrong, and what would be right.
    remark: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> tillerman::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments.next().unwrap_or_else(|| ".".to_owned());
    let model = arguments.next().unwrap_or_else(|| "rehearsal".to_owned());
    let options = Options::new()
        .model(model)
        .cwd(directory)
        .no_session_persistence()
        .system_prompt("You review code. Report only what you are sure of.")
        // It can look at everything and change nothing.
        .tools(["Read", "Grep", "Glob"])
        .allowed_tools(["Read", "Grep", "Glob"])
        .max_turns(30);
    let review: Review = query("list files, then review them", options).parse().await?;
    println!("{}", review.summary);
    for Finding { file, line, remark } in review.findings {
        let line = line.map(|line| format!(":{line}")).unwrap_or_default();
        println!("{file}{line}: {remark}");
    }
    Ok(())
}
