//! What needs a desktop: done with its programs, or said to be impossible.

use serde_json::json;

use crate::stage::Stage;

#[tokio::test]
async fn without_a_desktop_tools_say_so() {
    let stage = Stage::new();
    stage.write("file.txt", "");
    let calls = [
        ("read_clipboard", json!({})),
        ("write_clipboard", json!({"text": "x"})),
        ("capture_screenshot", json!({})),
        ("open_in_default_app", json!({"path": "file.txt"})),
    ];
    for (tool, input) in calls {
        let why = stage.failure(tool, input).await;
        assert!(why.contains("needs a desktop, and there is none"), "{tool}: {why}");
    }
}

#[tokio::test]
async fn without_the_programs_tools_name_them() {
    let stage = Stage::new().with_variable("DISPLAY", ":7").with_variable("PATH", "/nowhere");
    let why = stage.failure("read_clipboard", json!({})).await;
    assert!(why.contains("xclip, xsel"), "{why}");
    let why = stage.failure("capture_screenshot", json!({})).await;
    assert!(why.contains("scrot"), "{why}");
    let stage = stage.with_variable("WAYLAND_DISPLAY", "wayland-0");
    let why = stage.failure("write_clipboard", json!({"text": "x"})).await;
    assert!(why.contains("wl-copy, xclip, xsel"), "{why}");
}

#[tokio::test]
async fn the_clipboard_is_read_with_the_display_and_without_credentials() {
    let stage = Stage::new()
        .with_variable("WAYLAND_DISPLAY", "wayland-9")
        .with_variable("OPENAI_API_KEY", "hidden")
        .with_program("wl-paste", "printf 'from %s %s' \"$WAYLAND_DISPLAY\" \"$OPENAI_API_KEY\"");
    let read = stage.answer("read_clipboard", json!({})).await;
    assert_eq!(read["text"], "from wayland-9 ");
}

#[tokio::test]
async fn the_clipboard_is_written() {
    let stage = Stage::new().with_variable("DISPLAY", ":0");
    let copy = stage.path("copy").display().to_string();
    let stage = stage.with_program("xclip", &format!("/bin/cat > {copy}"));
    let written = stage.answer("write_clipboard", json!({"text": "grüße"})).await;
    assert_eq!(written["bytes_written"], 7);
    assert_eq!(std::fs::read_to_string(copy).unwrap(), "grüße");
}

#[tokio::test]
async fn a_clipboard_that_cannot_be_read_is_an_error() {
    let stage = Stage::new()
        .with_variable("DISPLAY", ":0")
        .with_program("xclip", "echo 'Error: target STRING not available' >&2; exit 1");
    let why = stage.failure("read_clipboard", json!({})).await;
    assert!(why.contains("target STRING not available"), "{why}");
}

#[tokio::test]
async fn files_are_opened_but_programs_are_not() {
    let stage = Stage::new().with_variable("DISPLAY", ":0");
    let note = stage.path("opened").display().to_string();
    let stage = stage.with_program("xdg-open", &format!("echo \"$1\" >> {note}"));
    stage.write("report.pdf", "");
    stage.write("evil.desktop", "");
    stage.write("tool", "");
    let file = stage.root().join("tool");
    std::fs::set_permissions(file, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let opened = stage.answer("open_in_default_app", json!({"path": "report.pdf"})).await;
    assert_eq!(opened["opened"], true);
    for path in ["evil.desktop", "tool"] {
        let why = stage.failure("open_in_default_app", json!({"path": path})).await;
        assert!(why.contains("is a program"), "{path}: {why}");
    }
    let opened = std::fs::read_to_string(note).unwrap();
    assert_eq!(opened, format!("{}\n", stage.root().join("report.pdf").display()));
}

#[tokio::test]
async fn the_machine_is_described() {
    let stage = Stage::new();
    let told = stage.answer("get_system_info", json!({})).await;
    assert_eq!(told["platform"], std::env::consts::OS);
    assert_eq!(told["desktop"], if cfg!(target_os = "macos") { "macos" } else { "none" });
    assert!(told["cpus"].as_u64().unwrap() >= 1);
    assert!(told["disk_available_bytes"].as_u64().unwrap() > 0);
    let stage = stage.with_variable("WAYLAND_DISPLAY", "wayland-0");
    let told = stage.answer("get_system_info", json!({})).await;
    assert_ne!(told["desktop"], "none");
}
