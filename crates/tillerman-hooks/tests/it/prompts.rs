//! Handlers that ask a model.

use serde_json::{Value, json};
use tillerman_ports::HookEnd;
use tillerman_protocol::model::{FailureKind, ModelEvent, ModelFailure};

use crate::bench::{Bench, answer, failure};

fn prompt() -> Value {
    json!({"type": "prompt", "prompt": "Is this fine? $ARGUMENTS Answer."})
}

#[tokio::test]
async fn the_model_is_asked_with_what_happened() {
    let bench = Bench::new();
    bench.model.says("{\"ok\": true}");
    let report = bench.run(&prompt(), "PreToolUse").await;
    assert_eq!(answer(&report), &Default::default());
    let request = bench.model.requests.lock().unwrap().remove(0);
    assert_eq!(request.model, "small");
    let asked = request.messages[0].content.plain_text();
    assert!(asked.starts_with("Is this fine? {") && asked.ends_with("} Answer."), "{asked}");
    assert!(asked.contains("\"tool_name\":\"Bash\""), "{asked}");

    let handler = json!({"type": "prompt", "prompt": "Fine?", "model": "large"});
    bench.run(&handler, "PreToolUse").await;
    let request = bench.model.requests.lock().unwrap().remove(0);
    assert_eq!(request.model, "large");
    assert!(request.messages[0].content.plain_text().starts_with("Fine?\n\n{"));
}

#[tokio::test]
async fn a_refusal_means_what_the_event_lets_it_mean() {
    let bench = Bench::new();
    let no = "Well: {\"ok\": false, \"reason\": \"not that\"}";
    let impossible = "{\"ok\": false, \"reason\": \"not that\", \"impossible\": true}";
    let table = [
        ("PreToolUse", no, false, true, true),
        ("PostToolUse", no, false, true, true),
        ("PreToolUse", no, true, true, false),
        ("PostToolUse", no, true, true, false),
        ("UserPromptSubmit", no, false, true, false),
        ("Stop", no, false, true, false),
        ("Stop", impossible, false, false, false),
        ("SubagentStop", impossible, false, false, false),
    ];
    for (event, said, goes_on, blocks, ends) in table {
        bench.model.says(said);
        let mut handler = prompt();
        handler["continueOnBlock"] = json!(goes_on);
        let report = bench.run(&handler, event).await;
        let output = answer(&report);
        assert_eq!(output.decision.is_some(), blocks, "{event} {said}");
        assert_eq!(output.reason.as_deref(), blocks.then_some("not that"), "{event} {said}");
        assert_eq!(output.go_on, ends.then_some(false), "{event} {said}");
        assert_eq!(output.stop_reason.as_deref(), ends.then_some("not that"), "{event} {said}");
    }
}

#[tokio::test]
async fn a_model_that_cannot_answer_has_no_opinion() {
    let bench = Bench::new();
    for said in ["I think it is fine.", "{\"ok\": \"maybe\"}", "{}", ""] {
        bench.model.says(said);
        let report = bench.run(&prompt(), "PreToolUse").await;
        assert!(failure(&report).contains("is not {\"ok\""), "{said}: {report:?}");
    }
    let overloaded = ModelFailure::new(FailureKind::Overloaded, "overloaded");
    *bench.model.events.lock().unwrap() = vec![ModelEvent::Failed(overloaded)];
    let report = bench.run(&prompt(), "PreToolUse").await;
    assert!(failure(&report).contains("overloaded"));
    bench.model.events.lock().unwrap().clear();
    let report = bench.run(&prompt(), "PreToolUse").await;
    assert!(matches!(&report.end, HookEnd::Failed(why) if why.contains("cut off")), "{report:?}");
}

#[tokio::test]
async fn what_the_model_was_asked_is_billed_however_the_handler_ends() {
    let bench = Bench::new();
    let event = |value: Value| ModelEvent::Stream(serde_json::from_value(value).unwrap());
    let head = json!({"type": "message_start", "message": {"id": "m", "type": "message",
        "role": "assistant", "model": "small", "content": [],
        "usage": {"input_tokens": 40, "output_tokens": 1}}});
    let text = json!({"type": "content_block_start", "index": 0,
        "content_block": {"type": "text", "text": "{\"ok\": true}"}});
    let delta = json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"},
        "usage": {"output_tokens": 9}});
    let whole = [head.clone(), text, delta, json!({"type": "message_stop"})];
    *bench.model.events.lock().unwrap() = whole.into_iter().map(event).collect();
    let report = bench.run(&prompt(), "PreToolUse").await;
    let bill = &report.bills[0];
    assert_eq!((bill.model.as_str(), bill.usage.input_tokens), ("small", 40));
    assert_eq!((bill.usage.output_tokens, report.bills.len()), (9, 1));

    *bench.model.events.lock().unwrap() = vec![event(head)];
    let cut_off = bench.run(&prompt(), "PreToolUse").await;
    assert!(matches!(cut_off.end, HookEnd::Failed(_)), "{cut_off:?}");
    assert_eq!(cut_off.bills.len(), 1);
    bench.model.calls_first("Read", &json!({}));
    let agent = json!({"type": "agent", "prompt": "Fine?"});
    assert_eq!(bench.run(&agent, "PreToolUse").await.bills.len(), 1, "each answer is billed");
}
