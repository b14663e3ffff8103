//! Commands that go on after their call has ended.

use std::time::Duration;

use serde_json::{Value, json};
use tillerman_ports::BackgroundTask;
use tillerman_protocol::task::{TaskEnd, TaskKind, TaskStatus};
use tillerman_tools::ToolLimits;
use tokio::task::JoinSet;

use crate::bench::{Bench, is_alive, pid_in, structured, text, until};

/// Starts a command in the background and takes it over from the desk.
async fn start(bench: &Bench, command: &str) -> (Value, BackgroundTask) {
    let input = json!({"command": command, "run_in_background": true});
    let output = bench.call("Bash", input).await.unwrap();
    (structured(&output), bench.desk.last())
}

#[tokio::test]
async fn the_call_returns_at_once_and_the_task_tells_its_end() {
    let bench = Bench::new();
    let input = json!({
        "command": "echo out; echo err >&2; echo done >made", "run_in_background": true,
        "description": "Make it",
    });
    let output = bench.call("Bash", input).await.unwrap();
    let task = bench.desk.last();
    let id = task.id.as_str();
    assert!(id.len() == 9 && id.starts_with('b'), "{id}");
    let expected = json!({
        "stdout": "", "stderr": "", "interrupted": false, "isImage": false,
        "noOutputExpected": false, "backgroundTaskId": id,
    });
    assert_eq!(structured(&output), expected);
    let told = text(&output);
    assert!(told.contains(id) && told.contains(&task.output_file), "{told}");
    assert_eq!((task.kind, task.description.as_str()), (TaskKind::LocalBash, "Make it"));
    assert_eq!(task.tool_use_id.as_str(), "toolu_test");
    assert!(!bench.path("made").exists(), "nothing happens before the session takes it up");

    let end = task.work.await;
    assert_eq!(end.status, TaskStatus::Completed);
    assert!(end.summary.contains("Make it") && end.summary.contains("exit code 0"));
    assert_eq!(bench.content("made"), "done\n");
    assert_eq!(std::fs::read_to_string(&task.output_file).unwrap(), "out\nerr\n");
}

#[tokio::test]
async fn failures_and_their_exit_codes_are_told() {
    let bench = Bench::new();
    let (_, task) = start(&bench, "echo before; exit 3").await;
    assert_eq!(task.description, "echo before; exit 3");
    let id = task.id.clone();
    let end = task.work.await;
    assert_eq!(end.status, TaskStatus::Failed);
    assert!(end.summary.contains("Exit code 3"), "{}", end.summary);
    let output = bench.call("TaskOutput", json!({"task_id": id})).await.unwrap();
    let shown = structured(&output);
    assert_eq!(shown["retrieval_status"], "success");
    assert_eq!(shown["task"]["status"], "failed");
    assert_eq!(shown["task"]["exitCode"], 3);
    assert_eq!(shown["task"]["output"], "before");
}

#[tokio::test]
async fn stopping_ends_everything_the_command_started() {
    let bench = Bench::new();
    let (_, task) = start(
        &bench,
        "(setsid sh -c 'echo $$ >escaped; exec sleep 300' >/dev/null 2>&1 &); \
         sleep 300 & echo $! >child; echo $$ >shell; wait",
    )
    .await;
    let id = task.id.clone();
    let mut tasks = JoinSet::new();
    tasks.spawn(task.work);
    let mut pids = Vec::new();
    for name in ["escaped", "child", "shell"] {
        pids.push(pid_in(&bench.path(name)).await);
    }
    let output = bench.call("TaskStop", json!({"task_id": id})).await.unwrap();
    assert_eq!(structured(&output)["task_id"], id.as_str());
    assert_eq!(structured(&output)["task_type"], "local_bash");
    let end = tasks.join_next().await.unwrap().unwrap();
    assert_eq!(end.status, TaskStatus::Stopped);
    assert!(!pids.iter().any(|pid| is_alive(*pid)));
    let again = bench.failure("TaskStop", json!({"task_id": id})).await;
    assert!(again.contains("already ended"), "{again}");
}

