//! Which layer holds, and what a project may not do.

use std::path::PathBuf;

use serde_json::json;
use tillerman_config::{Layers, Source};
use tillerman_protocol::permission::PermissionMode;

use crate::desk::{ALL, Desk};

#[test]
fn without_files_nothing_is_set() {
    let layers = Desk::new().load();
    assert!(layers.errors().is_empty());
    assert_eq!(layers.strongest(|settings| settings.model.clone()), None);
    assert_eq!(layers.default_mode(), None);
    assert!(layers.allow().is_empty() && layers.deny().is_empty() && layers.ask().is_empty());
    let nothing =
        json!({"effective": {}, "provenance": {}, "sources": [], "errors": [], "leftOut": []});
    assert_eq!(layers.describe(), nothing);
    assert_eq!(layers.notice(), None);
}

#[test]
fn the_strongest_layer_that_says_something_holds() {
    let desk = Desk::new();
    let model = |layers: &Layers| layers.strongest(|settings| settings.model.clone());
    desk.put(Source::User, &json!({"model": "user"}));
    assert_eq!(model(&desk.load()).as_deref(), Some("user"));
    desk.put(Source::Project, &json!({"model": "project"}));
    assert_eq!(model(&desk.load()).as_deref(), Some("project"));
    desk.put(Source::Local, &json!({"model": "local"}));
    assert_eq!(model(&desk.load()).as_deref(), Some("local"));
    let mut layers = desk.load();
    layers.push_flag(serde_json::from_value(json!({"outputStyle": "terse"})).unwrap());
    assert_eq!(model(&layers).as_deref(), Some("local"), "the flag says nothing about the model");
    layers.push_flag(serde_json::from_value(json!({"model": "flag"})).unwrap());
    assert_eq!(model(&layers).as_deref(), Some("flag"));
}

#[test]
fn only_the_wanted_sources_are_read() {
    let desk = Desk::new();
    for (source, name) in ALL.into_iter().zip(["user", "project", "local"]) {
        desk.put(source, &json!({"model": name}));
        assert_eq!(Source::parse(name), Some(source));
    }
    let model = |sources: &[Source]| {
        Layers::load(&desk.places, sources).strongest(|settings| settings.model.clone())
    };
    assert_eq!(model(&[]), None);
    assert_eq!(model(&[Source::User]).as_deref(), Some("user"));
    // The order in which they are named does not matter.
    assert_eq!(model(&[Source::Local, Source::User]).as_deref(), Some("local"));
    assert_eq!(model(&[Source::Project, Source::User]).as_deref(), Some("project"));
    assert_eq!(Source::parse("managed"), None);
}

#[test]
fn rules_of_all_layers_add_up_but_a_repository_approves_nothing() {
    let desk = Desk::new();
    let rules = |name: &str| {
        json!({"permissions": {"allow": [format!("Bash({name}:*)")],
            "deny": [format!("Read({name})")], "ask": [format!("Edit({name})")]}})
    };
    desk.put(Source::User, &rules("user"));
    desk.put(Source::Project, &rules("project"));
    desk.put(Source::Local, &rules("local"));
    let mut layers = desk.load();
    layers.push_flag(serde_json::from_value(rules("flag")).unwrap());
    assert_eq!(layers.allow(), ["Bash(user:*)", "Bash(flag:*)"]);
    assert_eq!(layers.deny(), ["Read(user)", "Read(project)", "Read(local)", "Read(flag)"]);
    assert_eq!(layers.ask(), ["Edit(user)", "Edit(project)", "Edit(local)", "Edit(flag)"]);
}

