//! A host's own managed settings restrict and allow nothing.

use serde_json::{Value, json};
use tillerman_config::Layers;

#[test]
fn only_what_restricts_holds() {
    let Value::Object(settings) = json!({
        "permissions": {"deny": ["Bash"], "allow": ["Write"], "defaultMode": "bypassPermissions"},
        "disableAllHooks": true,
        "env": {"A": "b"},
        "allowManagedPermissionRulesOnly": true,
    }) else {
        panic!("no object");
    };
    let mut layers = Layers::default();
    let dropped = layers.push_host_policy(&settings);
    assert_eq!(dropped, ["permissions.allow", "permissions.defaultMode", "env"]);
    assert_eq!((layers.deny(), layers.allow()), (vec!["Bash".to_owned()], Vec::new()));
    let effective = layers.describe()["effective"].clone();
    assert_eq!(effective["allowManagedHooksOnly"], true);
    assert_eq!(effective["allowManagedPermissionRulesOnly"], true);
}
