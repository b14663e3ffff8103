//! Commands that leave the foreground while they run.

use serde_json::json;
use tillerman_protocol::task::TaskStatus;
use tillerman_tools::ToolLimits;
use tokio::task::JoinSet;

use crate::bench::{Bench, is_alive, pid_in, structured, text, until};

/// Says something, waits for a file and says something else.
const PATIENT: &str = "echo first; until [ -e go ]; do sleep 0.01; done; echo last";

#[tokio::test]
async fn a_command_whose_time_is_over_goes_on_in_the_background() {
    let bench = Bench::new();
    let output = bench.call("Bash", json!({"command": PATIENT, "timeout": 200})).await.unwrap();
    let task = bench.desk.last();
    let shown = structured(&output);
    assert_eq!(shown["backgroundTaskId"], task.id.as_str());
    assert_eq!(shown["timedOutAfterMs"], 200);
    assert!(text(&output).contains("did not end within 200 ms"), "{}", text(&output));
    assert_eq!(task.tool_use_id.as_str(), "toolu_test");
    let mut tasks = JoinSet::new();
    tasks.spawn(task.work);
    let file = task.output_file.clone();
    until("the output so far", || std::fs::read_to_string(&file).unwrap() == "first\n").await;
    bench.file("go", "");
    let end = tasks.join_next().await.unwrap().unwrap();
    assert_eq!(end.status, TaskStatus::Completed, "{}", end.summary);
    assert_eq!(std::fs::read_to_string(&task.output_file).unwrap(), "first\nlast\n");
    let seen = bench.call("TaskOutput", json!({"task_id": task.id})).await.unwrap();
    assert_eq!(structured(&seen)["task"]["exitCode"], 0);
}

#[tokio::test]
async fn a_command_is_let_go_on_request_and_can_be_stopped_later() {
    let bench = Bench::new();
    let command = "echo $$ >shell; seq 1 30000; sleep 300";
    let input = json!({"command": command, "description": "Count"});
    let (output, pid) = tokio::join!(bench.call("Bash", input), async {
        let pid = pid_in(&bench.path("shell")).await;
        bench.desk.let_go.cancel();
        pid
    });
    let task = bench.desk.last();
    assert_eq!(structured(&output.unwrap())["backgroundedByUser"], true);
    assert_eq!(task.description, "Count");
    assert!(is_alive(pid), "it goes on");
    let mut tasks = JoinSet::new();
    tasks.spawn(task.work);
    let file = task.output_file.clone();
    let whole = || std::fs::read_to_string(&file).unwrap().ends_with("\n30000\n");
    until("all output, also what was in memory", whole).await;
    assert!(std::fs::read_to_string(&file).unwrap().starts_with("1\n2\n"));
    bench.call("TaskStop", json!({"task_id": task.id})).await.unwrap();
    let end = tasks.join_next().await.unwrap().unwrap();
    assert_eq!(end.status, TaskStatus::Stopped);
    assert!(!is_alive(pid));
}

#[tokio::test]
async fn long_output_moves_to_the_file_of_the_task() {
    let bench = Bench::with_limits(ToolLimits { inline_chars: 100, ..ToolLimits::default() });
    let command = "seq 1 50000; echo ready >there; until [ -e go ]; do sleep 0.01; done";
    let (output, ()) = tokio::join!(bench.call("Bash", json!({"command": command})), async {
        until("the output", || bench.path("there").exists()).await;
        bench.desk.let_go.cancel();
    });
    output.unwrap();
    bench.file("go", "");
    let task = bench.desk.last();
    task.work.await;
    let whole = std::fs::read_to_string(&task.output_file).unwrap();
    assert!(whole.starts_with("1\n2\n") && whole.ends_with("\n50000\n"), "{}", whole.len());
    assert_eq!(whole.lines().count(), 50_000);
}

#[tokio::test]
async fn a_command_that_nobody_takes_over_is_stopped() {
    let bench = Bench::without_room();
    let input = json!({"command": "echo $$ >shell; tail -f /dev/null", "timeout": 300});
    let failure = bench.failure("Bash", input).await;
    assert!(failure.contains("was stopped"), "{failure}");
    let pid = pid_in(&bench.path("shell")).await;
    until("the process to go", || !is_alive(pid)).await;
}
