//! Handlers that call a tool of an MCP server.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tillerman_ports::{BoxFuture, HookEnd, Tool, ToolCall};
use tillerman_protocol::content::Content;
use tillerman_protocol::tool::{Access, ToolFailure, ToolOutcome, ToolOutput, ToolSpec};

use crate::bench::{Bench, answer, context, failure};

/// A tool that answers always the same, or never.
#[derive(Debug, Default)]
struct Scanner {
    outcome: Option<ToolOutcome>,
    calls: Mutex<Vec<Value>>,
}

impl Tool for Scanner {
    fn spec(&self) -> ToolSpec {
        let name = "mcp__scan__look".to_owned();
        let input_schema = json!({"type": "object"});
        ToolSpec { name, description: String::new(), input_schema, access: Access::ReadOnly }
    }

    fn check(&self, input: &Value) -> Result<(), String> {
        if input.get("bad").is_some() { Err("bad is not a field".to_owned()) } else { Ok(()) }
    }

    fn call(&self, call: ToolCall) -> BoxFuture<ToolOutcome> {
        self.calls.lock().unwrap().push(call.input);
        match self.outcome.clone() {
            Some(outcome) => Box::pin(std::future::ready(outcome)),
            None => Box::pin(std::future::pending()),
        }
    }
}

fn says(text: &str) -> Arc<Scanner> {
    let output = ToolOutput::new(Content::Text(text.to_owned()), None);
    Arc::new(Scanner { outcome: Some(Ok(output)), ..Scanner::default() })
}

fn handler(input: &Value) -> Value {
    json!({"type": "mcp_tool", "server": "scan", "tool": "look", "input": input})
}

#[tokio::test]
async fn fields_of_what_happened_fill_the_input() {
    let mut bench = Bench::new();
    let tool = says("{\"decision\": \"block\", \"reason\": \"found something\"}");
    bench.tool = Some(tool.clone());
    let input = json!({"what": "${tool_input.command}", "n": "${tool_input.n}",
        "line": "run ${tool_name} with ${tool_input.n}", "deep": {"list": ["${session_id}", 1]},
        "none": "${no.such.field}", "part": "a ${no.such} b", "price": "$5 ${"});
    let report = bench.run(&handler(&input), "PreToolUse").await;
    assert_eq!(answer(&report).reason.as_deref(), Some("found something"));
    let expected = json!({"what": "ls", "n": 7, "line": "run Bash with 7",
        "deep": {"list": ["s", 1]}, "none": null, "part": "a  b", "price": "$5 ${"});
    assert_eq!(tool.calls.lock().unwrap()[..], [expected]);
}

#[tokio::test]
async fn plain_text_counts_as_it_does_for_commands() {
    let mut bench = Bench::new();
    bench.tool = Some(says("three open tickets"));
    let report = bench.run(&handler(&json!({})), "UserPromptSubmit").await;
    assert_eq!(context(&report), Some("three open tickets"));
    let report = bench.run(&handler(&json!({})), "PreToolUse").await;
    assert_eq!(answer(&report), &Default::default());
}

#[tokio::test]
async fn what_goes_wrong_is_told() {
    let mut bench = Bench::new();
    let report = bench.run(&handler(&json!({})), "PreToolUse").await;
    assert!(failure(&report).contains("is the server scan connected?"), "{report:?}");
    bench.tool = Some(says("x"));
    let report = bench.run(&handler(&json!({"bad": 1})), "PreToolUse").await;
    assert!(failure(&report).contains("bad is not a field"), "{report:?}");
    let outcome = Some(Err(ToolFailure::new("out of order")));
    bench.tool = Some(Arc::new(Scanner { outcome, ..Scanner::default() }));
    let report = bench.run(&handler(&json!({})), "PreToolUse").await;
    assert!(failure(&report).contains("out of order"), "{report:?}");
    bench.tool = Some(Arc::new(Scanner::default()));
    bench.timeout = Duration::from_millis(50);
    let report = bench.run(&handler(&json!({})), "PreToolUse").await;
    assert!(matches!(report.end, HookEnd::TimedOut), "{report:?}");
}
