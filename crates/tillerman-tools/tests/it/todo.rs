//! The list of what is to be done.

use serde_json::json;

use crate::bench::{Bench, structured, text};

#[tokio::test]
async fn every_call_replaces_the_list_and_tells_the_old_one() {
    let bench = Bench::new();
    let step =
        |content, status| json!({"content": content, "status": status, "activeForm": "Doing it"});
    let first = json!([step("a", "in_progress"), step("b", "pending")]);
    let output = bench.call("TodoWrite", json!({"todos": first})).await.unwrap();
    assert_eq!(structured(&output), json!({"oldTodos": [], "newTodos": first}));
    let second = json!([step("a", "completed"), step("b", "in_progress")]);
    let output = bench.call("TodoWrite", json!({"todos": second})).await.unwrap();
    assert_eq!(structured(&output), json!({"oldTodos": first, "newTodos": second}));
    assert!(text(&output).contains("2 steps, 1 of them not completed"), "{}", text(&output));
    bench.call("TodoWrite", json!({"todos": []})).await.unwrap();
}
