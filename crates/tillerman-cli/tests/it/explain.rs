//! `permissions explain`: verdicts for people, for programs and for whole tables.

use serde_json::{Value, json};

use crate::harness::{Finished, World};

const EXPLAIN: [&str; 2] = ["permissions", "explain"];

async fn explained(world: &World, arguments: &[&str]) -> Finished {
    world.tillerman().args(EXPLAIN).args(arguments.iter().copied()).run().await
}

async fn as_json(world: &World, command: &str, more: &[&str]) -> Value {
    let input = json!({ "command": command }).to_string();
    let mut arguments = vec!["--json", "--input", &input];
    arguments.extend(more);
    let finished = explained(world, &arguments).await;
    finished.assert_code(0);
    serde_json::from_str(&finished.text()).unwrap()
}

#[tokio::test]
async fn a_verdict_comes_with_its_reason_and_parts() {
    let world = World::new();
    let told = as_json(&world, "ls && echo x > out.txt", &[]).await;
    assert_eq!(told["verdict"], "ask");
    assert!(told["reason"].as_str().unwrap().contains("out.txt"), "{told}");
    let parts = told["parts"].as_array().unwrap();
    assert_eq!(parts[0]["text"], "ls");
    assert_eq!(parts[0]["verdict"], "allow");
    assert!(parts.iter().any(|part| part["writes"] == json!(["out.txt"])), "{told}");
    assert!(!world.file("out.txt").exists(), "nothing was run");
}

#[tokio::test]
async fn mode_rules_and_settings_count() {
    let world = World::new();
    assert_eq!(as_json(&world, "touch x", &["--mode", "acceptEdits"]).await["verdict"], "allow");
    assert_eq!(as_json(&world, "make", &["--allow", "Bash(make *)"]).await["verdict"], "allow");
    let settings = r#"{"permissions":{"deny":["Bash(make *)"]}}"#;
    let told = as_json(&world, "make", &["--mode", "full-auto", "--settings", settings]).await;
    assert_eq!(told["verdict"], "deny");
    assert_eq!(told["reason"], "the deny rule Bash(make *)");
    std::fs::create_dir(world.file(".claude")).unwrap();
    std::fs::write(world.file(".claude/settings.json"), settings).unwrap();
    assert_eq!(as_json(&world, "make", &["--mode", "full-auto"]).await["verdict"], "deny");
    let told =
        as_json(&world, "echo x > a/b.md", &["--mode", "full-auto", "--guard", "b.md"]).await;
    assert_eq!(told["message"], "Cannot modify protected files via shell commands: a/b.md");
}

#[tokio::test]
async fn people_read_it_as_text() {
    let world = World::new();
    let finished =
        explained(&world, &["--input", r#"{"command":"git status; touch a\u202eb"}"#]).await;
    finished.assert_code(0);
    let text = finished.text();
    assert!(text.starts_with("ask: "), "{text}");
    assert!(
        text.contains("\\u{202e}") && !text.contains('\u{202e}'),
        "hidden characters are shown: {text}"
    );
    let file = r#"{"file_path":"/etc/hosts"}"#;
    let finished = explained(&world, &["--tool", "Write", "--input", file]).await;
    assert!(finished.text().contains("/etc/hosts lies outside"), "{}", finished.text());
}

#[tokio::test]
async fn tables_are_judged_as_a_whole() {
    let world = World::new();
    let case = |id: &str, command: &str, expect: &[&str], writes: Option<&str>| {
        json!({"id": id, "tool": "Bash", "input": {"command": command}, "mode": "default", "allow": [], "deny": [], "expect": expect, "writes": writes}).to_string()
    };
    let good = [
        case("A1", "ls", &["allow"], None),
        case("A2", "echo x > CLAUDE.md", &["ask", "deny"], Some("CLAUDE.md")),
        case("A3", "echo x > ~/.bashrc", &["ask", "deny"], Some("~/.bashrc")),
    ];
    let wrong = [case("B1", "touch x", &["allow"], None), case("B2", "rm x", &["ask"], Some("y"))];
    let file = world.file("cases.jsonl");
    let file = file.to_str().unwrap();
    let places = ["--cwd", "/no/such/w", "--home", "/no/such/h", "--cases", file];
    std::fs::write(file, good.join("\n")).unwrap();
    let finished = explained(&world, &places).await;
    finished.assert_code(0);
    assert_eq!(finished.text(), "3 cases, 0 mismatches\n");
    std::fs::write(file, [good.as_slice(), wrong.as_slice()].concat().join("\n")).unwrap();
    let finished = explained(&world, &places).await;
    finished.assert_code(1);
    let text = finished.text();
    assert!(text.contains("B1: got ask, expected allow"), "{text}");
    assert!(text.contains("B2: y is not shown among the files that it writes"), "{text}");
    assert!(text.ends_with("5 cases, 2 mismatches\n"), "{text}");
}

#[tokio::test]
async fn wrong_input_is_named() {
    let world = World::new();
    let file = world.file("cases.jsonl");
    std::fs::write(&file, "{\"id\":\"A\",\"input\":{},\"expect\":[\"maybe\"]}\n").unwrap();
    let file = file.to_str().unwrap();
    let ls = r#"{"command":"ls"}"#;
    let cases: [(&[&str], &str); 9] = [
        (&[], "--input"),
        (&["--input", "{"], "--input is not JSON"),
        (&["--input", "[]"], "--input is not a JSON object"),
        (&["--input", ls, "--mode", "sometimes"], "acceptEdits"),
        (
            &["--input", ls, "--deny", "Read", "--deny", "Bash(ls"],
            "--deny, rule 2: the rule `Bash(ls` is not complete: the parenthesis at column 5",
        ),
        (
            &["--input", ls, "--settings", r#"{"permissions":{"ask":["WebFetch(x)"]}}"#],
            "permissions.ask of the settings, rule 1",
        ),
        (&["--input", ls, "--setting-sources", "usr"], "use user, project or local"),
        (&["--cases", "no/such/file"], "no/such/file"),
        (&["--cases", file], "line 1: `maybe` is not a verdict"),
    ];
    for (arguments, told) in cases {
        explained(&world, arguments).await.assert_code(1).assert_stderr(told).assert_no_panic();
    }
}
