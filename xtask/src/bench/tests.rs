//! The benchmark's own arithmetic and the driving of processes, against small fakes.

use std::process::Command;
use std::time::Duration;

use serde_json::json;

use crate::bench::arena::official_in;
use crate::bench::measure::Round;
use crate::bench::memory;
use crate::bench::options::{Options, Purpose};
use crate::bench::report::{Results, Row, rows, table};
use crate::bench::session::Session;
use crate::bench::statistics::{median, p90};

#[test]
fn statistics_of_small_samples() {
    let ten: Vec<f64> = (1..=10).rev().map(f64::from).collect();
    for (samples, middle, high) in
        [(&[3.0][..], 3.0, 3.0), (&[1.0, 9.0, 2.0], 2.0, 9.0), (&ten, 5.5, 9.0)]
    {
        assert_eq!(median(samples).to_bits(), f64::to_bits(middle));
        assert_eq!(p90(samples).to_bits(), f64::to_bits(high));
    }
    assert!(median(&[]).is_nan() && p90(&[]).is_nan());
}

#[test]
fn options_are_read() {
    let parse = |text: &str| Options::parse(&text.split_whitespace().collect::<Vec<_>>());
    assert_eq!(parse("--smoke").unwrap(), Options::smoke());
    assert_eq!(parse("--smoke --runs 2").unwrap().runs, 2);
    let full = parse("--runs 7 --official some/claude").unwrap();
    assert_eq!((full.runs, full.purpose), (7, Purpose::Comparison));
    assert_eq!(full.official.unwrap().to_str(), Some("some/claude"));
    for wrong in ["--runs", "--runs 0", "--runs x", "--official", "--fast"] {
        assert!(parse(wrong).is_err(), "{wrong}");
    }
}

fn results(initialize: f64, memory: Option<f64>) -> Results {
    let round = Round { initialize, text_turn: 20.0, tool_turn: 1.0, memory };
    Results { rounds: vec![round; 3], binary: 12.5 }
}

#[test]
fn the_table_shows_budgets_and_ratios() {
    let rows = rows(Purpose::Comparison, &results(16.0, Some(9.0)), Some(&results(480.0, None)));
    let table = table(&rows);
    let lines: Vec<Vec<&str>> =
        table.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["median", "p90", "budget", "official", "p90", "ratio"]);
    let start = "spawn → initialize response (ms) 16.0 16.0 15.0 OVER 480.0 480.0 30.0×";
    assert_eq!(lines[1].join(" "), start);
    assert_eq!(lines[4].join(" "), "resident memory, one idle session (MB) 9.00 9.00 15.0 ok");
    assert_eq!(lines[5].join(" "), "binary (MB) 12.5 12.5 30.0 ok 12.5 12.5 1.0×");
    assert_eq!(rows.iter().filter(|row| row.is_over_budget()).count(), 1);
}

#[test]
fn a_smoke_run_forgives_slowness_but_not_size() {
    let over = |results: &Results| {
        rows(Purpose::Smoke, results, None).iter().filter(|row| Row::is_over_budget(row)).count()
    };
    assert_eq!(over(&results(44.0, Some(9.0))), 0);
    assert_eq!(over(&results(46.0, Some(16.0))), 2);
    assert_eq!(rows(Purpose::Smoke, &results(1.0, None), None).len(), 4);
}

#[test]
fn the_official_cli_is_found_where_a_package_has_brought_it() {
    let cache = tempfile::tempdir().unwrap();
    assert_eq!(official_in(cache.path()), None);
    let place = "tillerman-x/venv/lib/python3.12/site-packages/claude_agent_sdk/_bundled";
    let folder = cache.path().join(place);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("claude"), "").unwrap();
    assert_eq!(official_in(cache.path()), Some(folder.join("claude")));
    let set_aside = cache.path().join("tillerman-conformance/python-0123/official");
    std::fs::create_dir_all(&set_aside).unwrap();
    std::fs::write(set_aside.join("claude"), "").unwrap();
    assert_eq!(official_in(cache.path()), Some(set_aside.join("claude")));
}

fn fake(script: &str, check: impl FnOnce(Session)) {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new("sh");
    check(Session::start(command.args(["-c", script]), &folder.path().join("log")).unwrap());
}

#[test]
fn a_session_waits_for_the_frame_it_wants() {
    let script = r#"read line; echo noise; echo '{"type":"other"}'; echo "{\"type\":\"echo\",\"of\":$line}"; cat"#;
    fake(script, |mut session| {
        session.send(&json!({ "n": 1 })).unwrap();
        assert_eq!(session.frame("echo").unwrap()["of"], json!({ "n": 1 }));
        assert!(memory::resident(session.process()).unwrap() > 0);
        session.finish();
    });
}

#[test]
fn a_failed_turn_is_no_measurement() {
    let script =
        r#"echo '{"type":"result","subtype":"success","is_error":true}'; echo oh >&2; cat"#;
    fake(script, |session| {
        let error = session.result().unwrap_err().to_string();
        assert!(error.contains("the turn failed"), "{error}");
    });
}

#[test]
fn a_process_that_dies_is_quoted() {
    fake("echo no such flag >&2; exit 2", |session| {
        let error = session.frame("result").unwrap_err().to_string();
        assert_eq!(error, "the process ended before it answered; it said:\nno such flag");
    });
}

#[test]
fn a_session_leaves_no_process_behind() {
    fake("sleep 600 & echo $!; wait", |session| {
        let grandchild: u32 = session.line().unwrap().parse().unwrap();
        drop(session);
        // The group was told to end before the leader was waited for; the kernel needs a moment.
        let gone = (0..200).any(|_| {
            std::thread::sleep(Duration::from_millis(5));
            memory::resident(grandchild).is_none()
        });
        assert!(gone);
    });
}
