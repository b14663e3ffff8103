//! Files are found by content.

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::bench::{Bench, structured, text};

async fn grep(bench: &Bench, input: Value) -> (String, Value) {
    let output = bench.call("Grep", input).await.unwrap();
    (text(&output), structured(&output))
}

fn sample() -> Bench {
    let bench = Bench::new();
    bench.file("a.py", "one\nneedle here\nthree\nfour\nfive\nsix\nNEEDLE again\n");
    bench.file("sub/b.rs", "// needle and needle\n");
    bench.file("c.txt", "nothing\n");
    bench.file(".hidden", "needle\n");
    bench.file("ignored.py", "needle\n");
    bench.file(".gitignore", "ignored.py\n");
    bench.file(".git/needle", "needle\n");
    bench.file("data.bin", b"needle\0needle\n");
    bench
}

#[tokio::test]
async fn files_that_match_are_listed() {
    let bench = sample();
    let (_, found) = grep(&bench, json!({"pattern": "need.e"})).await;
    let mut names: Vec<&str> =
        found["filenames"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, [".hidden", "a.py", "sub/b.rs"], "no ignored, binary or git files");
    assert_eq!((&found["mode"], &found["numFiles"]), (&json!("files_with_matches"), &json!(3)));
    let (told, found) = grep(&bench, json!({"pattern": "absent-thing"})).await;
    assert_eq!((told.as_str(), &found["numFiles"]), ("Nothing matches.", &json!(0)));
}

#[tokio::test]
async fn lines_are_shown_with_numbers_and_context() {
    let bench = sample();
    let content = |more: Value| {
        let mut input = json!({"pattern": "needle", "output_mode": "content", "path": "a.py"});
        input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        input
    };
    let (told, found) = grep(&bench, content(json!({}))).await;
    assert_eq!(told, "a.py:2:needle here");
    assert_eq!((&found["numLines"], &found["content"]), (&json!(1), &json!("a.py:2:needle here")));
    let (told, _) = grep(&bench, content(json!({"-n": false}))).await;
    assert_eq!(told, "a.py:needle here");
    let (told, _) = grep(&bench, content(json!({"-i": true, "-C": 1}))).await;
    assert_eq!(
        told,
        "a.py-1-one\na.py:2:needle here\na.py-3-three\n--\na.py-6-six\na.py:7:NEEDLE again"
    );
    let (told, _) = grep(&bench, content(json!({"-B": 1, "-A": 0}))).await;
    assert_eq!(told, "a.py-1-one\na.py:2:needle here");
    let only = json!({"pattern": "n[a-z]+e", "output_mode": "content", "path": "sub", "-o": true});
    assert_eq!(grep(&bench, only).await.0, "sub/b.rs:1:needle\nsub/b.rs:1:needle");
}

#[tokio::test]
async fn patterns_may_span_lines_when_asked_to() {
    let bench = sample();
    let across = json!({"pattern": "here.*?four", "multiline": true, "output_mode": "content"});
    assert_eq!(grep(&bench, across).await.0, "a.py:2:needle here\na.py:3:three\na.py:4:four");
    let refusal = bench.failure("Grep", json!({"pattern": "here\\nthree"})).await;
    assert!(refusal.contains("multiline"), "{refusal}");
}

#[tokio::test]
async fn globs_and_types_narrow_the_search() {
    let bench = sample();
    let files = async |input: Value| grep(&bench, input).await.1["filenames"].clone();
    assert_eq!(files(json!({"pattern": "needle", "type": "rust"})).await, json!(["sub/b.rs"]));
    assert_eq!(
        files(json!({"pattern": "needle", "glob": "*.{rs,txt}"})).await,
        json!(["sub/b.rs"])
    );
    assert_eq!(files(json!({"pattern": "nothing", "glob": "*.rs *.txt"})).await, json!(["c.txt"]));
    assert_eq!(files(json!({"pattern": "needle", "glob": "!*.py,!.*"})).await, json!(["sub/b.rs"]));
    let refusal = bench.failure("Grep", json!({"pattern": "x", "type": "klingon"})).await;
    assert!(refusal.contains("no file type klingon"), "{refusal}");
    let refusal = bench.failure("Grep", json!({"pattern": "x", "glob": "[a"})).await;
    assert!(refusal.contains("glob"), "{refusal}");
    let refusal = bench.failure("Grep", json!({"pattern": "x", "path": "gone"})).await;
    assert!(refusal.contains("cannot be searched"), "{refusal}");
}

#[tokio::test]
async fn matches_are_counted() {
    let bench = sample();
    let input =
        json!({"pattern": "needle", "-i": true, "output_mode": "count", "glob": "*.{py,rs}"});
    let (told, found) = grep(&bench, input).await;
    assert!(told.starts_with("a.py:2\n") && told.contains("sub/b.rs:1\n"), "{told}");
    assert_eq!(found["mode"], "count");
    assert!(found["numMatches"].as_u64().unwrap() >= 3);
}

#[tokio::test]
async fn results_come_in_pages_of_the_same_order() {
    let bench = Bench::new();
    for file in ["b", "a", "c"] {
        bench.file(file, (1..=200).map(|line| format!("hit {line}\n")).collect::<String>());
    }
    let page = |offset: u64, limit: u64| json!({"pattern": "hit", "output_mode": "content", "offset": offset, "head_limit": limit});
    let (told, found) = grep(&bench, page(0, 2)).await;
    assert_eq!(
        told,
        "a:1:hit 1\na:2:hit 2\n[2 of 600 lines. Go on with offset 2, or search for less.]"
    );
    assert_eq!((&found["appliedLimit"], &found["totalLines"]), (&json!(2), &json!(600)));
    let (told, found) = grep(&bench, page(199, 2)).await;
    assert!(told.starts_with("a:200:hit 200\nb:1:hit 1\n"), "{told}");
    assert_eq!(found["appliedOffset"], 199);
    let (_, found) = grep(&bench, page(0, 0)).await;
    assert_eq!(found["numLines"], 600);
    let usual = json!({"pattern": "hit", "output_mode": "content"});
    assert_eq!(grep(&bench, usual).await.1["numLines"], 250);
    let (told, _) = grep(&bench, page(600, 5)).await;
    assert!(told.contains("there are 600"), "{told}");
}

#[tokio::test]
async fn output_stays_small() {
    let bench = Bench::new();
    let long = format!("{}needle{}\n", "a".repeat(10_000), "b".repeat(10_000));
    bench.file("long", long.repeat(90));
    let input = json!({"pattern": "needle", "output_mode": "content", "head_limit": 0});
    let (told, found) = grep(&bench, input).await;
    assert!(told.len() < 32_000 && told.contains("needle"), "{}", told.len());
    assert!(told.contains("of 90 lines") && found["numLines"].as_u64().unwrap() > 10);
}

#[tokio::test]
async fn invalid_expressions_are_explained() {
    let bench = sample();
    let refusal = bench.failure("Grep", json!({"pattern": "foo("})).await;
    assert!(refusal.contains("not a valid regular expression"), "{refusal}");
    assert!(refusal.contains("backslash"), "{refusal}");
}

#[tokio::test]
async fn an_interrupted_search_says_so() {
    let bench = sample();
    for tool in ["Grep", "Glob"] {
        let cancel = CancellationToken::new();
        cancel.cancel();
        let input = json!({"pattern": "n*"});
        let failure = bench.call_until(tool, input, cancel).await.unwrap_err();
        assert!(failure.message.contains("interrupted"), "{}", failure.message);
    }
}
