//! Files are found by name.

use std::fs::File;
use std::os::unix::fs::symlink;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::bench::{Bench, structured, text};

async fn names(bench: &Bench, input: Value) -> Vec<String> {
    let output = bench.call("Glob", input).await.unwrap();
    let found = structured(&output)["filenames"].as_array().unwrap().clone();
    let mut names: Vec<String> =
        found.iter().map(|name| name.as_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

#[tokio::test]
async fn patterns_mean_what_they_say() {
    let bench = Bench::new();
    for name in ["a.py", "sub/b.py", "sub/deep/c.py", "sub/c.txt", ".hid/d.py", ".git/e.py"] {
        bench.file(name, "x");
    }
    bench.file(".gitignore", "*.py");
    let all = [".hid/d.py", "a.py", "sub/b.py", "sub/deep/c.py"];
    assert_eq!(names(&bench, json!({"pattern": "**/*.py"})).await, all);
    assert_eq!(names(&bench, json!({"pattern": "*.py"})).await, all);
    assert_eq!(names(&bench, json!({"pattern": "sub/*.py"})).await, ["sub/b.py"]);
    assert_eq!(
        names(&bench, json!({"pattern": "sub/**/c.{py,txt}"})).await,
        ["sub/c.txt", "sub/deep/c.py"]
    );
    assert_eq!(names(&bench, json!({"pattern": "./a.p[xy]"})).await, ["a.py"]);
    assert_eq!(
        names(&bench, json!({"pattern": "*.py", "path": "sub/deep"})).await,
        ["sub/deep/c.py"]
    );
    let whole = bench.path("sub").join("*.py");
    assert_eq!(names(&bench, json!({"pattern": whole})).await, ["sub/b.py"]);
    assert_eq!(names(&bench, json!({"pattern": "gone/**/*.py"})).await, [""; 0]);
    let none = bench.call("Glob", json!({"pattern": "*.rs"})).await.unwrap();
    assert!(text(&none).starts_with("No file matches *.rs"), "{}", text(&none));
}

#[tokio::test]
async fn the_newest_come_first_and_only_so_many() {
    let bench = Bench::new();
    let start = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    for number in 0..120 {
        let path = bench.file(&format!("{number}.log"), "x");
        let time = start + Duration::from_secs(number);
        File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
    }
    let output = bench.call("Glob", json!({"pattern": "*.log"})).await.unwrap();
    let found = structured(&output);
    assert_eq!((&found["numFiles"], &found["truncated"]), (&json!(100), &json!(true)));
    assert_eq!(found["totalMatches"], 120);
    assert_eq!(
        (&found["filenames"][0], &found["filenames"][99]),
        (&json!("119.log"), &json!("20.log"))
    );
    assert!(text(&output).starts_with("119.log\n118.log\n"));
    assert!(text(&output).contains("[100 of 120 files"), "{}", text(&output));
}

#[tokio::test]
async fn links_do_not_lead_out_of_the_searched_directory() {
    let bench = Bench::new();
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("secret.txt"), "x").unwrap();
    symlink(outside.path(), bench.path("link")).unwrap();
    symlink("..", bench.path("up")).unwrap();
    assert_eq!(names(&bench, json!({"pattern": "**/*.txt"})).await, [""; 0]);
    assert_eq!(names(&bench, json!({"pattern": "link/*.txt"})).await, [""; 0]);
    let refusal = bench.failure("Glob", json!({"pattern": "/etc/*"})).await;
    assert!(refusal.contains("does not lie in"), "{refusal}");
}

#[tokio::test]
async fn wrong_places_and_patterns_are_explained() {
    let bench = Bench::new();
    bench.file("a", "x");
    let refusal = bench.failure("Glob", json!({"pattern": "*", "path": "gone"})).await;
    assert!(refusal.contains("cannot be searched"), "{refusal}");
    let refusal = bench.failure("Glob", json!({"pattern": "*", "path": "a"})).await;
    assert!(refusal.contains("must name a directory"), "{refusal}");
    let refusal = bench.failure("Glob", json!({"pattern": "[a"})).await;
    assert!(refusal.contains("is not valid"), "{refusal}");
}
