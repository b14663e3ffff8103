//! Tools of ours as a server, called by a client of ours.

use std::sync::Arc;

use rmcp::model::CallToolRequestParams;
use rmcp::service::ServiceExt as _;
use serde_json::{Value, json};
use tillerman_mcp::{Admission, Admitted, ClientIdentity, serve};
use tillerman_ports::{BoxFuture, Tool, ToolCall};
use tillerman_protocol::content::Content;
use tillerman_protocol::tool::{Access, ToolFailure, ToolOutcome, ToolOutput, ToolSpec};
use tokio::task::JoinSet;

#[derive(Debug)]
struct Shout;

impl Tool for Shout {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "Shout".to_owned(),
            description: "shouts".to_owned(),
            input_schema: json!({"type": "object", "properties": {"text": {"type": "string"}}}),
            access: Access::ReadOnly,
        }
    }

    fn check(&self, input: &Value) -> Result<(), String> {
        input.get("text").map(|_| ()).ok_or_else(|| "text is missing".to_owned())
    }

    fn call(&self, call: ToolCall) -> BoxFuture<ToolOutcome> {
        let text = call.input["text"].as_str().unwrap().to_uppercase();
        let outcome = match text.as_str() {
            "FAIL" => Err(ToolFailure::new("too loud")),
            _ => Ok(ToolOutput::new(Content::Text(text), None)),
        };
        Box::pin(std::future::ready(outcome))
    }
}

#[derive(Debug)]
struct NotSecrets;

impl Admission for NotSecrets {
    fn admit(&self, tool: &ToolSpec, input: &Value) -> Result<Admitted, String> {
        match input["text"].as_str() {
            Some("secret") => Err(format!("{} may not shout that", tool.name)),
            _ => Ok(Admitted::default()),
        }
    }
}

#[tokio::test]
async fn tools_are_listed_checked_admitted_and_called() {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let mut tasks = JoinSet::new();
    let identity = ClientIdentity { name: "tillerman".to_owned(), version: "9".to_owned() };
    let tools: Vec<Arc<dyn Tool>> = vec![Arc::new(Shout)];
    tasks.spawn(serve(tools, Arc::new(NotSecrets), identity, tokio::io::split(ours)));
    let client = ().serve(theirs).await.unwrap();
    assert_eq!(client.peer_info().unwrap().server_info.as_ref().unwrap().name, "tillerman");
    let listed = client.list_all_tools().await.unwrap();
    assert_eq!(listed[0].name, "Shout");
    assert_eq!(listed[0].annotations.as_ref().unwrap().read_only_hint, Some(true));
    let table = [
        ("Shout", json!({"text": "hi"}), false, "HI"),
        ("Shout", json!({"text": "fail"}), true, "too loud"),
        ("Shout", json!({"text": "secret"}), true, "Shout may not shout that"),
        ("Shout", json!({}), true, "text is missing"),
        ("Whisper", json!({}), true, "There is no tool called Whisper."),
    ];
    for (tool, input, is_error, expected) in table {
        let arguments = input.as_object().unwrap().clone();
        let params = CallToolRequestParams::new(tool).with_arguments(arguments);
        let result = client.call_tool(params).await.unwrap();
        assert_eq!(result.is_error, Some(is_error), "{input}");
        assert_eq!(result.content[0].as_text().unwrap().text, expected);
    }
    client.cancel().await.unwrap();
    tasks.join_next().await.unwrap().unwrap().unwrap();
}
