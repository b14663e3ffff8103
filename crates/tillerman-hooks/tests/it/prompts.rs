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
