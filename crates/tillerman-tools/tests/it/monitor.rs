//! Commands that are watched: their lines are told as they come, until they end or have to.

use std::time::Duration;

use serde_json::{Value, json};
use tillerman_ports::BackgroundTask;
use tillerman_protocol::task::{TaskEnd, TaskKind, TaskStatus};
use tillerman_tools::{MonitorLimits, ToolLimits};
use tokio::task::JoinSet;

use crate::bench::{Bench, is_alive, pid_in, structured, text, until};

/// Lines are told quickly, and not many are too many.
fn bench() -> Bench {
    let monitor = MonitorLimits {
        batch: Duration::from_millis(20),
        pause: Duration::from_millis(40),
        burst: 20,
        patience: Duration::from_millis(300),
        ..MonitorLimits::default()
    };
    Bench::with_limits(ToolLimits { monitor, ..ToolLimits::default() })
}

async fn watch(bench: &Bench, input: Value) -> (Value, BackgroundTask) {
    let output = bench.call("Monitor", input).await.unwrap();
    (structured(&output), bench.desk.last())
}

/// Everything that was told of a command, whether before its end or with it.
fn heard(bench: &Bench, end: &TaskEnd) -> String {
    let mut told = bench.desk.told();
    let last = end.report.as_ref().map(|report| report.text.replace("\n> ", "\n"));
    told.extend(
        last.as_deref().and_then(|text| text.strip_prefix("It said last:\n")).map(str::to_owned),
    );
    told.join("\n")
}

fn command(command: &str) -> Value {
    json!({"command": command, "description": "the log"})
}

#[tokio::test]
async fn lines_are_told_as_they_come_and_the_end_is_told() {
    let bench = bench();
    let script = "echo one; echo two >&2; until [ -e go ]; do sleep 0.01; done; printf three";
    let output = bench.call("Monitor", command(script)).await.unwrap();
    let task = bench.desk.last();
    let expected = json!({
        "taskId": task.id, "timeoutMs": 300_000, "persistent": false, "description": "the log",
        "outputFile": task.output_file,
    });
    assert_eq!(structured(&output), expected);
    assert!(text(&output).contains(task.id.as_str()), "{}", text(&output));
    assert_eq!((task.kind, task.description.as_str()), (TaskKind::Watch, "the log"));
    let mut tasks = JoinSet::new();
    let file = task.output_file.clone();
    tasks.spawn(task.work);
    until("two lines", || bench.desk.told().join("\n") == "one\ntwo").await;
    bench.file("go", "");
    let end: TaskEnd = tasks.join_next().await.unwrap().unwrap();
    assert_eq!(heard(&bench, &end), "one\ntwo\nthree");
    assert_eq!(end.status, TaskStatus::Completed);
    assert!(end.summary.contains("the log") && end.summary.contains("exit code 0"));
    assert_eq!(std::fs::read_to_string(file).unwrap(), "one\ntwo\nthree");
}

#[tokio::test]
async fn a_failure_is_told_with_its_exit_code() {
    let bench = bench();
    let (_, task) = watch(&bench, command("echo no; exit 3")).await;
    let end = task.work.await;
    assert_eq!((heard(&bench, &end).as_str(), end.status), ("no", TaskStatus::Failed));
    assert!(end.summary.contains("Exit code 3"), "{}", end.summary);
}

#[tokio::test]
async fn the_deadline_ends_a_watch_with_everything_it_started() {
    let bench = bench();
    let mut input = command("echo $$ >pid; sleep 300 & echo here; wait");
    input["timeout_ms"] = json!(400);
    let (_, task) = watch(&bench, input).await;
    let end = task.work.await;
    assert_eq!(bench.desk.told(), ["here"]);
    assert_eq!(end.status, TaskStatus::Completed);
    assert!(end.summary.contains("deadline of 400 ms"), "{}", end.summary);
    assert!(!is_alive(pid_in(&bench.path("pid")).await));
}

#[tokio::test]
async fn a_watch_that_lasts_is_not_waited_for_and_is_stopped() {
    let bench = bench();
    let mut input = command("echo $$ >pid; while sleep 0.01; do :; done");
    input["persistent"] = json!(true);
    input["timeout_ms"] = json!(1);
    let (shown, task) = watch(&bench, input).await;
    assert_eq!((&shown["persistent"], &shown["timeoutMs"]), (&json!(true), &json!(0)));
    assert_eq!(task.kind, TaskKind::LocalBash);
    let id = task.id.clone();
    let mut tasks = JoinSet::new();
    tasks.spawn(task.work);
    let pid = pid_in(&bench.path("pid")).await;
    bench.call("TaskStop", json!({"task_id": id})).await.unwrap();
    let end = tasks.join_next().await.unwrap().unwrap();
    assert_eq!(end.status, TaskStatus::Stopped);
    assert!(!is_alive(pid));
}

