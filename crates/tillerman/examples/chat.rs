//! A chat in the terminal: type, read the answer as it comes, type again; an empty line ends it.
//!
//! `cargo run -p tillerman --example chat -- [MODEL]`, with `rehearsal` when none is named.

#![expect(clippy::print_stdout, reason = "an example talks to its terminal")]

use std::io::{BufRead as _, Write as _};

use futures_util::StreamExt as _;
use tillerman::options::SystemPrompt;
use tillerman::{Client, Options};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let model = std::env::args().nth(1).unwrap_or_else(|| "rehearsal".to_owned());
    let options = Options::new()
        .model(model)
        .system_prompt(SystemPrompt::preset())
        .include_partial_messages();
    let mut client = Client::connect(options).await?;
    let mut lines = std::io::stdin().lock().lines();
    loop {
        print!("> ");
        std::io::stdout().flush()?;
        let Some(line) = lines.next().transpose()?.filter(|line| !line.is_empty()) else { break };
        client.send(line).await?;
        let mut response = client.receive_response();
        while let Some(message) = response.next().await {
            let message = message?;
            if let Some(text) = message.text_delta() {
                print!("{text}");
                std::io::stdout().flush()?;
            } else if let Some((_, tool, input)) = message.tool_call() {
                println!("\n[{tool} {input}]");
            }
        }
        println!();
    }
    client.close().await?;
    Ok(())
}
