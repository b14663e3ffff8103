//! What spans say: names, attributes, parents, and nothing of what was said unless it is wanted.

use serde_json::json;
use tillerman_ports::{Observed, ObservedAgent};
use tillerman_protocol::content::Content;
use tillerman_protocol::model::{FailureKind, ModelEvent, ModelFailure};
use tillerman_protocol::tool::{ToolFailure, ToolOutput};
use tillerman_testkit::{CollectedSpan, TraceCollector};

use crate::stage::{Sender, only, request};

/// A round with a call, and what a collector hears of it.
async fn round(more: &[(&str, &str)]) -> (Vec<CollectedSpan>, String) {
    let collector = TraceCollector::start().await;
    let sender = Sender::start(&collector, more);
    let mut session = sender.session();
    session.note(Observed::RoundStarted);
    session.chat(1, "tool_use");
    session.start_call(1, "toolu_1", "Bash");
    let outcome = Ok(ToolOutput::new(Content::Text("the output".to_owned()), None));
    session.note(Observed::CallEnded { call: 1, outcome: &outcome });
    session.chat(2, "end_turn");
    session.end_round(&json!({"total_cost_usd": 0.5}));
    drop(session);
    sender.finish().await;
    let text = String::from_utf8_lossy(&collector.posts()[0].body).into_owned();
    (collector.spans(), text)
}

#[tokio::test]
async fn a_round_has_requests_and_calls_below_it() {
    let (spans, text) = round(&[]).await;
    assert_eq!(spans.len(), 4);
    let agent = only(&spans, "invoke_agent");
    assert_eq!((agent.parent.as_str(), agent.kind), ("", 1));
    for span in &spans {
        assert_eq!(span.trace, agent.trace);
        assert_eq!(span.attributes["gen_ai.conversation.id"], "s1");
        assert!(!span.failed && (span.name == "invoke_agent" || span.parent == agent.span));
    }
    assert_eq!(agent.attributes["gen_ai.usage.input_tokens"], 10);
    assert_eq!(agent.attributes["tillerman.session.cost_usd"], 0.5);
    assert_eq!(agent.attributes["gen_ai.provider.name"], "anthropic");
    assert_eq!(agent.attributes["gen_ai.request.model"], "model-x");
    let chats: Vec<_> = spans.iter().filter(|span| span.name == "chat model-x").collect();
    let chat = &chats[0].attributes;
    assert_eq!((chats.len(), chats[0].kind), (2, 3));
    assert_eq!(chat["gen_ai.operation.name"], "chat");
    assert_eq!(chat["gen_ai.provider.name"], "anthropic");
    assert_eq!(chat["gen_ai.request.model"], "model-x");
    assert_eq!(chat["gen_ai.response.model"], "model-in-fact");
    assert_eq!(chat["gen_ai.response.id"], "msg_1");
    assert_eq!(chat["gen_ai.response.finish_reasons"], json!(["tool_use"]));
    assert_eq!(chat["gen_ai.usage.input_tokens"], 48);
    assert_eq!(chat["gen_ai.usage.output_tokens"], 7);
    assert_eq!(chat["gen_ai.usage.cache_read.input_tokens"], 40);
    assert_eq!(chat["gen_ai.usage.cache_creation.input_tokens"], 5);
    assert_eq!(chats[0].nanos, 6_000_000, "six events of a millisecond each");
    let call = only(&spans, "execute_tool Bash");
    assert_eq!(call.attributes["gen_ai.tool.name"], "Bash");
    assert_eq!(call.attributes["gen_ai.tool.call.id"], "toolu_1");
    for said in ["the prompt", "the answer", "the input", "the output", "the system prompt"] {
        assert!(!text.contains(said), "{said} is in {text}");
    }
}

#[tokio::test]
async fn what_was_said_is_there_when_it_is_wanted() {
    let wanted = ("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true");
    let (spans, _) = round(&[wanted]).await;
    let chat = &spans.iter().find(|span| span.name == "chat model-x").unwrap().attributes;
    let parsed = |name: &str| -> serde_json::Value {
        serde_json::from_str(chat[name].as_str().unwrap()).unwrap()
    };
    let text = |text: &str| json!([{"type": "text", "content": text}]);
    assert_eq!(parsed("gen_ai.system_instructions"), text("the system prompt"));
    let input = json!([{"role": "user", "parts": text("the prompt")}]);
    assert_eq!(parsed("gen_ai.input.messages"), input);
    let output = json!([{"role": "assistant", "parts": text("the answer"),
        "finish_reason": "tool_call"}]);
    assert_eq!(parsed("gen_ai.output.messages"), output);
    let call = &only(&spans, "execute_tool Bash").attributes;
    assert_eq!(call["gen_ai.tool.call.arguments"], "{\"command\":\"the input\"}");
    assert_eq!(call["gen_ai.tool.call.result"], "the output");
}

#[tokio::test]
async fn failures_have_a_type() {
    let collector = TraceCollector::start().await;
    let sender = Sender::start(&collector, &[]);
    let mut session = sender.session();
    session.note(Observed::RoundStarted);
    for (response, status) in [(1, Some(529)), (2, None)] {
        session.note(Observed::ModelAsked { response, request: &request() });
        let failure = ModelFailure::new(FailureKind::Overloaded, "no");
        let event = ModelEvent::Failed(ModelFailure { status, ..failure });
        session.note(Observed::ModelReported { response, event: &event });
    }
    session.note(Observed::ModelAsked { response: 3, request: &request() });
    session.note(Observed::ModelCancelled { response: 3 });
    session.start_call(1, "a", "Edit");
    let outcome = Err(ToolFailure::new("no such file"));
    session.note(Observed::CallEnded { call: 1, outcome: &outcome });
    session.start_call(2, "b", "Read");
    session.end_round(&json!({"is_error": true, "terminal_reason": "api_error",
        "api_error_status": 529}));
    drop(session);
    sender.finish().await;
    let spans = collector.spans();
    assert!(spans.iter().all(|span| span.failed), "{spans:#?}");
    let kinds: Vec<_> = spans.iter().map(|span| span.attributes["error.type"].clone()).collect();
    assert_eq!(kinds, ["529", "overloaded", "cancelled", "tool_error", "cancelled", "529"]);
}

#[tokio::test]
async fn agents_stand_below_the_calls_that_started_them() {
    let collector = TraceCollector::start().await;
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let sender = Sender::start(&collector, &[("TRACEPARENT", parent)]);
    let mut session = sender.session();
    session.note(Observed::RoundStarted);
    session.start_call(1, "toolu_1", "Agent");
    let about = ObservedAgent { id: "a1".to_owned(), kind: "explorer".to_owned() };
    let mut agent = session.below("toolu_1", &about);
    agent.note(Observed::RoundStarted);
    agent.chat(1, "end_turn");
    // Cut off: neither the agent nor its session comes to an end of its own.
    drop(agent);
    drop(session);
    sender.finish().await;
    let spans = collector.spans();
    let root = only(&spans, "invoke_agent");
    assert_eq!(root.trace, "0af7651916cd43dd8448eb211c80319c");
    assert_eq!(root.parent, "b7ad6b7169203331");
    let call = only(&spans, "execute_tool Agent");
    let below = only(&spans, "invoke_agent explorer");
    assert_eq!((&call.parent, &below.parent), (&root.span, &call.span));
    assert_eq!(below.attributes["gen_ai.agent.name"], "explorer");
    assert_eq!(below.attributes["gen_ai.agent.id"], "a1");
    assert_eq!(only(&spans, "chat model-x").parent, below.span);
    assert_eq!(root.attributes["error.type"], "cancelled");
}
