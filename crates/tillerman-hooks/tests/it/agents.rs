//! Handlers that have an agent look into something.

use std::sync::Arc;

use serde_json::{Value, json};
use tillerman_ports::{Bounds, BoxFuture, Sight, Tool, ToolCall};
use tillerman_protocol::content::Content;
use tillerman_protocol::tool::{Access, ToolOutcome, ToolOutput, ToolSpec};

use crate::bench::{Bench, answer, failure};

/// Shows a file that holds a key.
#[derive(Debug)]
struct Reader;

impl Tool for Reader {
    fn spec(&self) -> ToolSpec {
        let (name, input_schema) = ("Read".to_owned(), json!({"type": "object"}));
        ToolSpec { name, description: String::new(), input_schema, access: Access::ReadOnly }
    }

    fn check(&self, input: &Value) -> Result<(), String> {
        input.get("file_path").map(drop).ok_or_else(|| "file_path is missing".to_owned())
    }

    fn call(&self, call: ToolCall) -> BoxFuture<ToolOutcome> {
        let text = format!("{} says hunter2 {}", call.input["file_path"], "x".repeat(60_000));
        Box::pin(std::future::ready(Ok(ToolOutput::new(Content::Text(text), None))))
    }
}

fn bench() -> Bench {
    let mut bench = Bench::new();
    bench.sight = Sight {
        tools: vec![Arc::new(Reader)],
        permits: Some(Arc::new(|_: &dyn Tool, input: &Value| match &input["file_path"] {
            path if path == "secret" => Err("that is denied".to_owned()),
            _ => Ok(Bounds::Confined),
        })),
        redact: Some(Arc::new(|text: &mut String| *text = text.replace("hunter2", "[redacted]"))),
        ..Sight::default()
    };
    bench
}

fn handler() -> Value {
    json!({"type": "agent", "prompt": "Are the tests there? $ARGUMENTS"})
}

/// What the agent was shown after its first call.
fn result(bench: &Bench) -> Value {
    let request = bench.model.requests.lock().unwrap().pop().unwrap();
    serde_json::to_value(&request.messages[2].content).unwrap()[0].clone()
}

#[tokio::test]
async fn an_agent_looks_and_then_says_what_it_thinks() {
    let bench = bench();
    bench.model.calls_first("Read", &json!({"file_path": "a"}));
    bench.model.says("{\"ok\": false, \"reason\": \"no tests\"}");
    let report = bench.run(&handler(), "Stop").await;
    assert_eq!(answer(&report).reason.as_deref(), Some("no tests"));
    assert_eq!((answer(&report).decision.as_deref(), answer(&report).go_on), (Some("block"), None));
    let first = bench.model.requests.lock().unwrap()[0].clone();
    assert_eq!((first.model.as_str(), first.tools[0].name.as_str()), ("small", "Read"));
    assert!(first.messages[0].content.plain_text().contains("\"hook_event_name\":\"Stop\""));
    let shown = result(&bench);
    let text = shown["content"].as_str().unwrap();
    assert!(text.starts_with("\"a\" says [redacted] x") && text.ends_with("[cut here]"), "{shown}");
    assert!(text.len() < 51_000);
    bench.model.says("{\"ok\": true}");
    assert_eq!(answer(&bench.run(&handler(), "Stop").await), &Default::default());
}

#[tokio::test]
async fn a_call_that_must_not_be_made_fails_and_the_agent_goes_on() {
    let table = [
        ("Read", json!({"file_path": "secret"}), "that is denied"),
        ("Read", json!({}), "file_path is missing"),
        ("Bash", json!({"command": "ls"}), "There is no tool Bash"),
    ];
    for (name, input, said) in table {
        let bench = bench();
        bench.model.calls_first(name, &input);
        bench.model.says("{\"ok\": true}");
        assert_eq!(answer(&bench.run(&handler(), "Stop").await), &Default::default());
        let shown = result(&bench);
        assert_eq!(shown["is_error"], true, "{name}");
        assert!(shown["content"].as_str().unwrap().contains(said), "{shown}");
    }
}

#[tokio::test]
async fn an_agent_that_comes_to_no_end_is_given_up() {
    let bench = bench();
    for _ in 0..60 {
        bench.model.calls_first("Read", &json!({"file_path": "a"}));
    }
    let report = bench.run(&handler(), "Stop").await;
    assert!(failure(&report).contains("no answer within 50 turns"), "{report:?}");
    assert_eq!(bench.model.requests.lock().unwrap().len(), 50);
}