#[tokio::test]
async fn a_flood_is_stopped_and_the_reason_given() {
    let bench = bench();
    let (_, task) = watch(&bench, command("while true; do echo again; sleep 0.001; done")).await;
    let end = task.work.await;
    assert_eq!(end.status, TaskStatus::Failed);
    assert!(end.summary.contains("more than can be told"), "{}", end.summary);
    let told = heard(&bench, &end);
    assert!(told.contains("left out here") && told.lines().count() < 200, "{told}");
}

#[tokio::test]
async fn many_lines_at_once_are_no_flood() {
    let bench = bench();
    let (_, task) = watch(&bench, command("seq 500")).await;
    let end = task.work.await;
    assert_eq!(end.status, TaskStatus::Completed, "{}", end.summary);
    let told = heard(&bench, &end);
    assert!(told.starts_with("1\n2\n") && told.contains("left out here"), "{told}");
}

#[tokio::test]
async fn a_task_that_runs_already_is_watched_from_now_on() {
    let bench = bench();
    let script = "echo before; until [ -e go ]; do sleep 0.01; done; echo after";
    let input = json!({"command": script, "run_in_background": true});
    bench.call("Bash", input).await.unwrap();
    let running = bench.desk.last();
    let (id, file) = (running.id.clone(), running.output_file.clone());
    let mut tasks = JoinSet::new();
    tasks.spawn(running.work);
    until("output", || std::fs::read_to_string(&file).unwrap() == "before\n").await;
    let input = json!({"task_id": id, "description": "the build"});
    let (_, task) = watch(&bench, input.clone()).await;
    assert_ne!(task.id, id);
    tasks.spawn(task.work);
    bench.file("go", "");
    let mut ends = tasks.join_all().await;
    ends.retain(|end| end.summary.starts_with("The monitor"));
    assert_eq!(heard(&bench, &ends[0]), "after");
    assert!(ends[0].summary.contains("What it watched is over"), "{ends:?}");
    let late = bench.failure("Monitor", input).await;
    assert!(late.contains("already ended"), "{late}");
}

#[tokio::test]
async fn stopping_a_watch_leaves_the_task_alone() {
    let bench = bench();
    let input = json!({"command": "echo $$ >pid; exec sleep 300", "run_in_background": true});
    bench.call("Bash", input).await.unwrap();
    let running = bench.desk.last();
    let id = running.id.clone();
    let mut tasks = JoinSet::new();
    tasks.spawn(running.work);
    let pid = pid_in(&bench.path("pid")).await;
    let (_, task) = watch(&bench, json!({"task_id": id, "description": "it"})).await;
    let watching = task.id.clone();
    tasks.spawn(task.work);
    bench.call("TaskStop", json!({"task_id": watching})).await.unwrap();
    assert_eq!(tasks.join_next().await.unwrap().unwrap().status, TaskStatus::Stopped);
    assert!(is_alive(pid));
    bench.call("TaskStop", json!({"task_id": id})).await.unwrap();
}

#[tokio::test]
async fn inputs_that_make_no_sense_are_refused() {
    let bench = bench();
    let tool = bench.tool("Monitor");
    let cases = [
        (json!({"description": "x"}), "command is required"),
        (json!({"command": "a", "task_id": "b"}), "either command or task_id"),
        (json!({"command": " "}), "command is empty"),
        (json!({"command": "a", "timeout_ms": "soon"}), "timeout_ms"),
        (json!({"command": ["a"]}), "command"),
    ];
    for (input, expected) in cases {
        let why = tool.check(&input).unwrap_err();
        assert!(why.contains(expected), "{why}");
    }
    let unknown = bench.failure("Monitor", json!({"task_id": "b9", "description": "x"})).await;
    assert!(unknown.contains("There is no task b9"), "{unknown}");
    assert!(bench.desk.is_empty());
    let full = Bench::without_room();
    let refused = full.failure("Monitor", command("echo >made")).await;
    assert!(refused.starts_with("Nothing is watched"), "{refused}");
    assert!(!full.path("made").exists());
}
