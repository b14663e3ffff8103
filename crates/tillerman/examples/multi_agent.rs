//! Agents that hand work to each other: a lead, a researcher and a writer.
//!
//! `cargo run -p tillerman --example multi_agent -- [MODEL]`

#![expect(clippy::print_stdout, reason = "an example talks to its terminal")]

use futures_util::StreamExt as _;
use tillerman::message::SystemDetail;
use tillerman::options::AgentDefinition;
use tillerman::{Message, Options, query};

fn agent(description: &str, prompt: &str, tools: &[&str]) -> AgentDefinition {
    AgentDefinition {
        description: description.to_owned(),
        prompt: prompt.to_owned(),
        tools: Some(tools.iter().map(|tool| (*tool).to_owned()).collect()),
        ..AgentDefinition::default()
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> tillerman::Result<()> {
    let model = std::env::args().nth(1).unwrap_or_else(|| "rehearsal".to_owned());
    let researcher = agent(
        "finds things in files",
        "You search. Quote what you find.",
        &["Read", "Grep", "Glob"],
    );
    let writer = agent("writes summaries", "You write short, plain summaries.", &["Read"]);
    let options = Options::new()
        .model(model)
        .no_session_persistence()
        .agent("researcher", researcher)
        .agent("writer", writer)
        .forward_subagent_text();
    let mut messages = query("delegate to a subagent: list files", options);
    while let Some(message) = messages.next().await {
        let message = message?;
        match message.as_system() {
            Some(SystemDetail::TaskStarted(task)) => println!("[begins: {}]", task.description),
            Some(SystemDetail::TaskNotification(task)) => println!("[ends: {}]", task.summary),
            _ => {}
        }
        let who = if message.parent_tool_use_id().is_some() { "subagent" } else { "lead" };
        if let Some(text) = message.text() {
            println!("{who}: {text}");
        }
        // Every round has a result, also those that agents in the background bring about.
        if let Message::Result(result) = &message {
            println!("[result: {:?}, {:.4} $]", result.subtype, result.total_cost_usd);
        }
    }
    Ok(())
}
