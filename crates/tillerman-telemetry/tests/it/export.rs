//! Sending: who gets what, what happens when nobody takes it, and that nobody waits for it.

use std::time::{Duration, Instant};

use serde_json::json;
use tillerman_ports::Observed;
use tillerman_telemetry::TelemetryCounts;
use tillerman_testkit::TraceCollector;

use crate::stage::{Sender, read};

fn play(sender: &Sender, rounds: usize) {
    let mut session = sender.session();
    for _ in 0..rounds {
        session.note(Observed::RoundStarted);
        session.end_round(&json!({}));
    }
}

#[tokio::test]
async fn a_request_says_who_sends_it_and_with_what_right() {
    let collector = TraceCollector::start().await;
    let sender = Sender::start(
        &collector,
        &[
            ("OTEL_EXPORTER_OTLP_HEADERS", "x-key=secret%2C1"),
            ("OTEL_SERVICE_NAME", "my agents"),
            ("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test,service.name=other"),
        ],
    );
    play(&sender, 1);
    sender.finish().await;
    let posts = collector.posts();
    assert_eq!(posts.len(), 1);
    assert_eq!(posts[0].headers["x-key"], "secret,1");
    assert_eq!(posts[0].headers["content-type"], "application/json");
    let body: serde_json::Value = serde_json::from_slice(&posts[0].body).unwrap();
    let resource = body["resourceSpans"][0]["resource"]["attributes"].to_string();
    for part in ["my agents", "deployment.environment.name", "service.version", "1.2.3"] {
        assert!(resource.contains(part), "{part} is not in {resource}");
    }
    assert!(!resource.contains("other"), "{resource}");
}

#[tokio::test]
async fn protocol_buffers_are_what_is_sent_unless_told_otherwise() {
    let collector = TraceCollector::start().await;
    let url = collector.url();
    let sender = Sender::with(read(&[("OTEL_EXPORTER_OTLP_ENDPOINT", &url)]).unwrap());
    let mut session = sender.session();
    session.note(Observed::RoundStarted);
    session.chat(1, "end_turn");
    session.end_round(&json!({"is_error": true, "total_cost_usd": 0.25}));
    drop(session);
    sender.finish().await;
    let post = collector.posts().remove(0);
    assert_eq!(post.headers["content-type"], "application/x-protobuf");
    let whole = fields(&post.body);
    let [(1, of_resource)] = whole.as_slice() else { panic!("{whole:?}") };
    let parts = fields(of_resource);
    assert_eq!(parts.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [1, 2]);
    let scoped = fields(&parts[1].1);
    let spans: Vec<_> = scoped.iter().filter(|(number, _)| *number == 2).collect();
    let names: Vec<String> = spans.iter().map(|(_, span)| text(&field(span, 5))).collect();
    assert_eq!(names, ["chat model-x", "invoke_agent"]);
    let [(_, chat), (_, agent)] = spans.as_slice() else { panic!("{names:?}") };
    assert_eq!(field(chat, 1), field(agent, 1), "one trace");
    assert_eq!(field(chat, 4), field(agent, 2), "one below the other");
    assert_eq!((field(chat, 1).len(), field(chat, 2).len()), (16, 8));
    assert_eq!((field(chat, 6), field(agent, 6)), (vec![3], vec![1]));
    assert_eq!(field(chat, 7), (1_002_u64 * 1_000_000).to_le_bytes());
    assert_eq!(field(&field(agent, 15), 3), [2], "a failure");
    let attribute = |span: &[u8], name: &str| {
        let all = fields(span).into_iter().filter(|(number, _)| *number == 9);
        let mut named = all.filter(|(_, it)| text(&field(it, 1)) == name);
        field(&named.next().unwrap().1, 2)
    };
    assert_eq!(field(&attribute(chat, "gen_ai.usage.output_tokens"), 3), [7]);
    let cost = field(&attribute(agent, "tillerman.session.cost_usd"), 4);
    assert_eq!(cost, 0.25_f64.to_le_bytes());
    let reasons = field(&attribute(chat, "gen_ai.response.finish_reasons"), 5);
    assert_eq!(text(&field(&field(&reasons, 1), 1)), "end_turn");
}

#[tokio::test]
async fn a_collector_that_is_busy_is_asked_again() {
    let collector = TraceCollector::start().await;
    collector.refuse(&[503]);
    let sender = Sender::start(&collector, &[("OTEL_BSP_SCHEDULE_DELAY", "1")]);
    play(&sender, 1);
    let sent = async {
        while sender.telemetry.counts().sent == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), sent).await.unwrap();
    assert_eq!(collector.spans().len(), 1);
    sender.finish().await;
}

#[tokio::test]
async fn a_collector_that_refuses_or_is_gone_costs_spans_and_nothing_else() {
    let collector = TraceCollector::start().await;
    collector.refuse(&[400]);
    let sender = Sender::start(&collector, &[]);
    play(&sender, 2);
    let telemetry = sender.telemetry.clone();
    sender.finish().await;
    assert_eq!(telemetry.counts(), TelemetryCounts { failed: 2, ..TelemetryCounts::default() });
    let url = collector.url();
    drop(collector);
    let sender = Sender::with(read(&[("OTEL_EXPORTER_OTLP_ENDPOINT", &url)]).unwrap());
    play(&sender, 2);
    let telemetry = sender.telemetry.clone();
    sender.finish().await;
    assert_eq!(telemetry.counts(), TelemetryCounts { failed: 2, ..TelemetryCounts::default() });
}

#[tokio::test]
async fn what_finds_no_room_is_dropped_and_counted() {
    let collector = TraceCollector::start().await;
    let sender = Sender::start(&collector, &[("OTEL_BSP_MAX_QUEUE_SIZE", "4")]);
    let began = Instant::now();
    // Nothing is sent before this task lets others run, so that the queue fills up.
    play(&sender, 1_000);
    assert!(began.elapsed() < Duration::from_secs(5), "nobody waits for room");
    let telemetry = sender.telemetry.clone();
    sender.finish().await;
    let counts = TelemetryCounts { sent: 4, dropped: 996, failed: 0 };
    assert_eq!(telemetry.counts(), counts);
    assert_eq!(collector.spans().len(), 4);
}

/// The fields of a message, each with its number and its bytes.
fn fields(mut message: &[u8]) -> Vec<(u64, Vec<u8>)> {
    let mut all = Vec::new();
    while !message.is_empty() {
        let key = varint(&mut message);
        let value = match key & 7 {
            0 => {
                let before = message;
                varint(&mut message);
                before[..before.len() - message.len()].to_vec()
            }
            1 => take(&mut message, 8),
            2 => {
                let length = varint(&mut message);
                take(&mut message, usize::try_from(length).unwrap())
            }
            other => panic!("a field of kind {other}"),
        };
        all.push((key >> 3, value));
    }
    all
}

fn field(message: &[u8], number: u64) -> Vec<u8> {
    let found = fields(message).into_iter().find(|(held, _)| *held == number);
    found.unwrap_or_else(|| panic!("there is no field {number}")).1
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn varint(rest: &mut &[u8]) -> u64 {
    let mut number = 0;
    for place in 0..10 {
        let byte = take(rest, 1)[0];
        number |= u64::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            return number;
        }
    }
    panic!("a number without an end");
}

fn take(rest: &mut &[u8], length: usize) -> Vec<u8> {
    let (first, others) = rest.split_at(length);
    *rest = others;
    first.to_vec()
}
