//! Planning begins and ends.

use serde_json::json;
use tillerman_protocol::permission::PermissionMode;

use crate::bench::{Bench, structured, text};

#[tokio::test]
async fn entering_and_leaving_switch_the_mode() {
    let bench = Bench::new();
    let output = bench.call("EnterPlanMode", json!({})).await.unwrap();
    assert_eq!(output.switches_to, Some(PermissionMode::Plan));
    assert!(structured(&output)["message"].is_string());
    let output = bench.call("ExitPlanMode", json!({"plan": "1. do it"})).await.unwrap();
    assert_eq!(output.switches_to, Some(PermissionMode::Default));
    assert_eq!(structured(&output), json!({"plan": "1. do it", "isAgent": false}));
    assert!(text(&output).contains("1. do it"));
}
