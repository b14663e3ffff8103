//! What operators look at: numbers that Prometheus can read, and ids of requests.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;
use tillerman_host::FurtherCounters;

use crate::harness::{Puppet, World, within};

/// The samples of a text in the form that Prometheus reads; panics where it could not.
#[track_caller]
fn samples(text: &str) -> BTreeMap<String, f64> {
    let mut kinds: BTreeMap<&str, &str> = BTreeMap::new();
    let mut helped = BTreeSet::new();
    let mut samples = BTreeMap::new();
    for line in text.lines() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            let (name, sentence) = help.split_once(' ').unwrap();
            assert!(helped.insert(name) && sentence.ends_with('.'), "{line}");
        } else if let Some(kind) = line.strip_prefix("# TYPE ") {
            let (name, kind) = kind.split_once(' ').unwrap();
            assert!(helped.contains(name) && kinds.insert(name, kind).is_none(), "{line}");
        } else {
            let (sample, value) = line.rsplit_once(' ').unwrap();
            let name = sample.split('{').next().unwrap();
            let family = ["_bucket", "_sum", "_count"].iter().find_map(|it| name.strip_suffix(it));
            let histogram = family.filter(|name| kinds.get(name) == Some(&"histogram"));
            let kind = kinds.get(histogram.unwrap_or(name)).unwrap_or_else(|| panic!("{line}"));
            assert_eq!(*kind == "counter", name.ends_with("_total"), "{line}");
            assert!(samples.insert(sample.to_owned(), value.parse().unwrap()).is_none(), "{line}");
        }
    }
    for name in kinds.iter().filter(|(_, kind)| **kind == "histogram").map(|(name, _)| name) {
        let bucket = format!("{name}_bucket{{le=\"");
        let counts: Vec<f64> = text
            .lines()
            .filter(|line| line.starts_with(&bucket))
            .map(|line| line.rsplit(' ').next().unwrap().parse().unwrap())
            .collect();
        assert!(counts.is_sorted(), "{name}: {counts:?}");
        assert_eq!(
            samples[&format!("{name}_bucket{{le=\"+Inf\"}}")],
            samples[&format!("{name}_count")]
        );
    }
    samples
}

