//! Asks the person before every call that could do harm; `a` allows all calls of that tool.
//!
//! `cargo run -p tillerman --example permission_prompt -- "PROMPT" [MODEL]`

#![expect(clippy::print_stdout, reason = "an example talks to its terminal")]

use std::io::Write as _;

use tillerman::callback::{PermissionRule, PermissionUpdate, RuleBehavior, UpdateDestination};
use tillerman::{Options, Permission, ToolRequest, prompt};

async fn ask(call: ToolRequest) -> Permission {
    println!("{} wants to run with {}", call.tool_name, call.input);
    print!("[y]es, [a]lways, [n]o? ");
    drop(std::io::stdout().flush());
    // Reading blocks, and the session goes on meanwhile.
    let reading = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        std::io::stdin().read_line(&mut line).map(|_| line)
    });
    let Ok(Ok(answer)) = reading.await else { return Permission::deny("nobody is there") };
    match answer.trim() {
        "y" => Permission::allow(),
        "a" => Permission::allow().and_remember(PermissionUpdate::AddRules {
            rules: vec![PermissionRule { tool_name: call.tool_name, rule_content: None }],
            behavior: RuleBehavior::Allow,
            destination: UpdateDestination::Session,
        }),
        _ => Permission::deny("the user said no"),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> tillerman::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let wish = arguments.next().unwrap_or_else(|| "run `touch /tmp/example`".to_owned());
    let model = arguments.next().unwrap_or_else(|| "rehearsal".to_owned());
    let options = Options::new().model(model).no_session_persistence().can_use_tool(ask);
    println!("{}", prompt(wish, options).await?.text);
    Ok(())
}
