//! No process outlives its call, however it tries.

use std::time::{Duration, Instant};

use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::bench::{Bench, is_alive, pid_in, text, until};

/// Starts a process that left its group, session and parent behind, and waits for it.
const ESCAPEE: &str = "(setsid sh -c 'echo $$ >escaped; exec sleep 300' >/dev/null 2>&1 &); \
                       until [ -s escaped ]; do sleep 0.01; done; ";

#[tokio::test]
async fn a_background_process_that_holds_the_output_does_not_hang_the_call() {
    let bench = Bench::new();
    let start = Instant::now();
    let output = bench.bash("sleep 300 & echo $! >pid; echo done").await.unwrap();
    assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
    assert!(text(&output).starts_with("done\n[Processes"), "{}", text(&output));
    assert!(!is_alive(pid_in(&bench.path("pid")).await));
}

#[tokio::test]
async fn a_process_that_escaped_ends_with_the_call() {
    let bench = Bench::new();
    let output = bench.bash(&format!("{ESCAPEE} echo done")).await.unwrap();
    assert!(text(&output).contains("left running were stopped"), "{}", text(&output));
    assert!(!is_alive(pid_in(&bench.path("escaped")).await));
}

#[tokio::test]
async fn cancelling_ends_the_whole_tree_soon() {
    let bench = Bench::new();
    let cancel = CancellationToken::new();
    let command = format!("{ESCAPEE} sleep 300 & echo $! >child; echo $$ >shell; sleep 300");
    let call = bench.call_until("Bash", json!({"command": command}), cancel.clone());
    let (failure, (pids, cancelled)) = tokio::join!(async { call.await.unwrap_err() }, async {
        let mut pids = Vec::new();
        for name in ["escaped", "child", "shell"] {
            pids.push(pid_in(&bench.path(name)).await);
        }
        assert!(pids.iter().all(|pid| is_alive(*pid)));
        cancel.cancel();
        (pids, Instant::now())
    });
    assert!(cancelled.elapsed() < Duration::from_secs(2), "{:?}", cancelled.elapsed());
    assert!(failure.message.contains("interrupted"), "{}", failure.message);
    assert_eq!(pids.iter().filter(|pid| is_alive(**pid)).count(), 0);
}

#[tokio::test]
async fn a_timeout_ends_even_what_ignores_requests() {
    let bench = Bench::new();
    let command = format!("{ESCAPEE} trap '' TERM; echo $$ >shell; while :; do sleep 0.05; done");
    let start = Instant::now();
    bench.failure("Bash", json!({"command": command, "timeout": 300})).await;
    assert!(start.elapsed() >= Duration::from_secs(2), "there is a grace");
    assert!(start.elapsed() < Duration::from_secs(6), "{:?}", start.elapsed());
    for name in ["escaped", "shell"] {
        assert!(!is_alive(pid_in(&bench.path(name)).await), "{name}");
    }
}

#[tokio::test]
async fn a_request_to_end_is_heard_before_the_kill() {
    let bench = Bench::new();
    let command =
        "sleep 0; trap 'echo cleaned up; exit' TERM; echo ready; while :; do sleep 0.02; done";
    let input = json!({"command": command, "timeout": 300});
    let message = bench.failure("Bash", input).await;
    assert!(message.contains("\nready\n") && message.ends_with("\ncleaned up"), "{message}");
}

#[tokio::test]
async fn dropping_the_call_leaves_no_process() {
    let bench = Bench::new();
    let command =
        format!("{ESCAPEE} trap '' TERM; sleep 300 & echo $! >child; echo $$ >shell; wait");
    let mut pids = Vec::new();
    tokio::select! {
        outcome = bench.bash(&command) => panic!("the command ended: {outcome:?}"),
        () = async {
            for name in ["escaped", "child", "shell"] {
                pids.push(pid_in(&bench.path(name)).await);
            }
        } => {}
    }
    assert_eq!(pids.len(), 3);
    until("the processes to go", || !pids.iter().any(|pid| is_alive(*pid))).await;
    let left = std::fs::read_dir(bench.root().join("scratch")).unwrap().count();
    assert_eq!(left, 0, "no file is left either");
}

#[tokio::test]
async fn a_call_inside_a_call_is_still_found_from_outside() {
    let bench = Bench::with(|config| {
        config.environment.push(("TILLERMAN_CALL".into(), "outer".into()));
    });
    let output = text(&bench.bash("echo $TILLERMAN_CALL").await.unwrap());
    assert!(output.starts_with("outer:"), "{output}");
}

#[tokio::test]
async fn a_cancelled_call_does_not_start() {
    let bench = Bench::new();
    let cancel = CancellationToken::new();
    cancel.cancel();
    let input = json!({"command": "touch started"});
    bench.call_until("Bash", input, cancel).await.unwrap_err();
    assert!(!bench.path("started").exists());
}

#[tokio::test]
async fn ordinary_commands_are_quick_and_leave_no_remark() {
    let bench = Bench::new();
    let start = Instant::now();
    for _ in 0..20 {
        let output = bench.bash("echo a | cat; (exit 0)").await.unwrap();
        assert_eq!(text(&output), "a");
    }
    assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());
}