async fn numbers(world: &World) -> BTreeMap<String, f64> {
    let metrics = world.call("GET", "/metrics").send().await;
    assert_eq!(metrics.status, 200);
    assert_eq!(metrics.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    samples(&metrics.text)
}

/// Looks until a number is what it should be.
async fn reaches(world: &World, name: &str, wanted: f64) {
    let look = async {
        while numbers(world).await.get(name) != Some(&wanted) {
            tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        }
    };
    within(name, look).await;
}

async fn request_begins(puppet: &Puppet) {
    puppet
        .say(json!({"type": "system", "subtype": "status", "status": "requesting",
        "session_id": "s", "uuid": "q"}))
        .await;
}

async fn stream(puppet: &Puppet, event: &str) {
    puppet
        .say(json!({"type": "stream_event", "event": {"type": event}, "uuid": "e",
        "session_id": "s", "parent_tool_use_id": null}))
        .await;
}

#[tokio::test]
async fn a_new_host_has_numbers_that_can_be_read() {
    let world = World::with(|settings| {
        let counters = || vec![("spans_sent_total", "Spans that were sent.", 7)];
        settings.further_counters = Some(FurtherCounters::new(counters));
    })
    .await;
    let numbers = numbers(&world).await;
    assert_eq!(numbers["tillerman_spans_sent_total"], 7.0);
    assert_eq!(numbers["tillerman_conversations{state=\"running\"}"], 0.0);
    let version = format!("tillerman_build_info{{version=\"{}\"}}", env!("CARGO_PKG_VERSION"));
    assert_eq!(numbers[&version], 1.0);
}

#[tokio::test]
async fn requests_to_models_are_measured_by_their_frames() {
    let mut world = World::new().await;
    let id = world.conversation().await;
    world.say(&id, "go").await;
    let (puppet, _) = world.prompted().await;
    request_begins(&puppet).await;
    puppet
        .say(json!({"type": "system", "subtype": "api_retry", "attempt": 1, "max_retries": 10,
        "retry_delay_ms": 1, "error_status": 529, "error": "overloaded", "session_id": "s",
        "uuid": "y"}))
        .await;
    request_begins(&puppet).await;
    stream(&puppet, "message_start").await;
    stream(&puppet, "message_stop").await;
    let usage = json!({"input_tokens": 10, "cache_read_input_tokens": 20,
        "cache_creation_input_tokens": 3, "output_tokens": 5});
    let models = json!({"model \"x\"": {"costUSD": 0.5}});
    puppet.finish(json!({"total_cost_usd": 0.5, "usage": usage, "modelUsage": models})).await;
    world.reaches(&id, "idle").await;
    let found = numbers(&world).await;
    let of_model = |kind: &str| {
        format!("tillerman_model_tokens_total{{model=\"model \\\"x\\\"\",kind=\"{kind}\"}}")
    };
    for (name, value) in [
        ("tillerman_model_requests_total{outcome=\"answered\"}", 1.0),
        ("tillerman_model_requests_total{outcome=\"failed\"}", 1.0),
        ("tillerman_model_errors_total{error=\"overloaded\"}", 1.0),
        ("tillerman_model_response_seconds_count", 1.0),
        ("tillerman_model_first_token_seconds_count", 1.0),
        (of_model("input").as_str(), 10.0),
        (of_model("cache_read").as_str(), 20.0),
        (of_model("cache_creation").as_str(), 3.0),
        (of_model("output").as_str(), 5.0),
        ("tillerman_cost_usd_total{model=\"model \\\"x\\\"\"}", 0.5),
    ] {
        assert_eq!(found.get(name), Some(&value), "{name} in {found:#?}");
    }
    world.say(&id, "again").await;
    request_begins(&puppet).await;
    puppet.finish(json!({"terminal_reason": "aborted_streaming", "is_error": true})).await;
    reaches(&world, "tillerman_model_requests_total{outcome=\"cancelled\"}", 1.0).await;
}

#[tokio::test]
async fn what_waits_and_what_is_followed_is_counted() {
    let mut world = World::new().await;
    let id = world.conversation().await;
    let mut socket = world.socket().await;
    socket.subscribe(&id, 0).await;
    socket.next_of("caught_up").await;
    world.say(&id, "go").await;
    let (puppet, _) = world.prompted().await;
    puppet.text("shown").await;
    while !socket.next_of("event").await["event"].to_string().contains("shown") {}
    puppet.ask("q1", "u1", "make").await;
    world.card().await;
    let found = numbers(&world).await;
    assert_eq!(found["tillerman_sockets"], 1.0);
    assert_eq!(found["tillerman_approvals_open"], 1.0);
    assert_eq!(found["tillerman_conversations{state=\"waiting\"}"], 1.0);
    assert!(found["tillerman_event_socket_seconds_count"] >= 2.0, "{found:#?}");
    assert!(found["tillerman_http_request_seconds_count"] >= 3.0);
    assert!(found["tillerman_http_responses_total{class=\"2xx\"}"] >= 3.0);
}

#[tokio::test]
async fn a_run_that_broke_is_counted_when_it_starts_again() {
    let mut world = World::with(|settings| {
        settings.timeouts.restart = std::time::Duration::from_millis(1);
    })
    .await;
    let id = world.conversation().await;
    world.say(&id, "go").await;
    let (puppet, _) = world.prompted().await;
    puppet.crash("no");
    let _second = world.puppet().await;
    let found = numbers(&world).await;
    assert_eq!(found["tillerman_runs_broken_total"], 1.0);
    assert_eq!(found["tillerman_runs_restarted_total"], 1.0);
}

#[tokio::test]
async fn every_answer_names_its_request() {
    let world = World::new().await;
    let first = world.get("/info").await;
    let second = world.call("GET", "/healthz").send().await;
    let id = |answer: &crate::harness::Answer| answer.header("x-request-id").map(str::to_owned);
    assert!(id(&first).is_some_and(|id| id.len() == 36), "{first:?}");
    assert_ne!(id(&first), id(&second));
}
