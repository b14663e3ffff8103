//! Tools of one's own: schemas from types, strict arguments, every kind of result.

use serde_json::{Value, json};
use tillerman::testing::{CapturedRequest, response, script};
use tillerman::tools::{Json, Picture, Tool, ToolContext, ToolOutput, create_mcp_server, tool};
use tillerman::{ErrorKind, Message};

use crate::world::{Way, World, over_every_transport, result, tool_results};

over_every_transport![
    tools_of_this_process_are_called,
    arguments_that_do_not_fit_are_refused,
    failures_are_told_to_the_model,
    a_tool_that_panics_is_a_failed_call,
    subagents_have_them_too,
];

/// Adds two numbers.
///
/// What follows is for people.
#[tool(read_only, title = "Addition")]
async fn add(
    /// The first number.
    a: f64,
    /// The second number.
    b: f64,
) -> String {
    (a + b).to_string()
}

/// Divides a number by another.
#[tool(name = "divide")]
fn division(a: i64, b: i64, context: ToolContext) -> Result<Json<Value>, String> {
    if b == 0 {
        let server = context.server;
        return Err(format!("{server} cannot divide by zero"));
    }
    Ok(Json(json!({"quotient": a / b, "remainder": a % b})))
}

/// Shows a picture.
#[tool]
async fn show() -> Picture {
    Picture { media_type: "image/png".to_owned(), bytes: vec![1, 2, 3] }
}

/// Breaks.
#[tool]
async fn shatter(what: String) -> String {
    assert!(what.is_empty(), "{what} is broken");
    what
}

fn server() -> tillerman::tools::McpServer {
    let tools = [add_tool(), division_tool(), show_tool(), shatter_tool()];
    create_mcp_server("math", "1.0.0", tools).unwrap()
}

async fn call(way: Way, tool: &str, input: Value) -> (World, Vec<Message>) {
    let script = script()
        .reply(response().tool_call(&format!("mcp__math__{tool}"), input))
        .reply(response().text("done"));
    let world = World::new(way, script).await;
    let options = world.options().mcp_server("math", server()).allow_tool("mcp__math");
    let messages = world.ask("calculate", options).await;
    assert_eq!(result(&messages).result.clone().unwrap(), "done");
    (world, messages)
}

async fn tools_of_this_process_are_called(way: Way) {
    let (world, messages) = call(way, "add", json!({"a": 1.5, "b": 2})).await;
    assert_eq!(tool_results(&messages), ["3.5"]);
    let tools = world.server.request(0).body["tools"].clone();
    let offered = tools.as_array().unwrap().iter().find(|tool| tool["name"] == "mcp__math__add");
    let offered = offered.unwrap();
    assert_eq!(offered["description"], "Adds two numbers.");
    let first = &offered["input_schema"]["properties"]["a"];
    assert_eq!(first["description"], "The first number.");
    assert_eq!(offered["input_schema"]["required"], json!(["a", "b"]));
}

async fn arguments_that_do_not_fit_are_refused(way: Way) {
    let (_, messages) = call(way, "add", json!({"a": "one", "b": 2})).await;
    assert!(tool_results(&messages)[0].contains("one"), "{messages:?}");
    let (_, messages) = call(way, "add", json!({"a": 1})).await;
    assert!(tool_results(&messages)[0].contains('b'));
}

async fn failures_are_told_to_the_model(way: Way) {
    let (_, messages) = call(way, "divide", json!({"a": 1, "b": 0})).await;
    assert!(tool_results(&messages)[0].contains("math cannot divide by zero"));
    let (_, messages) = call(way, "divide", json!({"a": 7, "b": 2})).await;
    assert!(tool_results(&messages)[0].contains("\"remainder\":1"), "{messages:?}");
}

async fn a_tool_that_panics_is_a_failed_call(way: Way) {
    let (_, messages) = call(way, "shatter", json!({"what": "vase"})).await;
    assert!(tool_results(&messages)[0].contains("failed unexpectedly"), "{messages:?}");
    let failure = messages.iter().find_map(|message| match message {
        Message::CallbackFailed(failure) => Some(failure),
        _ => None,
    });
    assert_eq!(failure.unwrap().subject, "math: shatter");
    assert!(failure.unwrap().message.contains("vase is broken"));
}

async fn subagents_have_them_too(way: Way) {
    let input = json!({
        "subagent_type": "general-purpose", "description": "sum", "prompt": "add one and two",
        "run_in_background": false,
    });
    let script = script()
        .reply_when(
            "add one and two",
            response().tool_call("mcp__math__add", json!({"a": 1, "b": 2})),
        )
        .reply_when("add one and two", response().text("three"))
        .reply(response().tool_call("Agent", input))
        .reply(response().text("done"));
    let world = World::new(way, script).await;
    let options = world.options().mcp_server("math", server()).allow_tool("mcp__math");
    world.ask("calculate", options).await;
    let requests = world.server.requests();
    let mut results = requests.iter().flat_map(CapturedRequest::tool_result_texts);
    // Engines may add reminders of their own below it.
    assert!(results.any(|text| text.lines().next() == Some("3")), "the subagent got no answer");
}

#[tokio::test]
async fn results_come_in_every_kind() {
    assert_eq!(add_tool().call(json!({"a": 1, "b": 2})).await, ToolOutput::text("3"));
    let refused = add_tool().call(json!({"a": 1, "b": 2, "c": 3})).await;
    assert!(refused.is_error());
    let picture = show_tool().call(json!({})).await;
    assert_eq!(
        picture,
        ToolOutput::default()
            .and_picture(&Picture { media_type: "image/png".to_owned(), bytes: vec![1, 2, 3] })
    );
    let value = division_tool().call(json!({"a": 7, "b": 2})).await;
    let wanted = json!({"quotient": 3, "remainder": 1});
    assert_eq!(value, ToolOutput::text(wanted.to_string()).and_structured(wanted));
    assert_eq!(add(1.0, 2.0).await, "3");
}

#[tokio::test]
async fn a_server_speaks_json_rpc() {
    let server = server();
    let ask = |id: u64, method: &str, params: Value| {
        server.answer(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
    };
    let hello = ask(0, "initialize", json!({"protocolVersion": "2025-06-18"})).await;
    assert_eq!(hello["result"]["protocolVersion"], "2025-06-18");
    assert_eq!(hello["result"]["serverInfo"]["name"], "math");
    assert_eq!(ask(1, "ping", json!({})).await["result"], json!({}));
    let tools = ask(2, "tools/list", json!({})).await;
    assert_eq!(tools["result"]["tools"][0]["annotations"]["readOnlyHint"], true);
    assert_eq!(tools["result"]["tools"][0]["annotations"]["title"], "Addition");
    assert_eq!(ask(3, "resources/list", json!({})).await["error"]["code"], -32601);
    let unknown = ask(4, "tools/call", json!({"name": "nothing", "arguments": {}})).await;
    assert_eq!(unknown["result"]["isError"], true);
    let notice = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(server.answer(notice).await["result"], json!({}));
}

#[test]
fn servers_that_cannot_work_are_refused() {
    let plain = json!({"type": "object"});
    let tool = |name: &str, schema: &Value| {
        Tool::with_schema(name, "Does it.", schema.clone(), async |_, _| "done")
    };
    for tools in [
        vec![tool("twice", &plain), tool("twice", &plain)],
        vec![tool("has space", &plain)],
        vec![tool("", &plain)],
        vec![tool("list", &json!({"type": "array"}))],
    ] {
        let error = create_mcp_server("broken", "1", tools).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Tool);
    }
}
