//! Runs a scripted Messages server as a process: prints its address, plays until stdin closes.

use std::error::Error;
use std::io::{self, Read as _, Write as _};
use std::process::ExitCode;

use serde_json::{Value, json};
use tillerman_testkit::{Script, ScriptedServer};

const USAGE: &str = "\
usage: scripted-messages SCRIPT.json [--capture FILE]
       scripted-messages --loop CALLS [--tool NAME --input JSON]
Prints its address as the first line and runs until stdin closes.
--capture writes what it was asked, as JSON, when it ends.
--loop answers every prompt with CALLS calls of a tool (Bash with `true` unless named), then \"done\".";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let mut chain = error.to_string();
            let mut cause = error.source();
            while let Some(error) = cause {
                chain.push_str(&format!(": {error}"));
                cause = error.source();
            }
            // There is nobody left to tell when stderr is closed.
            drop(writeln!(io::stderr(), "{chain}"));
            ExitCode::FAILURE
        }
    }
}

/// What the command line asks for.
struct Order {
    script: Script,
    capture: Option<String>,
}

fn run() -> Result<(), Box<dyn Error>> {
    let order = order_from(std::env::args().skip(1))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(serve(order))
}

async fn serve(order: Order) -> Result<(), Box<dyn Error>> {
    let server = ScriptedServer::try_start(order.script).await?;
    let mut stdout = io::stdout();
    writeln!(stdout, "{}", server.url())?;
    stdout.flush()?;
    tokio::task::spawn_blocking(|| io::stdin().read_to_end(&mut Vec::new())).await??;
    if let Some(file) = order.capture {
        std::fs::write(&file, captured(&server).to_string())
            .map_err(|error| format!("cannot write the capture {file}: {error}"))?;
    }
    for problem in server.problems() {
        writeln!(io::stderr(), "{problem}")?;
    }
    Ok(())
}

fn captured(server: &ScriptedServer) -> Value {
    let requests = server.requests();
    let outcomes: Vec<_> = (0..requests.len()).map(|number| server.outcome(number)).collect();
    json!({
        "requests": requests,
        "outcomes": outcomes,
        "other_requests": server.other_requests(),
        "problems": server.problems(),
        "prefix_violation": server.prefix_violation(),
        "left_over": server.left_over(),
    })
}

fn order_from(mut arguments: impl Iterator<Item = String>) -> Result<Order, Box<dyn Error>> {
    let first = arguments.next().ok_or(USAGE)?;
    if first == "--loop" {
        return Ok(Order { script: tool_loop(arguments)?, capture: None });
    }
    let text = std::fs::read_to_string(&first)
        .map_err(|error| format!("cannot read the script {first}: {error}"))?;
    let capture = match arguments.next().as_deref() {
        None => None,
        Some("--capture") => Some(arguments.next().ok_or(USAGE)?),
        Some(_) => return Err(USAGE.into()),
    };
    Ok(Order { script: Script::from_json(&text)?, capture })
}

fn tool_loop(mut arguments: impl Iterator<Item = String>) -> Result<Script, Box<dyn Error>> {
    let calls = arguments.next().and_then(|calls| calls.parse().ok()).ok_or(USAGE)?;
    let mut tool = "Bash".to_owned();
    let mut input = json!({ "command": "true", "description": "Does nothing" });
    while let Some(option) = arguments.next() {
        let value = arguments.next().ok_or(USAGE)?;
        match option.as_str() {
            "--tool" => tool = value,
            "--input" => input = serde_json::from_str::<Value>(&value)?,
            _ => return Err(USAGE.into()),
        }
    }
    Ok(Script::tool_loop(calls, tool, input).forgetting())
}
