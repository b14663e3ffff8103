//! One question to many repositories, a few at a time, under one budget, with a progress bar.
//!
//! `cargo run -p tillerman --example batch -- "QUESTION" DIRECTORY…`

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "an example talks to its terminal")]

use futures_util::StreamExt as _;
use tillerman::budget::Budget;
use tillerman::{Options, prompt};

const AT_ONCE: usize = 4;

#[tokio::main(flavor = "current_thread")]
async fn main() -> tillerman::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let question = arguments.next().unwrap_or_else(|| "list files".to_owned());
    let mut repositories: Vec<String> = arguments.collect();
    if repositories.is_empty() {
        repositories = vec![".".to_owned(), "src".to_owned()];
    }
    let budget = Budget::tokens_and_dollars(2_000_000, 5.0)?;
    let total = repositories.len();
    let mut answers = futures_util::stream::iter(repositories)
        .map(|repository| {
            let options = Options::new()
                .model("rehearsal")
                .cwd(&repository)
                .no_session_persistence()
                .tools(["Read", "Grep", "Glob"])
                .budget(&budget)
                .max_turns(20);
            let question = question.clone();
            async move { (repository, prompt(question, options).await) }
        })
        .buffer_unordered(AT_ONCE);
    let mut done = 0;
    while let Some((repository, answer)) = answers.next().await {
        done += 1;
        let bar = "#".repeat(done * 20 / total);
        eprint!("\r[{bar:<20}] {done}/{total}, {:.2} $ ", budget.spent().dollars);
        match answer {
            Ok(answer) => println!("\n== {repository}\n{}", answer.text),
            // One that fails does not stop the others; a budget that is used up stops the rest.
            Err(error) => println!("\n== {repository}: {error}"),
        }
    }
    Ok(())
}
