//! Settings files that cannot be used.

use std::os::unix::fs::symlink;

use serde_json::json;
use tillerman_config::{Layers, SettingsError, Source};

use crate::desk::Desk;

fn model(layers: &Layers) -> Option<String> {
    layers.strongest(|settings| settings.model.clone())
}

#[test]
fn a_broken_file_is_reported_and_the_others_hold() {
    let broken = [
        "{",
        "[]",
        "\"text\"",
        "null",
        r#"{"model": 7}"#,
        r#"{"permissions": {"allow": "Bash"}}"#,
        r#"{"env": {"A": {}}}"#,
        r#"{"model": "a"} trailing"#,
    ];
    for text in broken {
        let desk = Desk::new();
        desk.put(Source::User, &json!({"model": "user", "permissions": {"deny": ["Bash"]}}));
        desk.write(Source::Project, text);
        let layers = desk.load();
        assert_eq!(model(&layers).as_deref(), Some("user"), "{text}");
        assert_eq!(layers.deny(), ["Bash"], "{text}");
        let [error] = layers.errors() else { panic!("{text}: {:?}", layers.errors()) };
        assert!(matches!(error, SettingsError::Invalid { .. }), "{error}");
        assert!(error.to_string().contains(".claude/settings.json"), "{error}");
    }
}

#[test]
fn a_broken_list_of_refusals_refuses_everything() {
    let table = [
        (r#"{"permissions": {"deny": ["Read(./.env)", 7]}}"#, vec!["Read(./.env)", "*"]),
        (r#"{"permissions": {"deny": "Read(./.env)"}}"#, vec!["*"]),
        (r#"{"permissions": {"deny": {"Read": true}}}"#, vec!["*"]),
    ];
    for (text, expected) in table {
        let desk = Desk::new();
        desk.put(Source::User, &json!({"permissions": {"allow": ["Bash"]}}));
        desk.write(Source::Local, text);
        let layers = desk.load();
        assert_eq!(layers.deny(), expected, "{text}");
        let [error] = layers.errors() else { panic!("{text}: {:?}", layers.errors()) };
        assert_eq!(error.key(), "permissions.deny");
        assert!(error.to_string().contains("EVERY TOOL CALL IS REFUSED"), "{error}");
        assert!(error.to_string().contains("settings.local.json"), "{error}");
    }
    let desk = Desk::new();
    desk.write(Source::User, r#"{"permissions": {"ask": [{}], "deny": ["WebFetch"]}}"#);
    assert_eq!(
        (desk.load().ask(), desk.load().deny()),
        (vec!["*".into()], vec!["WebFetch".into()])
    );
}

#[test]
fn a_value_of_the_wrong_kind_is_named_with_its_place_and_the_rest_holds() {
    let desk = Desk::new();
    let text = "{\n  \"model\": \"m\",\n  \"permissions\": {\"deny\": [\"Bash\"],\n    \"allow\": [\"Read\", 7],\n    \
                \"defaultMode\": \"delegate\"},\n  \"disableAllHooks\": \"yes\", \"new\": 1\n}";
    desk.write(Source::User, text);
    let layers = desk.load();
    assert_eq!(model(&layers).as_deref(), Some("m"));
    assert_eq!((layers.deny(), layers.allow()), (vec!["Bash".into()], vec!["Read".into()]));
    assert_eq!(layers.default_mode(), None);
    let told: Vec<(&str, usize, usize)> = layers
        .errors()
        .iter()
        .map(|error| (error.key(), error.spot().unwrap().line, error.spot().unwrap().column))
        .collect();
    let expected = [
        ("disableAllHooks", 6, 22),
        ("permissions.allow.1", 4, 23),
        ("permissions.defaultMode", 5, 20),
    ];
    assert_eq!(told, expected);
    assert!(layers.errors()[0].to_string().contains("line 6 column 22"), "{}", layers.errors()[0]);
}

#[test]
fn an_empty_file_and_a_mark_at_its_start_are_fine() {
    let desk = Desk::new();
    desk.write(Source::User, " \n");
    desk.write(Source::Local, "\u{feff}{\"model\": \"local\"}\n");
    let layers = desk.load();
    assert!(layers.errors().is_empty(), "{:?}", layers.errors());
    assert_eq!(model(&layers).as_deref(), Some("local"));
}

#[test]
fn a_file_that_is_too_large_is_not_read() {
    let desk = Desk::new();
    let filler = "x".repeat(2 << 20);
    desk.put(Source::Project, &json!({"model": "project", "filler": filler}));
    let layers = desk.load();
    assert_eq!(model(&layers), None);
    assert!(matches!(layers.errors(), [SettingsError::TooLarge { .. }]));
    let filler = "x".repeat((2 << 20) - 100);
    desk.put(Source::Project, &json!({"model": "project", "filler": filler}));
    assert_eq!(model(&desk.load()).as_deref(), Some("project"));
}

#[test]
fn what_is_no_file_is_not_waited_for() {
    let desk = Desk::new();
    std::fs::create_dir(desk.path(Source::User)).unwrap();
    symlink("/dev/zero", desk.path(Source::Project)).unwrap();
    desk.put(Source::Local, &json!({"model": "local"}));
    let layers = desk.load();
    assert_eq!(layers.errors().len(), 2);
    for error in layers.errors() {
        assert!(error.to_string().contains("not a regular file"), "{error}");
    }
    assert_eq!(model(&layers).as_deref(), Some("local"));
}

#[test]
fn a_link_to_nothing_and_a_missing_directory_are_no_files() {
    let desk = Desk::new();
    symlink("nowhere.json", desk.path(Source::User)).unwrap();
    std::fs::remove_dir(desk.places.cwd.join(".claude")).unwrap();
    let layers = desk.load();
    assert!(layers.errors().is_empty(), "{:?}", layers.errors());
}

#[test]
fn bytes_that_are_no_text_are_reported() {
    let desk = Desk::new();
    std::fs::write(desk.path(Source::User), [0xff, 0xfe, b'{', b'}']).unwrap();
    assert!(matches!(desk.load().errors(), [SettingsError::Unreadable { .. }]));
}
