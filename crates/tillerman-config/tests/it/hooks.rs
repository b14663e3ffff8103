//! Which layers may run hooks, and which may switch them off.

use serde_json::{Value, json};
use tillerman_config::{HookLayers, Source};

use crate::desk::{ALL, Desk};

fn section(command: &str) -> Value {
    json!({"Stop": [{"hooks": [{"type": "command", "command": command}]}]})
}

fn origins(hooks: &HookLayers) -> Vec<&str> {
    hooks.sources.iter().map(|source| source.origin.as_str()).collect()
}

#[test]
fn a_repository_runs_hooks_only_when_it_is_named_or_trusted() {
    let desk = Desk::new();
    for source in ALL {
        desk.put(source, &json!({"hooks": section("x")}));
    }
    let mut layers = desk.session(&[]);
    layers.push_flag(serde_json::from_value(json!({"hooks": section("y")})).unwrap());
    assert_eq!(origins(&layers.hooks()), ["the user's settings", "--settings"]);
    assert!(layers.notice().is_some_and(|text| text.contains("hooks")));
    let named = desk.session(&[Source::Project]).hooks();
    assert_eq!(origins(&named), ["the user's settings", "the project's settings"]);
    desk.trust();
    assert_eq!(desk.session(&[]).hooks().sources.len(), 3);
}

#[test]
fn hooks_can_be_switched_off_by_whoever_is_trusted() {
    let off = json!({"disableAllHooks": true, "hooks": section("x")});
    // Who says so, whether the repository is trusted, and whose hooks are left.
    let table: [(Source, bool, &[&str]); 3] = [
        (Source::User, false, &[]),
        (Source::Local, true, &[]),
        (Source::Local, false, &["the user's settings"]),
    ];
    for (source, is_trusted, left) in table {
        let desk = Desk::new();
        desk.put(Source::User, &json!({"hooks": section("guard")}));
        desk.put(source, &off);
        if is_trusted {
            desk.trust();
        }
        assert_eq!(origins(&desk.session(&[]).hooks()), left, "{source:?}");
    }
    let desk = Desk::new();
    desk.put(Source::User, &off);
    let mut layers = desk.session(&[]);
    let on = json!({"disableAllHooks": false, "hooks": section("y")});
    layers.push_flag(serde_json::from_value(on).unwrap());
    let hooks = layers.hooks();
    assert_eq!(origins(&hooks), ["--settings"], "the stronger layer has them on again");
}

#[test]
fn a_repository_cannot_widen_where_hooks_may_call() {
    let desk = Desk::new();
    desk.put(Source::Project, &json!({"allowedHttpHookUrls": ["*"]}));
    assert_eq!(desk.session(&[Source::Project]).hooks().allowed_urls, None);
    desk.put(
        Source::User,
        &json!({"allowedHttpHookUrls": ["https://a/*"], "httpHookAllowedEnvVars": ["KEY"]}),
    );
    let hooks = desk.session(&[Source::Project]).hooks();
    assert_eq!(hooks.allowed_urls, Some(vec!["https://a/*".to_owned()]));
    assert_eq!(hooks.allowed_variables, Some(vec!["KEY".to_owned()]));
}
