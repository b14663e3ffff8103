//! Last words are the end of what was said, and tell no credential.

use serde_json::json;

use super::Secrets;

#[test]
fn the_last_lines_are_shown_and_what_nobody_sees_is_escaped() {
    let secrets = Secrets::default();
    let said: String = (0..40).map(|number| format!("line {number}\n\n")).collect();
    let shown = secrets.last_words(said.as_bytes());
    assert_eq!(
        shown.lines().collect::<Vec<_>>(),
        [34, 35, 36, 37, 38, 39].map(|n| format!("line {n}"))
    );
    assert_eq!(secrets.last_words(b"\x1b[31mred\xff\n"), "\\u{001b}[31mred\u{fffd}");
    let long = secrets.last_words(format!("begin{}end", "x".repeat(5_000)).as_bytes());
    assert!(long.ends_with("end") && long.len() == 600, "{}", long.len());
    assert_eq!(secrets.last_words(b""), "");
}

#[test]
fn credentials_are_taken_out_wherever_they_came_from() {
    let mut secrets = Secrets::default();
    secrets.note("ANTHROPIC_API_KEY", "sk-ant-0123456789");
    secrets.note("ANTHROPIC_CUSTOM_HEADERS", "X-One: header-value-1\nX-Two: header-value-2");
    secrets.note("ANTHROPIC_BASE_URL", "https://user-name:pass-word-1@proxy.example/v1?a=b@c");
    secrets.note("PATH", "/usr/local/sbin");
    secrets.note_server(
        &json!({"url": "https://x.example", "headers": {"Authorization": "Bearer abcdefghij"},
        "nested": {"env": {"GITHUB_TOKEN": "ghp_0123456789"}}}),
    );
    let said =
        "sk-ant-0123456789 header-value-2 pass-word-1 abcdefghij ghp_0123456789 /usr/local/sbin";
    let shown = secrets.last_words(said.as_bytes());
    assert_eq!(shown, format!("{}/usr/local/sbin", "[redacted] ".repeat(5)));
    assert_eq!(
        secrets.last_words(b"https://user-name:pass-word-1@proxy.example"),
        "https://[redacted]@proxy.example"
    );
    assert!(!format!("{secrets:?}").contains("sk-ant"));
}
