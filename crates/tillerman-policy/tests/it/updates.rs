//! Permission updates take effect for the rest of the session.

use serde_json::{Value, json};

use crate::world::{World, default_world};

fn apply(world: &mut World, update: Value) {
    world.policy.apply(&serde_json::from_value(update).unwrap());
}

#[test]
fn rules_come_and_go() {
    let mut world = default_world();
    let judged = |world: &World| world.ruling("make").verdict.name();
    let rules = json!([{"toolName": "Bash", "ruleContent": "make:*"}]);
    apply(
        &mut world,
        json!({"type": "addRules", "rules": rules, "behavior": "allow", "destination": "session"}),
    );
    assert_eq!(judged(&world), "allow");
    apply(
        &mut world,
        json!({"type": "addRules", "rules": rules, "behavior": "deny", "destination": "session"}),
    );
    assert_eq!(judged(&world), "deny");
    apply(
        &mut world,
        json!({"type": "replaceRules", "rules": [], "behavior": "deny", "destination": "session"}),
    );
    assert_eq!(judged(&world), "allow");
    apply(
        &mut world,
        json!({"type": "removeRules", "rules": rules, "behavior": "allow", "destination": "session"}),
    );
    assert_eq!(judged(&world), "ask");
}

#[test]
fn directories_come_and_go() {
    let mut world = default_world().mode("acceptEdits");
    let judged = |world: &World| world.verdict_of("Write", &json!({"file_path": "/more/a"}));
    assert_eq!(judged(&world), "ask");
    apply(
        &mut world,
        json!({"type": "addDirectories", "directories": ["/more"], "destination": "session"}),
    );
    assert_eq!(judged(&world), "allow");
    apply(
        &mut world,
        json!({"type": "removeDirectories", "directories": ["/more"], "destination": "session"}),
    );
    assert_eq!(judged(&world), "ask");
}
