//! Settings that change while a session runs.

use serde_json::json;
use tillerman_config::{Layers, Source, Trust};

use crate::desk::{ALL, Desk};

fn rules(allow: &[&str], deny: &[&str]) -> serde_json::Value {
    json!({"permissions": {"allow": allow, "deny": deny}})
}

fn change(layers: &Layers) -> Layers {
    let changed = layers.changed().expect("a file changed");
    assert!(changed.changed().is_none(), "a change is noticed once");
    changed
}

#[test]
fn what_the_user_changes_holds_at_once() {
    let desk = Desk::new();
    desk.put(Source::User, &rules(&["Bash(a)"], &["Read(a)"]));
    let mut layers = desk.session(&[]);
    layers.push_flag(serde_json::from_value(json!({"model": "flag"})).unwrap());
    assert!(layers.changed().is_none());
    desk.put(Source::User, &rules(&["Bash(b)"], &[]));
    let layers = change(&layers);
    assert_eq!((layers.allow(), layers.deny()), (vec!["Bash(b)".into()], vec![]));
    assert_eq!(layers.strongest(|it| it.model.clone()).as_deref(), Some("flag"), "flags stay");
    std::fs::write(
        desk.places.managed[0].join("managed-settings.d/x.json"),
        rules(&[], &["Edit"]).to_string(),
    )
    .unwrap();
    let layers = change(&layers);
    assert_eq!(layers.deny(), ["Edit"], "a new drop-in is found");
    std::fs::remove_file(desk.path(Source::User)).unwrap();
    assert!(change(&layers).allow().is_empty());
}

#[test]
fn a_file_that_breaks_holds_as_it_was() {
    let desk = Desk::new();
    desk.put(Source::User, &rules(&[], &["Read(a)"]));
    desk.put(Source::Local, &rules(&[], &["Read(b)"]));
    let layers = desk.session(&[]);
    desk.write(Source::User, "{ oops");
    desk.write(Source::Local, "{ oops");
    let layers = change(&layers);
    assert_eq!(layers.deny(), ["Read(a)", "Read(b)"]);
    assert_eq!(layers.errors().len(), 2);
}

#[test]
fn an_agent_that_writes_settings_of_the_repository_can_only_tighten_them() {
    let hooks =
        |command: &str| json!({"Stop": [{"hooks": [{"type": "command", "command": command}]}]});
    let desk = Desk::new();
    let mut settings = rules(&["Bash(a)"], &["Read(a)"]);
    settings["hooks"] = hooks("guard");
    desk.put(Source::Project, &settings);
    for trusted in [false, true] {
        desk.put(Source::Project, &settings);
        if trusted {
            desk.trust();
        }
        let layers = desk.session(&ALL);
        let before = (layers.allow(), layers.hooks().sources);
        let mut other = rules(&["Bash"], &["Read(b)"]);
        other["hooks"] = hooks("evil");
        other["disableAllHooks"] = json!(true);
        desk.put(Source::Project, &other);
        let layers = change(&layers);
        assert_eq!((layers.allow(), layers.hooks().sources), before, "trusted: {trusted}");
        assert_eq!(layers.deny(), ["Read(a)", "Read(b)"]);
        assert!(layers.notice().is_some());
        std::fs::remove_file(desk.path(Source::Project)).unwrap();
        let layers = change(&layers);
        assert_eq!((layers.allow(), layers.hooks().sources), before, "removing it loosens nothing");
        assert_eq!(layers.deny(), ["Read(a)", "Read(b)"]);
    }
}

#[test]
fn trust_that_is_given_or_taken_back_meanwhile_counts() {
    let desk = Desk::new();
    desk.put(Source::Project, &rules(&["Bash(a)"], &[]));
    let layers = desk.session(&[]);
    assert!(layers.allow().is_empty());
    desk.trust();
    let layers = change(&layers);
    assert_eq!(layers.allow(), ["Bash(a)"]);
    Trust::revoke(&desk.places.cwd, &desk.places.config_dir).unwrap();
    assert!(change(&layers).allow().is_empty());
}
