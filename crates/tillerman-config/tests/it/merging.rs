//! All layers in one, and where each value came from.

use serde_json::json;
use tillerman_config::Source;

use crate::desk::Desk;

#[test]
fn lists_join_objects_merge_and_the_strongest_word_holds() {
    let desk = Desk::new();
    desk.put(
        Source::User,
        &json!({"model": "user", "fallbackModel": ["a", "b"], "attribution": {"commit": "u", "pr": "u"},
            "permissions": {"deny": ["Read(x)", "Bash"]}}),
    );
    desk.put(
        Source::Project,
        &json!({"fallbackModel": ["c"], "attribution": {"pr": "p"},
            "permissions": {"deny": ["Bash", "Edit"]}}),
    );
    let mut layers = desk.load();
    layers.push_flag(serde_json::from_value(json!({"model": "flag"})).unwrap());
    let merged = layers.merged();
    let expected = json!({"model": "flag", "fallbackModel": ["c"],
        "attribution": {"commit": "u", "pr": "p"},
        "permissions": {"deny": ["Read(x)", "Bash", "Edit"]}});
    assert_eq!(merged.shown(), expected);
    assert_eq!(layers.deny(), ["Read(x)", "Bash", "Edit"]);
}

#[test]
fn every_value_knows_its_file_and_line() {
    let desk = Desk::new();
    desk.write(
        Source::User,
        "{\n  \"permissions\": {\n    \"deny\": [\n      \"Read(x)\"\n    ]\n  }\n}",
    );
    desk.write(Source::Local, "{\"permissions\":\n{\"deny\": [\"Read(x)\",\n\"Edit\"]}}");
    let mut layers = desk.load();
    layers.push_flag(serde_json::from_value(json!({"model": "flag"})).unwrap());
    let merged = layers.merged();
    let told = |pointer: &str| merged.origins[pointer].to_string();
    assert_eq!(told("/permissions/deny/0"), format!("{}:4", desk.path(Source::User).display()));
    assert_eq!(told("/permissions/deny/1"), format!("{}:3", desk.path(Source::Local).display()));
    assert_eq!(merged.origins["/model"].source, Source::Flag);
    assert_eq!(merged.origins.len(), 3, "{:?}", merged.origins);
}

#[test]
fn what_is_likely_a_secret_is_not_shown() {
    let desk = Desk::new();
    let env = json!({"ANTHROPIC_API_KEY": "sk-ant-1", "MY_TOKEN": "t0ken", "EDITOR": "vi"});
    desk.put(Source::User, &json!({"env": env}));
    let layers = desk.load();
    for told in [layers.describe().to_string(), layers.merged().shown().to_string()] {
        assert!(!told.contains("sk-ant-1") && !told.contains("t0ken"), "{told}");
        assert!(told.contains("\"EDITOR\":\"vi\""), "{told}");
    }
    assert!(layers.variables().contains(&("MY_TOKEN".to_owned(), "t0ken".to_owned())));
}

#[test]
fn the_host_replaces_keys_of_its_own_layer_and_takes_them_back() {
    let desk = Desk::new();
    desk.put(Source::User, &json!({"model": "user"}));
    let mut layers = desk.load();
    let flag = json!({"model": "flag", "permissions": {"deny": ["Bash"]}});
    layers.push_flag(serde_json::from_value(flag).unwrap());
    let change = |value: serde_json::Value| value.as_object().unwrap().clone();
    layers.change_flag(&change(json!({"permissions": {"ask": ["Edit"]}}))).unwrap();
    assert_eq!((layers.deny(), layers.ask()), (vec![], vec!["Edit".to_owned()]));
    let error = layers.change_flag(&change(json!({"permissions": {"deny": 1}, "model": "x"})));
    assert!(error.unwrap_err().to_string().contains("permissions.deny"));
    assert_eq!(layers.ask(), ["Edit"], "nothing of a wrong change is taken");
    let model = |layers: &tillerman_config::Layers| layers.strongest(|it| it.model.clone());
    assert_eq!(model(&layers).as_deref(), Some("flag"));
    layers.change_flag(&change(json!({"model": null}))).unwrap();
    assert_eq!(model(&layers).as_deref(), Some("user"));
}
