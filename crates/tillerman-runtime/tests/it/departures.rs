//! Calls whose work goes on in the background, and what hosts see of it there.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};
use tillerman_ports::{BackgroundTask, BoxFuture, Tool, ToolCall};
use tillerman_protocol::content::Content;
use tillerman_protocol::task::{TaskEnd, TaskKind, TaskStatus};
use tillerman_protocol::tool::{Access, ToolOutcome, ToolOutput, ToolSpec};
use tokio_util::sync::CancellationToken;

use crate::agent_stage::{helper, sends_helper, with_agents};
use crate::model::{Gate, calls, says};
use crate::stage::{SECRET, Stage, kind, stage};

/// A tool whose work goes on until the gate opens: in the background once it is let go, or from
/// the start.
#[derive(Clone, Debug)]
struct Patient {
    gate: Gate,
    leaves_at_once: bool,
    output_file: PathBuf,
}

impl Patient {
    fn new(gate: &Gate) -> Self {
        Self {
            gate: gate.clone(),
            leaves_at_once: false,
            output_file: PathBuf::from("/nowhere/b1"),
        }
    }

    fn join(self, mut stage: Stage) -> Stage {
        let mut specs = stage.setup.engine.tools.to_vec();
        specs.push(self.spec());
        stage.setup.engine.tools = specs.into();
        stage.setup.ports.tools.push(Arc::new(self));
        stage
    }
}

impl Tool for Patient {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "Patient".to_owned(),
            description: "Takes its time.".to_owned(),
            input_schema: json!({"type": "object"}),
            access: Access::ReadOnly,
        }
    }

    fn check(&self, _: &Value) -> Result<(), String> {
        Ok(())
    }

    fn call(&self, call: ToolCall) -> BoxFuture<ToolOutcome> {
        let Self { gate, leaves_at_once, output_file } = self.clone();
        Box::pin(async move {
            if !leaves_at_once {
                call.tasks.let_go().unwrap().cancelled().await;
            }
            let cancel = CancellationToken::new();
            let stopped = cancel.clone();
            let work = async move {
                tokio::select! {
                    () = gate.pass() => TaskEnd::new(TaskStatus::Completed, "Built"),
                    () = stopped.cancelled() => TaskEnd::new(TaskStatus::Stopped, "Stopped"),
                }
            };
            let task = BackgroundTask {
                id: "b1".into(),
                tool_use_id: call.tool_use_id,
                kind: TaskKind::LocalBash,
                description: "Build it".to_owned(),
                output_file: output_file.display().to_string(),
                cancel,
                work: Box::pin(work),
            };
            call.tasks.take(task).unwrap();
            Ok(ToolOutput::new(Content::Text("It goes on.".to_owned()), None))
        })
    }
}

#[tokio::test(start_paused = true)]
async fn a_command_that_is_waited_for_can_be_moved_to_the_background() {
    let gate = Gate::closed();
    let scripts = [calls("Patient", "toolu_1", &json!({})), says("I go on."), says("It is built.")];
    let mut play = Patient::new(&gate).join(stage(scripts)).begin();
    play.say("Go").await;
    play.until("assistant").await;
    assert!(play.is_silent_for(60).await, "the call waits");
    let other = json!({"subtype": "background_tasks", "tool_use_id": "toolu_9"});
    assert_eq!(play.ask(other).await["response"]["backgrounded"], false);
    play.request("req_2", json!({"subtype": "background_tasks"})).await;
    let started = play.until("system/task_started").await;
    assert_eq!((&started["task_id"], &started["is_backgrounded"]), (&json!("b1"), &json!(true)));
    assert_eq!(started["tool_use_id"], "toolu_1");
    let answer = play.until("control_response").await;
    assert_eq!(answer["response"]["response"]["task_ids"], json!(["b1"]));
    assert_eq!(play.until("result/success").await["result"], "I go on.");
    gate.open();
    assert_eq!(play.until("system/task_notification").await["status"], "completed");
    assert_eq!(play.until("result/success").await["result"], "It is built.");
}

#[tokio::test(start_paused = true)]
async fn hosts_read_the_end_of_what_a_command_prints() {
    let output_file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("departures-b1.output");
    let printed = format!("{}\nKEY={SECRET}\nlast line\n", "x".repeat(20_000));
    std::fs::write(&output_file, &printed).unwrap();
    let tool = Patient { leaves_at_once: true, output_file, ..Patient::new(&Gate::closed()) };
    let scripts = [calls("Patient", "toolu_1", &json!({})), says("It runs.")];
    let mut play = tool.join(stage(scripts)).begin();
    play.say("Go").await;
    play.round().await;
    let request = |task: &str| json!({"subtype": "get_task_output", "task_id": task});
    let answer = play.ask(request("b1")).await;
    let shown = &answer["response"];
    let output = shown["output"].as_str().unwrap();
    assert!(output.ends_with("KEY=[redacted]\nlast line\n"), "{output}");
    assert_eq!(output.len(), 8 * 1024);
    assert_eq!((&shown["total_bytes"], &shown["truncated"]), (&json!(printed.len()), &json!(true)));
    let refused = play.ask(request("b2")).await;
    assert_eq!(refused["subtype"], "error");
    assert!(refused["error"].as_str().unwrap().contains("no command b2"), "{refused}");
}

#[tokio::test(start_paused = true)]
async fn what_agents_leave_behind_is_on_the_list_too() {
    let gate = Gate::closed();
    let tool = Patient { leaves_at_once: true, ..Patient::new(&gate) };
    let (stage, shelves) = with_agents(
        [
            sends_helper("toolu_1", "build it", &json!({"run_in_background": true})),
            calls("Patient", "toolu_2", &json!({})).by_helper(),
            says("Sent."),
            says("It builds.").by_helper(),
        ],
        [],
        vec![helper()],
    );
    let mut play = tool.join(stage).begin();
    play.say("Go").await;
    let mut lists = Vec::new();
    while lists.last() != Some(&json!([])) {
        let frame = play.next().await.unwrap();
        if kind(&frame) == "system/background_tasks_changed" {
            lists.push(frame["tasks"].clone());
        }
    }
    let agent = json!(shelves.ids()[0]);
    let named = |list: &Value| -> Vec<Value> {
        list.as_array().unwrap().iter().map(|task| task["task_id"].clone()).collect()
    };
    assert!(lists.iter().any(|list| named(list) == [agent.clone(), json!("b1")]), "{lists:?}");
    let all = lists.iter().flat_map(|list| list.as_array().unwrap());
    let mut nested = all.filter(|task| task["task_id"] == "b1");
    assert!(nested.all(|task| task["parent_task_id"] == agent), "{lists:?}");
}
