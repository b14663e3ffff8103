//! What whoever watches a session is told.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use tillerman_ports::{Observed, ObservedAgent, Observer};
use tillerman_protocol::model::{FailureKind, ModelEvent};
use tillerman_protocol::stream::StreamEvent;
use tillerman_protocol::{Moment, ToolUseId};

use crate::model::{calls, fails, says};
use crate::stage::{Play, SECRET, stage};
use crate::tools::{Conduct, TestTool, looking};

/// Writes down what it is told, a word each.
#[derive(Clone, Debug, Default)]
struct Notes(Arc<Mutex<Vec<String>>>);

impl Notes {
    fn read(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

impl Observer for Notes {
    fn note(&mut self, _: Moment, event: Observed<'_>) {
        let word = match event {
            Observed::RoundStarted => "round".to_owned(),
            Observed::ModelAsked { request, .. } => format!("asks {}", request.model),
            Observed::ModelReported { event, .. } => match event {
                ModelEvent::Stream(StreamEvent::MessageStop) => "answered".to_owned(),
                ModelEvent::Failed(_) => "failed".to_owned(),
                _ => return,
            },
            Observed::ModelCancelled { .. } => "gives up the answer".to_owned(),
            Observed::CallStarted { name, tool_use_id, .. } => format!("runs {name} {tool_use_id}"),
            Observed::CallEnded { outcome, .. } => {
                assert!(!format!("{outcome:?}").contains(SECRET), "an observer saw a credential");
                "ran".to_owned()
            }
            Observed::CallCancelled { .. } => "gives up the call".to_owned(),
            Observed::StartedOver { .. } => "starts over".to_owned(),
            Observed::RoundEnded { result } => format!("result {}", result.terminal_reason),
        };
        self.0.lock().unwrap().push(word);
    }

    fn below(&self, _: &ToolUseId, _: &ObservedAgent) -> Box<dyn Observer> {
        Box::new(self.clone())
    }
}

fn watched(scripts: Vec<crate::model::Script>, tool: &TestTool) -> (Play, Notes) {
    let notes = Notes::default();
    let mut stage = stage(scripts).tools([tool]);
    stage.setup.observer = Some(Box::new(notes.clone()));
    (stage.begin(), notes)
}

#[tokio::test(start_paused = true)]
async fn rounds_requests_and_calls_are_told_in_order() {
    let look = looking("Look", Conduct::Leak);
    let scripts = vec![
        fails(FailureKind::Overloaded, Some(529)),
        calls("Look", "toolu_1", &json!({})),
        says("Done."),
        says("Again."),
    ];
    let (mut play, notes) = watched(scripts, &look);
    play.say("Look").await;
    play.round().await;
    let mut told = notes.read();
    let runs = told.iter().position(|word| word == "runs Look toolu_1").unwrap();
    let ran = told.iter().position(|word| word == "ran").unwrap();
    assert!(runs < ran, "{told:?}");
    // A call may run before the rest of the response is there.
    told.retain(|word| word != "runs Look toolu_1" && word != "ran");
    let asks = "asks test-model";
    let first = ["round", asks, "failed", asks, "answered", asks, "answered", "result completed"];
    assert_eq!(told, first);
    play.say("Again").await;
    play.round().await;
    let told = notes.read().split_off(first.len() + 2);
    assert_eq!(told, ["round", asks, "answered", "result completed"]);
}

#[tokio::test(start_paused = true)]
async fn what_is_given_up_is_told_before_the_result() {
    let stubborn = looking("Look", Conduct::Hang);
    let scripts = vec![calls("Look", "toolu_1", &json!({})), says("Done.")];
    let (mut play, notes) = watched(scripts, &stubborn);
    play.say("Look").await;
    play.until("assistant").await;
    tokio::time::sleep(Duration::from_millis(1)).await;
    play.ask(json!({"subtype": "interrupt"})).await;
    play.round().await;
    let told = notes.read();
    assert_eq!(told[told.len() - 2..], ["gives up the call", "result aborted_tools"], "{told:?}");
}
