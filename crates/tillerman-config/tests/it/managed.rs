//! What administrators set holds against everybody.

use serde_json::json;
use tillerman_config::{Layers, Places, Source};

use crate::desk::Desk;

#[test]
fn managed_settings_outrank_the_command_line_and_are_always_read() {
    let desk = Desk::new();
    desk.put(Source::Managed, &json!({"model": "managed", "permissions": {"deny": ["WebFetch"]}}));
    let mut layers = Layers::load(&desk.places, &[]);
    layers.push_flag(serde_json::from_value(json!({"model": "flag"})).unwrap());
    assert_eq!(layers.strongest(|settings| settings.model.clone()).as_deref(), Some("managed"));
    assert_eq!(layers.deny(), ["WebFetch"]);
}

#[test]
fn drop_ins_come_in_the_order_of_their_names() {
    let desk = Desk::new();
    desk.put(Source::Managed, &json!({"model": "main", "permissions": {"deny": ["A"]}}));
    let directory = desk.places.managed[0].join("managed-settings.d");
    for (name, model) in
        [("20-b.json", "b"), ("10-a.json", "a"), (".hidden.json", "no"), ("x.txt", "no")]
    {
        let settings = json!({"model": model, "permissions": {"deny": [model]}});
        std::fs::write(directory.join(name), settings.to_string()).unwrap();
    }
    let layers = desk.load();
    assert_eq!(layers.strongest(|settings| settings.model.clone()).as_deref(), Some("b"));
    assert_eq!(layers.deny(), ["A", "a", "b"]);
}

#[test]
fn another_directory_adds_to_the_platforms_own() {
    let usual = Places::new("/c".into(), "/w".into());
    let more = usual.clone().also_managed_by(Some("/more".into()));
    assert_eq!(more.managed[..usual.managed.len()], usual.managed);
    assert_eq!(more.managed.len(), usual.managed.len() + 1);
}

#[test]
fn administrators_may_keep_approving_and_hooks_to_themselves() {
    let desk = Desk::new();
    let hooks = json!({"Stop": [{"hooks": []}]});
    desk.put(
        Source::User,
        &json!({"permissions": {"allow": ["Bash"], "deny": ["Read(x)"]}, "hooks": hooks,
            "allowManagedHooksOnly": true}),
    );
    assert_eq!(desk.load().hooks().sources.len(), 1, "nobody but administrators can say so");
    desk.put(
        Source::Managed,
        &json!({"allowManagedPermissionRulesOnly": true, "allowManagedHooksOnly": true, "hooks": hooks,
            "permissions": {"allow": ["Edit"], "disableBypassPermissionsMode": "disable"}}),
    );
    let layers = desk.load();
    assert_eq!((layers.allow(), layers.deny()), (vec!["Edit".into()], vec!["Read(x)".into()]));
    let hooks = layers.hooks().sources;
    let origins: Vec<&str> = hooks.iter().map(|it| it.origin.as_str()).collect();
    assert_eq!(origins, ["the managed settings"]);
    assert!(layers.forbids_bypass());
}
