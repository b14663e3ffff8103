//! What terminals would act on is shown instead.

use serde_json::json;

use super::{first_line, summary, visible};

#[test]
fn control_characters_become_visible() {
    assert_eq!(visible("\x1b[2Jgone\x07"), "\\u{1b}[2Jgone\\u{7}");
    assert_eq!(visible("\x1b]52;c;ZXZpbA==\x07"), "\\u{1b}]52;c;ZXZpbA==\\u{7}");
    assert_eq!(visible("a\rb\u{9b}31m\0\u{7f}"), "a\\rb\\u{9b}31m\\u{0}\\u{7f}");
    assert_eq!(visible("grüße → ✗"), "grüße → ✗");
}

#[test]
fn notes_are_one_short_line() {
    let flood = "\x1b[31m".repeat(10_000) + "\nsecond";
    let note = visible(&first_line(&flood));
    assert!(note.len() < 2_000 && !note.chars().any(char::is_control), "{note}");
    assert_eq!(summary(&json!({"command": "ls\nrm -rf /"})), "ls");
}