#[tokio::test]
async fn output_can_be_watched_while_the_command_runs() {
    let bench = Bench::new();
    let (_, task) =
        start(&bench, "echo first; until [ -e go ]; do sleep 0.01; done; echo last").await;
    let id = task.id.clone();
    let mut tasks: JoinSet<TaskEnd> = JoinSet::new();
    tasks.spawn(task.work);
    let file = task.output_file.clone();
    until("output", || std::fs::read_to_string(&file).unwrap() == "first\n").await;
    let look = json!({"task_id": id, "block": false});
    let output = bench.call("TaskOutput", look).await.unwrap();
    assert_eq!(text(&output), format!("Task {id} is still running.\nfirst"));
    assert_eq!(structured(&output)["retrieval_status"], "not_ready");
    let brief = json!({"task_id": id, "timeout": 20});
    let output = bench.call("TaskOutput", brief).await.unwrap();
    assert_eq!(structured(&output)["retrieval_status"], "timeout");
    assert_eq!(structured(&output)["task"]["status"], "running");
    let waiting = bench.call("TaskOutput", json!({"task_id": id}));
    bench.file("go", "");
    let output = waiting.await.unwrap();
    assert!(text(&output).ends_with("first\nlast"), "{}", text(&output));
    tasks.join_next().await.unwrap().unwrap();
}

#[tokio::test]
async fn a_dropped_task_leaves_no_process_and_counts_as_stopped() {
    let bench = Bench::new();
    let (_, task) = start(&bench, "echo $$ >shell; sleep 300").await;
    let mut tasks = JoinSet::new();
    tasks.spawn(task.work);
    let pid = pid_in(&bench.path("shell")).await;
    tasks.shutdown().await;
    until("the process to go", || !is_alive(pid)).await;
    let output = bench.call("TaskOutput", json!({"task_id": task.id})).await.unwrap();
    assert_eq!(structured(&output)["task"]["status"], "stopped");
}

#[tokio::test]
async fn limits_hold_in_the_background_too() {
    let brief = Duration::from_millis(200);
    let limits = ToolLimits {
        max_background_timeout: brief,
        output_bytes: 100_000,
        ..ToolLimits::default()
    };
    let bench = Bench::with_limits(limits);
    let (_, task) = start(&bench, "sleep 300").await;
    let end = task.work.await;
    assert_eq!(end.status, TaskStatus::Failed);
    assert!(end.summary.contains("did not end within 200 ms"), "{}", end.summary);
    let bench = Bench::with_limits(ToolLimits { output_bytes: 100_000, ..ToolLimits::default() });
    let (_, task) = start(&bench, "yes").await;
    let end = task.work.await;
    assert!(end.summary.contains("wrote too much"), "{}", end.summary);
    let size = std::fs::metadata(&task.output_file).unwrap().len();
    assert!(size < 400_000, "{size}");
}

#[tokio::test]
async fn long_output_is_shown_by_its_end() {
    let bench = Bench::with_limits(ToolLimits { inline_chars: 10, ..ToolLimits::default() });
    let (_, task) = start(&bench, "seq 1 100").await;
    task.work.await;
    let output = bench.call("TaskOutput", json!({"task_id": task.id})).await.unwrap();
    assert!(text(&output).ends_with("\n98\n99\n100"), "{}", text(&output));
    assert!(text(&output).contains(&task.output_file));
}

#[tokio::test]
async fn refused_and_unknown_tasks_are_explained() {
    let bench = Bench::without_room();
    let input = json!({"command": "touch made", "run_in_background": true});
    let refusal = bench.failure("Bash", input).await;
    assert!(refusal.contains("was not run") && bench.desk.is_empty(), "{refusal}");
    let left = std::fs::read_dir(bench.root().join("scratch/tasks")).unwrap().count();
    assert_eq!(left, 0);
    let refusal = bench.failure("TaskOutput", json!({"task_id": "b0"})).await;
    assert!(refusal.contains("no task b0"), "{refusal}");
}
