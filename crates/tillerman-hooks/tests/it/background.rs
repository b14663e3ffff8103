//! Commands that nobody waits for.

use std::time::{Duration, Instant};

use serde_json::json;
use tillerman_ports::{HookEnd, HookReport};

use crate::bench::{Bench, PATIENCE, answer, context};

/// The rest of a run that went into the background.
async fn rest(report: HookReport) -> HookReport {
    let HookEnd::Detached(rest) = report.end else { panic!("{report:?}") };
    tokio::time::timeout(PATIENCE, rest).await.expect("it goes on")
}

#[tokio::test]
async fn an_async_command_is_not_waited_for() {
    let bench = Bench::new();
    let command = "until [ -e go ]; do sleep 0.02; done; echo '{\"systemMessage\": \"built\"}'";
    let handler = json!({"type": "command", "command": command, "async": true});
    let report = bench.run(&handler, "PostToolUse").await;
    std::fs::write(bench.path().join("go"), "").unwrap();
    let report = rest(report).await;
    assert_eq!(answer(&report).system_message.as_deref(), Some("built"));
}

#[tokio::test]
async fn a_first_line_can_send_a_command_into_the_background() {
    let bench = Bench::new();
    let command = "echo '{\"async\": true, \"asyncTimeout\": 20}'
        until [ -e go ]; do sleep 0.02; done
        echo '{\"hookSpecificOutput\": {\"additionalContext\": \"later\"}}'";
    let report = bench.command(command, "PostToolUse").await;
    std::fs::write(bench.path().join("go"), "").unwrap();
    let report = rest(report).await;
    assert_eq!(context(&report), Some("later"));
}

#[tokio::test]
async fn its_own_time_limit_ends_it() {
    let bench = Bench::new();
    let began = Instant::now();
    let command = "echo '{\"async\": true, \"asyncTimeout\": 0.3}'; sleep 60";
    let report = rest(bench.command(command, "PostToolUse").await).await;
    assert!(matches!(report.end, HookEnd::TimedOut), "{report:?}");
    assert!(began.elapsed() < Duration::from_secs(10));
}

#[tokio::test]
async fn a_command_that_may_wake_the_model_does_so_with_exit_code_2_at_any_event() {
    let bench = Bench::new();
    for event in ["PostToolUse", "Notification", "SessionStart"] {
        let command = "echo 'the build broke' >&2; exit 2";
        let handler = json!({"type": "command", "command": command, "asyncRewake": true});
        let report = rest(bench.run(&handler, event).await).await;
        assert_eq!(answer(&report).decision.as_deref(), Some("block"), "{event}");
        assert_eq!(answer(&report).reason.as_deref(), Some("the build broke"), "{event}");
    }
}
