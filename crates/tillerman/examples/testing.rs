//! How to test an agent: the model says what a script says, and the test looks at what it was told.
//!
//! `cargo run -p tillerman --example testing`

#![expect(clippy::print_stdout, reason = "an example talks to its terminal")]

use serde_json::json;
use tillerman::testing::{ScriptedServer, fault, response, script};
use tillerman::{Options, Permission, prompt};

/// The agent under test: it may look at files, and nothing else.
fn agent() -> Options {
    Options::new()
        .model("claude-sonnet-4-5")
        .no_session_persistence()
        .can_use_tool(async |_| Permission::deny("this agent only looks"))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> tillerman::Result<()> {
    let server = ScriptedServer::start(
        script()
            // The provider is overloaded once, which the engine gets over by itself.
            .reply(fault::status(529))
            .reply(response().tool_call("Bash", json!({"command": "rm -rf build"})))
            .reply(response().text("I was not allowed to.")),
    )
    .await;
    let options =
        agent().env("ANTHROPIC_BASE_URL", server.url()).env("ANTHROPIC_API_KEY", "not-a-key");
    let answer = prompt("tidy up", options).await?;

    assert_eq!(answer.text, "I was not allowed to.");
    assert_eq!(answer.result.permission_denials.len(), 1);
    assert!(server.request(2).tool_result_texts()[0].contains("only looks"));
    server.verify();
    println!("what the model saw:\n{}", server.render_context(2));
    Ok(())
}
