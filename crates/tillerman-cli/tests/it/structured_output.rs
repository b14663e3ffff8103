//! Answers in a form that the caller chooses.

use serde_json::json;
use tillerman_testkit::{ScriptedServer, response, script};

use crate::harness::{FRAMES_OUT, World};

const SCHEMA: &str = r#"{"type":"object","properties":{"age":{"type":"integer"}},
    "required":["age"],"additionalProperties":false}"#;

#[tokio::test]
async fn an_output_that_matches_ends_the_round() {
    let world = World::new();
    let script = script()
        .reply(response().tool_call("StructuredOutput", json!({"age": "old"})))
        .reply(response().tool_call("StructuredOutput", json!({"age": 7})));
    let server = ScriptedServer::start(script).await;
    let arguments = [&FRAMES_OUT[..], &["--json-schema", SCHEMA, "how old?"]].concat();
    let finished = world.tillerman().asks(&server).args(arguments).run().await;
    finished.assert_code(0);
    let result = finished.result();
    assert_eq!(result["structured_output"], json!({"age": 7}));
    assert_eq!(result["subtype"], "success");
    let told = server.request(1).tool_result_texts().concat();
    assert!(told.contains("/age") && told.contains("integer"), "{told}");
    let tool = &server.request(0).body["tools"];
    let offered = tool.as_array().unwrap().iter().find(|tool| tool["name"] == "StructuredOutput");
    assert_eq!(offered.unwrap()["input_schema"]["required"], json!(["age"]));
    server.verify();
}

#[tokio::test]
async fn as_text_the_output_is_printed() {
    let world = World::new();
    let script = script()
        .reply(response().text("Let me see.").tool_call("StructuredOutput", json!({"age": 7})));
    let server = ScriptedServer::start(script).await;
    let arguments = ["-p", "--json-schema", SCHEMA, "how old?"];
    let finished = world.tillerman().asks(&server).args(arguments).run().await;
    finished.assert_code(0);
    assert_eq!(finished.text(), "{\"age\":7}\n");
}

#[tokio::test]
async fn outputs_that_are_no_objects_are_delivered_too() {
    let world = World::new();
    let script =
        script().reply(response().tool_call("StructuredOutput", json!({"output": ["a", "b"]})));
    let server = ScriptedServer::start(script).await;
    let schema = r##"{"type":"array","items":{"$ref":"#/$defs/name"},
        "$defs":{"name":{"type":"string"}}}"##;
    let arguments = [&FRAMES_OUT[..], &["--json-schema", schema, "who?"]].concat();
    let finished = world.tillerman().asks(&server).args(arguments).run().await;
    finished.assert_code(0);
    assert_eq!(finished.result()["structured_output"], json!(["a", "b"]));
    server.verify();
}

#[tokio::test]
async fn a_model_that_never_delivers_is_an_error_in_finite_time() {
    let world = World::new();
    let script = (0..3).fold(script(), |script, _| script.reply(response().text("No.")));
    let server = ScriptedServer::start(script).await;
    let arguments = [&FRAMES_OUT[..], &["--json-schema", SCHEMA, "how old?"]].concat();
    let launch = world.tillerman().asks(&server).env("MAX_STRUCTURED_OUTPUT_RETRIES", "3");
    let finished = launch.args(arguments).run().await;
    finished.assert_code(1);
    let result = finished.result();
    assert_eq!(result["subtype"], "error_max_structured_output_retries");
    assert!(result.get("structured_output").is_none(), "{result}");
    server.verify();
}

#[tokio::test]
async fn a_schema_that_cannot_be_used_is_refused_at_the_start() {
    let world = World::new();
    let server = ScriptedServer::start(script()).await;
    for (schema, reason) in [
        ("{", "not JSON"),
        ("[]", "not an object"),
        (r#"{"type":"colour"}"#, "colour"),
        (r#"{"type":"object","properties":{"a":{"$ref":"https://example.com/a"}}}"#, "example.com"),
    ] {
        let arguments = ["-p", "--json-schema", schema, "how old?"];
        let finished = world.tillerman().asks(&server).args(arguments).run().await;
        finished.assert_code(1).assert_stderr("--json-schema").assert_stderr(reason);
    }
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_host_may_ask_for_it_in_the_handshake() {
    let world = World::new();
    let script = script().reply(response().tool_call("StructuredOutput", json!({"age": 7})));
    let server = ScriptedServer::start(script).await;
    let mut agent = world.tillerman().asks(&server).start();
    let initialize = |schema: &str| {
        let schema: serde_json::Value = serde_json::from_str(schema).unwrap();
        let request = json!({"subtype": "initialize", "hooks": null, "jsonSchema": schema});
        json!({"type": "control_request", "request_id": "r", "request": request})
    };
    agent.send(initialize(r#"{"type":"colour"}"#)).await;
    let is_answer = |frame: &serde_json::Value| frame["type"] == "control_response";
    let answer = agent.frame("an answer", is_answer).await;
    assert_eq!(answer["response"]["subtype"], "error", "{answer}");
    agent.send(initialize(SCHEMA)).await;
    assert_eq!(agent.frame("an answer", is_answer).await["response"]["subtype"], "success");
    agent.prompt("how old?").await;
    assert_eq!(agent.result().await["structured_output"], json!({"age": 7}));
    agent.finish().await.0.assert_code(0);
    server.verify();
}
