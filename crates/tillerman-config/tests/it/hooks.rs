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

const fn usual(source: Source) -> bool {
    matches!(source, Source::User | Source::Flag)
}

#[test]
fn a_layer_runs_hooks_only_when_it_is_trusted() {
    let desk = Desk::new();
    for source in ALL {
        desk.put(source, &json!({"hooks": section("x")}));
    }
    let mut layers = desk.load();
    layers.push_flag(serde_json::from_value(json!({"hooks": section("y")})).unwrap());
    let hooks = layers.hooks(usual);
    assert_eq!(origins(&hooks), ["the user's settings", "--settings"]);
    assert_eq!(hooks.remarks.len(), 2, "{:?}", hooks.remarks);
    assert!(hooks.remarks[0].contains("the project's settings"));
    assert!(hooks.remarks[1].contains("--setting-sources"));
    let hooks = layers.hooks(|_| true);
    assert_eq!(hooks.sources.len(), 4);
    assert_eq!(hooks.remarks, Vec::<String>::new());
}

#[test]
fn hooks_can_be_switched_off_by_whoever_is_trusted() {
    let off = json!({"disableAllHooks": true, "hooks": section("x")});
    // Who says so, whether everybody is trusted, and whose hooks are left.
    let table: [(Source, bool, &[&str]); 4] = [
        (Source::User, false, &[]),
        (Source::Local, true, &[]),
        (Source::Local, false, &["the user's settings"]),
        (Source::Project, true, &["the user's settings"]),
    ];
    for (source, all, left) in table {
        let desk = Desk::new();
        desk.put(Source::User, &json!({"hooks": section("guard")}));
        desk.put(source, &off);
        let layers = desk.load();
        let hooks = layers.hooks(|source| all || usual(source));
        assert_eq!(origins(&hooks), left, "{source:?}");
    }
    let desk = Desk::new();
    desk.put(Source::User, &off);
    let mut layers = desk.load();
    let on = json!({"disableAllHooks": false, "hooks": section("y")});
    layers.push_flag(serde_json::from_value(on).unwrap());
    let hooks = layers.hooks(usual);
    assert_eq!(origins(&hooks), ["--settings"], "the stronger layer has them on again");
}

#[test]
fn a_project_cannot_widen_where_hooks_may_call() {
    let desk = Desk::new();
    desk.put(Source::Project, &json!({"allowedHttpHookUrls": ["*"]}));
    assert_eq!(desk.load().hooks(|_| true).allowed_urls, None);
    desk.put(
        Source::User,
        &json!({"allowedHttpHookUrls": ["https://a/*"], "httpHookAllowedEnvVars": ["KEY"]}),
    );
    desk.put(Source::Local, &json!({"allowedHttpHookUrls": ["https://b/*"]}));
    let hooks = desk.load().hooks(|_| true);
    let urls = ["https://a/*", "https://b/*"].map(str::to_owned).to_vec();
    assert_eq!(hooks.allowed_urls, Some(urls));
    assert_eq!(hooks.allowed_variables, Some(vec!["KEY".to_owned()]));
}
