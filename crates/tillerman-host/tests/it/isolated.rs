//! Sessions as processes: their last words, their ends, and what they leave behind.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;
use tillerman_host::{Launcher as _, OpenOrder, RunEnd, RunningSession, Subprocess};
use tokio::task::JoinSet;

use crate::harness::within;

const KEY: &str = "sk-ant-very-secret-0123456789";

/// A launcher whose sessions are this script.
fn launcher(root: &Path, script: &str) -> Subprocess {
    let program = root.join("session");
    std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).unwrap();
    Subprocess {
        program,
        environment: vec![
            ("PATH".into(), "/usr/bin:/bin".into()),
            ("ANTHROPIC_API_KEY".into(), KEY.into()),
        ],
        scratch: root.join("run"),
        run_as: None,
        probe_address: None,
    }
}

async fn start(script: &str) -> (TempDir, RunningSession, JoinSet<RunEnd>) {
    let root = tempfile::tempdir().unwrap();
    let order = OpenOrder {
        owner: None,
        cwd: root.path().to_owned(),
        arguments: Vec::new(),
        environment: [("DEPLOY_TOKEN".to_owned(), "token-of-the-client".to_owned())].into(),
    };
    let mut session = launcher(root.path(), script).open(order).await.unwrap();
    let mut work = JoinSet::new();
    work.spawn(std::mem::replace(&mut session.ended, Box::pin(std::future::pending())));
    (root, session, work)
}

async fn end(mut work: JoinSet<RunEnd>) -> RunEnd {
    within("the end of a session", work.join_next()).await.unwrap().unwrap()
}

#[tokio::test]
async fn a_session_that_refuses_to_start_ends_at_once_with_its_last_words() {
    let script = "echo \"no: $ANTHROPIC_API_KEY and $DEPLOY_TOKEN are wrong\" >&2\nexit 3";
    let (_root, session, work) = start(script).await;
    let started = Instant::now();
    let ended = end(work).await;
    assert!(started.elapsed() < Duration::from_secs(3), "{:?}", started.elapsed());
    assert_eq!((ended.exit_code, ended.is_orderly), (3, false));
    assert_eq!(ended.message, "no: [redacted] and [redacted] are wrong");
    drop(session);
}

#[tokio::test]
async fn a_signal_counts_as_shells_count_it() {
    let (_root, _session, work) = start("kill -9 $$").await;
    assert_eq!(end(work).await.exit_code, 137);
}

#[tokio::test]
async fn frames_go_both_ways_and_closing_the_input_ends_a_session() {
    let script = "while read -r line; do echo \"$line\"; done; echo '{\"last\":true}'";
    let (_root, mut session, work) = start(script).await;
    session.inbound.send(json!({"type": "user"})).await.unwrap();
    let heard = within("a frame", session.outbound.recv()).await;
    assert_eq!(heard, Some(json!({"type": "user"})));
    drop(session.inbound);
    assert_eq!(end(work).await.exit_code, 0);
    // What was said last is there when the session is over.
    assert_eq!(session.outbound.try_recv(), Ok(json!({"last": true})));
}

#[tokio::test]
async fn a_session_has_ended_although_what_it_started_holds_its_pipes() {
    let (_root, mut session, work) = start("sleep 4 &\necho bye >&2\nexit 1").await;
    let started = Instant::now();
    assert_eq!(end(work).await.message, "bye");
    assert!(started.elapsed() < Duration::from_secs(3), "{:?}", started.elapsed());
    assert_eq!(within("the end of frames", session.outbound.recv()).await, None::<Value>);
}

#[tokio::test]
async fn a_session_that_is_told_to_end_does_so_soon() {
    let (_root, session, work) = start("trap 'exit 0' TERM\nwhile :; do sleep 0.05; done").await;
    let told = Instant::now();
    session.stop.cancel();
    end(work).await;
    assert!(told.elapsed() < Duration::from_secs(3), "{:?}", told.elapsed());
}
