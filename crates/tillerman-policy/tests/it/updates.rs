//! Permission updates and what children may see.

use serde_json::{Value, json};
use tillerman_policy::{Policy, keep_variable};
use tillerman_protocol::permission::PermissionMode::{AcceptEdits, Default};

use crate::bench::{bash, file, policy, word};

fn apply(policy: &mut Policy, update: Value) {
    policy.apply(&serde_json::from_value(update).unwrap());
}

#[test]
fn rules_come_and_go() {
    let mut policy = policy(&[], &[], &[]);
    let judged = |policy: &Policy| word(&bash("make").judged(policy, Default));
    let rules = json!([{"toolName": "Bash", "ruleContent": "make:*"}]);
    apply(&mut policy, json!({"type": "addRules", "rules": rules, "behavior": "allow"}));
    assert_eq!(judged(&policy), "allow");
    apply(&mut policy, json!({"type": "addRules", "rules": rules, "behavior": "deny"}));
    assert_eq!(judged(&policy), "deny");
    apply(&mut policy, json!({"type": "replaceRules", "rules": [], "behavior": "deny"}));
    assert_eq!(judged(&policy), "allow");
    apply(&mut policy, json!({"type": "removeRules", "rules": rules, "behavior": "allow"}));
    assert_eq!(judged(&policy), "ask");
}

#[test]
fn directories_come_and_go() {
    let mut policy = policy(&[], &[], &[]);
    let judged = |policy: &Policy| word(&file("Write", "/more/a").judged(policy, AcceptEdits));
    assert_eq!(judged(&policy), "ask");
    apply(&mut policy, json!({"type": "addDirectories", "directories": ["/more"]}));
    assert_eq!(judged(&policy), "allow");
    apply(&mut policy, json!({"type": "removeDirectories", "directories": ["/more"]}));
    assert_eq!(judged(&policy), "ask");
}

#[test]
fn credentials_stay_here() {
    for name in ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY"] {
        assert!(!keep_variable(name), "{name}");
    }
    for name in ["PATH", "HOME", "ANTHROPIC_BASE_URL", "MY_TOKEN"] {
        assert!(keep_variable(name), "{name}");
    }
}
