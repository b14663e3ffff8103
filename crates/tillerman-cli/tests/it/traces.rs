//! Traces of the real binary, as a collector gets them.

use serde_json::json;
use tillerman_testkit::{CollectedSpan, ScriptedServer, TraceCollector, fault, response, script};

use crate::harness::{FRAMES_OUT, Launch, World, until};
use crate::served::Served;

/// The settings that make spans readable for a test.
fn traced(launch: Launch, collector: &TraceCollector) -> Launch {
    launch
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url())
        .env("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json")
        .env("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20collector-secret")
}

#[track_caller]
fn only<'a>(spans: &'a [CollectedSpan], name: &str) -> &'a CollectedSpan {
    let found: Vec<_> = spans.iter().filter(|span| span.name == name).collect();
    assert_eq!(found.len(), 1, "{name} in {spans:#?}");
    found[0]
}

#[tokio::test]
async fn a_headless_run_is_one_trace_below_its_caller() {
    let (world, collector) = (World::new(), TraceCollector::start().await);
    let look = json!({"command": "env; echo the output"});
    let replies = script()
        .reply(fault::status(529).header("retry-after-ms", "1"))
        .reply(response().tool_call("Bash", look))
        .reply(response().text("the answer"));
    let server = ScriptedServer::start(replies).await;
    let launch = traced(world.tillerman().asks(&server).unguarded(), &collector)
        .env("TRACEPARENT", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    let finished = launch.args(FRAMES_OUT).args(["the prompt"]).run().await;
    finished.assert_code(0).assert_no_panic();
    let spans = collector.spans();
    assert_eq!(spans.len(), 5, "{spans:#?}");
    let round = only(&spans, "invoke_agent");
    assert_eq!(round.trace, "0af7651916cd43dd8448eb211c80319c");
    assert_eq!(round.parent, "b7ad6b7169203331");
    let session = finished.result()["session_id"].clone();
    for span in spans.iter().filter(|span| span.name != "invoke_agent") {
        assert_eq!((&span.trace, &span.parent), (&round.trace, &round.span));
        assert_eq!(span.attributes["gen_ai.conversation.id"], session);
    }
    let chats: Vec<_> = spans.iter().filter(|span| span.name.starts_with("chat ")).collect();
    assert_eq!(chats.len(), 3);
    assert_eq!(chats[0].attributes["error.type"], "529");
    assert!(chats[0].failed && !chats[1].failed);
    assert_eq!(chats[1].attributes["gen_ai.response.finish_reasons"], json!(["tool_use"]));
    assert!(chats[1].attributes["gen_ai.usage.output_tokens"].as_i64() > Some(0));
    let call = only(&spans, "execute_tool Bash");
    assert!(call.attributes["gen_ai.tool.call.id"].as_str().is_some_and(|id| !id.is_empty()));
    let text: String =
        collector.posts().iter().map(|post| String::from_utf8_lossy(&post.body)).collect();
    for said in ["the prompt", "the output", "the answer"] {
        assert!(!text.contains(said), "{said} is in {text}");
    }
    assert_eq!(collector.posts()[0].headers["authorization"], "Bearer collector-secret");
    assert!(!finished.text().contains("collector-secret"), "tools saw the collector's key");
}

#[tokio::test]
async fn agents_are_below_the_calls_that_started_them() {
    let (world, collector) = (World::new(), TraceCollector::start().await);
    let launch = traced(world.tillerman(), &collector);
    let finished = launch.args(["-p", "delegate: list the files here"]).run().await;
    finished.assert_code(0);
    let spans = collector.spans();
    let call = only(&spans, "execute_tool Agent");
    let agent = only(&spans, "invoke_agent general-purpose");
    let round = only(&spans, "invoke_agent");
    assert_eq!((&call.parent, &agent.parent), (&round.span, &call.span));
    let of_agent: Vec<_> = spans.iter().filter(|span| span.parent == agent.span).collect();
    assert!(of_agent.iter().any(|span| span.name.starts_with("chat ")), "{spans:#?}");
    assert!(of_agent.iter().any(|span| span.name.starts_with("execute_tool ")), "{spans:#?}");
    assert!(spans.iter().all(|span| span.trace == round.trace));
}

#[tokio::test]
async fn a_collector_that_is_down_changes_nothing() {
    let (world, collector) = (World::new(), TraceCollector::start().await);
    let launch = traced(world.tillerman(), &collector);
    drop(collector);
    let finished = launch.args(["-p", "list the files here"]).run().await;
    finished.assert_code(0).assert_no_panic().assert_stderr("did not take traces");
    assert!(finished.text().contains("rehearsal"), "{}", finished.text());
    let launch = world.tillerman().env("OTEL_EXPORTER_OTLP_ENDPOINT", "nowhere");
    let finished = launch.args(["-p", "list the files here"]).run().await;
    finished.assert_code(0).assert_stderr("no traces are sent");
}

#[tokio::test]
async fn a_host_traces_every_round_and_counts_spans() {
    let (world, collector) = (World::new(), TraceCollector::start().await);
    let launch = traced(world.tillerman(), &collector).env("OTEL_BSP_SCHEDULE_DELAY", "10");
    let host = Served::launch(&world, launch, &[]).await;
    let id = host.say("list the files here").await;
    host.reaches(&id, "idle").await;
    host.say_to(&id, "list the files here again").await;
    host.reaches(&id, "idle").await;
    let rounds = || {
        let spans = collector.spans().into_iter();
        spans.filter(|span| span.name == "invoke_agent").collect::<Vec<_>>()
    };
    until("two rounds", || rounds().len() == 2).await;
    let traces: Vec<String> = rounds().into_iter().map(|span| span.trace).collect();
    assert_ne!(traces[0], traces[1], "every round is a trace of its own");
    let metrics = host.text("/metrics").await;
    assert!(metrics.contains("tillerman_spans_dropped_total 0"), "{metrics}");
}
