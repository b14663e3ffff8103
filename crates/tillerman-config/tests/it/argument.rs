//! What `--settings` takes.

use serde_json::json;
use tillerman_config::{SettingsError, Source, read_argument};

use crate::desk::Desk;

#[test]
fn it_takes_json() {
    let settings = read_argument(r#" {"model": "m", "somethingNew": [1]}"#).unwrap();
    assert_eq!(settings.model.as_deref(), Some("m"));
    assert_eq!(settings.extra["somethingNew"], json!([1]));
}

#[test]
fn it_takes_a_file() {
    let desk = Desk::new();
    desk.put(Source::Flag, &json!({"permissions": {"allow": ["Read"]}}));
    let settings = read_argument(desk.path(Source::Flag).to_str().unwrap()).unwrap();
    assert_eq!(settings.permissions.unwrap().allow, ["Read"]);
}

#[test]
fn unlike_a_file_that_may_be_there_it_has_to_be_right() {
    let desk = Desk::new();
    let missing = desk.path(Source::Flag);
    let error = read_argument(missing.to_str().unwrap()).unwrap_err();
    assert!(matches!(error, SettingsError::Unreadable { .. }));
    assert!(error.to_string().contains("flag.json"), "{error}");
    desk.write(Source::Flag, "model: m");
    let error = read_argument(missing.to_str().unwrap()).unwrap_err();
    assert!(matches!(error, SettingsError::Invalid { .. }));
    let error = read_argument(r#"{"model": }"#).unwrap_err();
    assert!(error.to_string().contains("--settings"), "{error}");
    assert!(error.to_string().contains("column"), "{error}");
    let error = read_argument(desk.places.cwd.to_str().unwrap()).unwrap_err();
    assert!(error.to_string().contains("not a regular file"), "{error}");
}