#[test]
fn a_project_makes_the_mode_stricter_or_leaves_it() {
    use PermissionMode::{AcceptEdits, BypassPermissions, Default, DontAsk, Plan};
    let table = [
        (None, "acceptEdits", None),
        (None, "bypassPermissions", None),
        (None, "auto", None),
        (None, "default", Some(Default)),
        (None, "plan", Some(Plan)),
        (None, "dontAsk", Some(DontAsk)),
        (Some("plan"), "default", Some(Plan)),
        (Some("plan"), "dontAsk", Some(Plan)),
        (Some("dontAsk"), "default", Some(DontAsk)),
        (Some("acceptEdits"), "default", Some(Default)),
        (Some("bypassPermissions"), "acceptEdits", Some(AcceptEdits)),
        (Some("acceptEdits"), "bypassPermissions", Some(AcceptEdits)),
    ];
    let mode = |name: &str| json!({"permissions": {"defaultMode": name}});
    for (user, project, expected) in table {
        let desk = Desk::new();
        if let Some(user) = user {
            desk.put(Source::User, &mode(user));
        }
        desk.put(Source::Project, &mode(project));
        assert_eq!(desk.load().default_mode(), expected, "{user:?} {project}");
    }
    // Trust lets it be looser, and never gives up every question.
    let desk = Desk::new();
    desk.put(Source::Project, &mode("plan"));
    desk.put(Source::Local, &mode("acceptEdits"));
    assert_eq!(desk.session(&ALL).default_mode(), Some(Plan));
    desk.trust();
    assert_eq!(desk.session(&[]).default_mode(), Some(AcceptEdits));
    for name in ["auto", "bypassPermissions"] {
        desk.put(Source::Local, &mode(name));
        desk.trust();
        assert_eq!(desk.session(&ALL).default_mode(), Some(Plan), "{name}");
    }
    let mut layers = desk.load();
    layers.push_flag(serde_json::from_value(mode("bypassPermissions")).unwrap());
    assert_eq!(layers.default_mode(), Some(BypassPermissions));
}

#[test]
fn a_repository_adds_neither_directories_nor_variables() {
    let desk = Desk::new();
    let settings = |name: &str| {
        json!({"permissions": {"additionalDirectories": [format!("/{name}")]},
            "env": {"WHO": name, name.to_uppercase(): 1}})
    };
    desk.put(Source::User, &settings("user"));
    desk.put(Source::Project, &settings("project"));
    desk.put(Source::Local, &settings("local"));
    let layers = desk.load();
    assert_eq!(layers.directories(), [PathBuf::from("/user")]);
    let variable = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(layers.variables(), [variable("USER", "1"), variable("WHO", "user")]);
    desk.trust();
    let layers = desk.session(&[]);
    assert_eq!(layers.directories(), ["/user", "/project", "/local"].map(PathBuf::from));
    let variables = layers.variables();
    let last = variables.iter().rev().find(|(name, _)| name == "WHO").unwrap();
    assert_eq!(last.1, "local", "the last one set holds");
}

#[test]
fn any_layer_may_ask_for_a_sandbox() {
    for source in ALL {
        let desk = Desk::new();
        desk.put(source, &json!({"sandbox": {"enabled": false}}));
        assert!(!desk.load().sandbox().unwrap().is_enabled());
        desk.put(source, &json!({"sandbox": {"enabled": true}}));
        assert!(desk.load().sandbox().unwrap().is_enabled());
    }
}

#[test]
fn the_description_names_sources_and_keeps_unknown_keys() {
    let desk = Desk::new();
    desk.put(Source::User, &json!({"model": "m", "spinnerVerbs": ["Musing"], "$schema": "x"}));
    desk.put(Source::Project, &json!({"permissions": {"deny": ["Read(./.env)"], "later": 1}}));
    desk.write(Source::Local, "{");
    let described = desk.load().describe();
    let sources = described["sources"].as_array().unwrap();
    assert_eq!(sources.len(), 2);
    assert_eq!(sources[0]["source"], "user");
    assert_eq!(sources[0]["settings"]["spinnerVerbs"], json!(["Musing"]));
    assert_eq!(sources[0]["settings"]["$schema"], "x");
    assert_eq!(sources[1]["source"], "project");
    assert_eq!(sources[1]["settings"]["permissions"]["later"], 1);
    assert_eq!(described["errors"].as_array().unwrap().len(), 1);
    let error = &described["errors"][0];
    assert!(error["file"].as_str().unwrap().ends_with("settings.local.json"));
    assert_eq!((&error["path"], &error["line"]), (&json!(""), &json!(1)));
    assert_eq!(described["effective"]["model"], "m");
    assert_eq!(described["provenance"]["permissions"]["source"], "project");
}
