//! Handlers that crash, hang, flood or print nonsense: a run always ends, with a report.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;
use tillerman_ports::{HookEnd, HookRunner as _};

use crate::bench::{Bench, PATIENCE, answer, failure};

/// Whether a process with this number is still there.
fn lives(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z ")
}

fn pids(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.split_whitespace().map(str::to_owned).collect()
}

#[tokio::test]
async fn a_command_that_hangs_is_ended_with_everything_it_started() {
    let mut bench = Bench::new();
    bench.timeout = Duration::from_millis(700);
    // One child in the group, one in a session of its own, one that does not want to go.
    let command = "trap '' TERM
        sleep 60 & echo $! >> pids
        setsid sh -c 'echo $$ >> pids; exec sleep 60' &
        (trap '' TERM; sleep 60; sleep 60) & echo $! >> pids
        sleep 60";
    let began = Instant::now();
    let report = bench.command(command, "PreToolUse").await;
    assert!(matches!(report.end, HookEnd::TimedOut), "{report:?}");
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    let pids = pids(&bench.path().join("pids"));
    assert_eq!(pids.len(), 3);
    let left: Vec<&String> = pids.iter().filter(|pid| lives(pid)).collect();
    assert!(left.is_empty(), "{left:?} of {pids:?} are left");
}

#[tokio::test]
async fn a_cancelled_command_ends_at_once() {
    let bench = Bench::new();
    let handler = json!({"type": "command", "command": "echo $$ > pid; exec sleep 60"});
    let cancel = bench.cancel.clone();
    let file = bench.path().join("pid");
    let ((), report) = tokio::join!(
        async {
            while pids(&file).is_empty() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            cancel.cancel();
        },
        bench.run(&handler, "PreToolUse")
    );
    assert!(matches!(report.end, HookEnd::Cancelled), "{report:?}");
    assert!(!lives(&pids(&file)[0]));
}

#[tokio::test]
async fn a_dropped_run_leaves_no_process_behind() {
    let bench = Bench::new();
    let handlers = json!({"type": "command", "command": "echo $$ > pid; sleep 60"});
    let file = bench.path().join("pid");
    let run = bench.run(&handlers, "PreToolUse");
    tokio::select! {
        report = run => panic!("{report:?}"),
        () = async {
            while pids(&file).is_empty() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        } => {}
    }
    assert!(!lives(&pids(&file)[0]));
}

#[tokio::test]
async fn a_flood_is_ended() {
    let bench = Bench::new();
    for command in ["yes", "cat /dev/zero", "head -c 100000000 /dev/zero >&2"] {
        let report = bench.command(command, "PreToolUse").await;
        assert!(failure(&report).contains("64 MiB"), "{command}: {:?}", report.end);
        assert!(report.printed.stdout.len() <= 30_000 && report.printed.stderr.len() <= 90_000);
    }
}

#[tokio::test]
async fn a_large_answer_is_read_whole() {
    let bench = Bench::new();
    let command = "printf '{\"reason\": \"'; head -c 2000000 /dev/zero | tr '\\0' x; echo '\"}'";
    let report = bench.command(command, "Stop").await;
    assert!(answer(&report).reason.as_ref().unwrap().contains("2000000 characters"));
}

#[tokio::test]
async fn bytes_that_are_no_text_do_no_harm() {
    let bench = Bench::new();
    let report = bench
        .command("printf '\\377'; head -c 5000 /dev/urandom; head -c 50 /dev/urandom >&2", "Stop")
        .await;
    assert_eq!(answer(&report), &Default::default());
}

#[tokio::test]
async fn a_command_need_not_listen() {
    let bench = Bench::new();
    for command in
        ["exec 0<&-; echo '{\"systemMessage\": \"hi\"}'", "echo '{\"systemMessage\": \"hi\"}'"]
    {
        let report = bench.command(command, "Stop").await;
        assert_eq!(answer(&report).system_message.as_deref(), Some("hi"));
    }
}

#[tokio::test]
async fn whoever_keeps_the_output_open_is_not_waited_for() {
    let bench = Bench::new();
    let began = Instant::now();
    let report = bench.command("sleep 5 & echo '{\"systemMessage\": \"hi\"}'", "Stop").await;
    assert_eq!(answer(&report).system_message.as_deref(), Some("hi"));
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_program_that_is_not_there_is_a_failure() {
    let bench = Bench::new();
    let handler = json!({"type": "command", "command": "no-such-program", "args": []});
    let report = bench.run(&handler, "PreToolUse").await;
    assert!(failure(&report).contains("no-such-program could not be started"), "{report:?}");
    let report = bench.command("no-such-program", "PreToolUse").await;
    assert!(failure(&report).contains("code 127"), "{report:?}");
}

#[tokio::test]
async fn progress_is_told_while_a_command_runs() {
    let bench = Bench::new();
    let command = "echo first; until [ -e go ]; do sleep 0.05; done";
    let handler = json!({"type": "command", "command": command});
    let mut job = bench.job(&handler, "PreToolUse");
    let go = bench.path().join("go");
    let (heard, mut news) = tokio::sync::mpsc::channel(8);
    job.progress = Some(Box::new(move |printed| {
        std::fs::write(&go, "").unwrap();
        drop(heard.try_send(printed));
    }));
    let run = bench.runner().run(job);
    let report = tokio::time::timeout(PATIENCE, run).await.unwrap();
    assert_eq!(report.exit_code, Some(0));
    assert_eq!(news.try_recv().unwrap().stdout, "first\n");
}
