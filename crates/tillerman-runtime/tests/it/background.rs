//! Work that goes on after its call has ended.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tillerman_ports::{BackgroundTask, BoxFuture, TaskDesk, TaskNews, Tool, ToolCall};
use tillerman_protocol::content::Content;
use tillerman_protocol::task::{TaskEnd, TaskKind, TaskStatus};
use tillerman_protocol::tool::{Access, ToolOutcome, ToolOutput, ToolSpec};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::model::{Gate, calls, says};
use crate::stage::{Play, SECRET, kind, kinds, stage};

/// How a task goes on.
#[derive(Clone, Debug)]
enum Course {
    /// Until the gate opens, or somebody stops it.
    UntilOpened(Gate),
    /// Says these lines, one after the other, and then goes on until somebody stops it.
    Speaks(&'static [&'static str]),
    Crash,
    /// For ever, whatever anybody says.
    Stubborn,
}

#[derive(Debug)]
struct Leave(Course);

impl Tool for Leave {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "Leave".to_owned(),
            description: "Leaves work behind.".to_owned(),
            input_schema: json!({"type": "object"}),
            access: Access::ReadOnly,
        }
    }

    fn check(&self, _: &Value) -> Result<(), String> {
        Ok(())
    }

    fn call(&self, call: ToolCall) -> BoxFuture<ToolOutcome> {
        let cancel = CancellationToken::new();
        let work = work(self.0.clone(), cancel.clone(), Arc::clone(&call.tasks));
        Box::pin(async move {
            let task = BackgroundTask {
                id: "b1".into(),
                tool_use_id: call.tool_use_id,
                kind: TaskKind::LocalBash,
                description: "Run the tests".to_owned(),
                output_file: "/tmp/b1.output".to_owned(),
                cancel,
                work: Box::pin(work),
            };
            call.tasks.take(task).unwrap();
            Ok(ToolOutput::new(Content::Text("It runs.".to_owned()), None))
        })
    }
}

async fn work(course: Course, cancel: CancellationToken, desk: Arc<dyn TaskDesk>) -> TaskEnd {
    let end = |status, summary: &str| TaskEnd::new(status, summary);
    match course {
        Course::UntilOpened(gate) => tokio::select! {
            () = gate.pass() => end(TaskStatus::Completed, "All passed"),
            () = cancel.cancelled() => end(TaskStatus::Stopped, "Stopped"),
        },
        Course::Speaks(lines) => {
            for line in lines {
                // After whatever the session is at.
                tokio::time::sleep(Duration::from_secs(1)).await;
                desk.tell(TaskNews { task: "b1".into(), text: (*line).to_owned() }).await;
            }
            cancel.cancelled().await;
            end(TaskStatus::Stopped, "Stopped")
        }
        Course::Crash => panic!("the task was told to panic"),
        Course::Stubborn => std::future::pending().await,
    }
}

/// A session that has left a task behind and answered.
async fn left_behind(course: Course) -> (Play, Vec<Value>) {
    let scripts = [calls("Leave", "toolu_1", &json!({})), says("It runs."), says("I heard.")];
    let mut stage = stage(scripts);
    let tool = Leave(course);
    stage.setup.engine.tools = [tool.spec()].into();
    stage.setup.ports.tools = vec![Arc::new(tool)];
    let mut play = stage.begin();
    play.say("Go").await;
    let frames = play.round().await;
    (play, frames)
}

#[tokio::test(start_paused = true)]
async fn a_task_is_shown_and_the_model_hears_of_its_end() {
    let gate = Gate::closed();
    let (mut play, frames) = left_behind(Course::UntilOpened(gate.clone())).await;
    let shown = kinds(&frames);
    let place = |wanted: &str| shown.iter().position(|kind| kind == wanted).unwrap();
    assert!(place("system/task_started") < place("user"), "hosts hear of it before the result");
    assert_eq!(frames[place("system/task_started")]["tool_use_id"], "toolu_1");
    gate.open();
    let ended = play.until("system/task_notification").await;
    assert_eq!((&ended["status"], &ended["summary"]), (&json!("completed"), &json!("All passed")));
    assert_eq!(play.until("system/background_tasks_changed").await["tasks"], json!([]));
    assert_eq!(play.until("result/success").await["result"], "I heard.");
    assert!(play.model.heard().contains("All passed"));
}

#[tokio::test(start_paused = true)]
async fn a_task_is_stopped_on_request() {
    let (mut play, _) = left_behind(Course::UntilOpened(Gate::closed())).await;
    play.request("req_1", json!({"subtype": "stop_task", "task_id": "b1"})).await;
    let mut frames = Vec::new();
    loop {
        let frame = play.next().await.unwrap();
        let done = kind(&frame) == "control_response";
        frames.push(frame);
        if done {
            break;
        }
    }
    let expected = [
        "system/task_updated",
        "system/task_notification",
        "system/background_tasks_changed",
        "control_response",
    ];
    assert_eq!(kinds(&frames), expected, "the answer comes when it has ended");
    assert_eq!(frames[0]["patch"]["status"], "killed");
    assert_eq!(frames[1]["status"], "stopped");
    assert_eq!(play.model.requests().len(), 2, "the model need not hear of it");
}

#[tokio::test(start_paused = true)]
async fn a_task_that_panics_has_failed() {
    let (mut play, _) = left_behind(Course::Crash).await;
    assert_eq!(play.until("system/task_notification").await["status"], "failed");
    play.until("result/success").await;
    assert!(play.model.heard().contains("The task crashed"));
}

#[tokio::test(start_paused = true)]
async fn no_task_keeps_a_session_alive_for_ever() {
    let (play, _) = left_behind(Course::Stubborn).await;
    let began = Instant::now();
    let (_, end) = play.close().await;
    assert_eq!(end.storage_failure, None);
    assert!(began.elapsed() <= Duration::from_secs(20), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn what_a_task_says_is_shown_and_wakes_the_session() {
    let (mut play, _) = left_behind(Course::Speaks(&["one error"])).await;
    let shown = play.until("system/task_progress").await;
    assert_eq!((&shown["task_id"], &shown["summary"]), (&json!("b1"), &json!("one error")));
    assert_eq!(play.until("result/success").await["result"], "I heard.");
    let heard = play.model.heard();
    assert!(heard.contains("Run the tests") && heard.contains("> one error"), "{heard}");
    let (frames, _) = play.close().await;
    assert!(kinds(&frames).contains(&"system/task_notification".to_owned()), "it was still there");
}

#[tokio::test(start_paused = true)]
async fn nothing_secret_is_heard_from_a_task() {
    let (mut play, _) = left_behind(Course::Speaks(&["the key is", SECRET])).await;
    let mut shown = play.until("system/task_progress").await.to_string();
    shown.push_str(&play.until("system/task_progress").await.to_string());
    play.until("result/success").await;
    let (frames, _) = play.close().await;
    assert!(shown.contains("the key is") && shown.contains("[redacted]"), "{shown}");
    assert!(!shown.contains(SECRET) && !json!(frames).to_string().contains(SECRET), "{frames:?}");
}
