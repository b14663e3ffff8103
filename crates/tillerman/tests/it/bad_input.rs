//! Programs that are missing, old, broken or silent are errors that say what to do.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tillerman::transport::{Subprocess, WebSocket};
use tillerman::{Client, ErrorKind, Options, Retry, query};

use crate::world::{collect, within};

/// A program that says these lines, reads one line between the first and the rest, and ends.
fn program(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn greet(version: &str) -> String {
    format!(
        r#"read line; echo '{{"type":"control_response","response":{{"subtype":"success","request_id":"req_1","response":{{"claude_code_version":"{version}"}}}}}}'"#
    )
}

const RESULT: &str = r#"echo '{"type":"result","subtype":"success","is_error":false,"duration_ms":1,"duration_api_ms":1,"num_turns":1,"result":"hi","session_id":"s"}'"#;

#[tokio::test]
async fn a_program_that_is_missing_is_not_found() {
    let options = Options::new().path_to_executable("/nowhere/at/all");
    let error = Client::connect(options).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert_eq!(error.retry(), Retry::AfterChange);
    assert!(error.to_string().contains("/nowhere/at/all"), "{error}");
}

#[tokio::test]
async fn a_directory_that_is_missing_is_not_found() {
    let options = Options::new().transport(Subprocess::at("/bin/cat")).cwd("/nowhere/at/all");
    let error = Client::connect(options).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.to_string().contains("working directory"), "{error}");
}

#[tokio::test]
async fn a_file_that_is_no_program_cannot_be_started() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("text"), "hello").unwrap();
    let options = Options::new().path_to_executable(folder.path().join("text"));
    let error = Client::connect(options).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Connection);
}

#[tokio::test]
async fn a_program_of_an_old_version_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let old = program(folder.path(), "old", &format!("{}; cat > /dev/null", greet("1.0.93")));
    let error = Client::connect(Options::new().path_to_executable(old)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Version);
    assert!(error.to_string().contains("1.0.93"), "{error}");
}

#[tokio::test]
async fn a_process_that_dies_is_an_error_with_its_last_words() {
    let folder = tempfile::tempdir().unwrap();
    let dies = program(folder.path(), "dies", "echo 'out of cheese' >&2; exit 42");
    let error = Client::connect(Options::new().path_to_executable(dies)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Process);
    assert_eq!(error.exit_code(), Some(42));
    assert!(error.stderr().contains("out of cheese"));
    let text = format!("{}; read prompt; echo 'it hurts' >&2; kill -9 $$", greet("2.1.0"));
    let later = program(folder.path(), "later", &text);
    let messages = collect(query("hello", Options::new().path_to_executable(later))).await;
    let error = messages.into_iter().find_map(Result::err).unwrap();
    assert_eq!((error.kind(), error.exit_code()), (ErrorKind::Process, Some(137)));
    assert!(error.to_string().contains("it hurts"), "{error}");
}

#[tokio::test]
async fn lines_that_are_no_frames_are_reported_and_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let text = format!(
        "{}; read prompt; echo 'a banner'; echo '{{broken'; echo '{{\"type\":\"news\",\"x\":1}}'; {RESULT}",
        greet("2.1.0"),
    );
    let odd = program(folder.path(), "odd", &text);
    let messages = collect(query("hello", Options::new().path_to_executable(odd))).await;
    let errors: Vec<ErrorKind> =
        messages.iter().filter_map(|it| it.as_ref().err()).map(tillerman::Error::kind).collect();
    assert_eq!(errors, [ErrorKind::Decode]);
    let unknown = messages
        .iter()
        .flatten()
        .any(|message| matches!(message, tillerman::Message::Unknown(value) if value["x"] == 1));
    assert!(unknown, "{messages:?}");
    assert!(messages.last().unwrap().as_ref().unwrap().as_result().is_some());
}

#[tokio::test]
async fn lines_that_are_too_long_are_reported_and_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let long = "x".repeat(5000);
    let text = format!("{}; read prompt; echo '{{{long}'; {RESULT}", greet("2.1.0"));
    let chatty = program(folder.path(), "chatty", &text);
    let options = Options::new().path_to_executable(chatty).max_line_bytes(4096);
    let messages = collect(query("hello", options)).await;
    let error = messages.iter().find_map(|it| it.as_ref().err()).unwrap();
    assert_eq!(error.kind(), ErrorKind::Decode);
    assert!(error.to_string().contains("max_line_bytes"), "{error}");
}

#[tokio::test]
async fn a_program_that_says_nothing_is_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let mute = program(folder.path(), "mute", "cat > /dev/null");
    let options = Options::new()
        .path_to_executable(mute)
        .start_timeout(Duration::from_millis(50))
        .close_timeout(Duration::from_millis(50));
    let error = within(Client::connect(options)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout);
    assert_eq!(error.retry(), Retry::AfterPause);
}

#[tokio::test]
async fn a_request_that_is_not_answered_is_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let slow = program(folder.path(), "slow", &format!("{}; cat > /dev/null", greet("2.1.0")));
    let options = Options::new()
        .path_to_executable(slow)
        .request_timeout(Duration::from_millis(50))
        .close_timeout(Duration::from_millis(50));
    let client = within(Client::connect(options)).await.unwrap();
    assert_eq!(within(client.interrupt()).await.unwrap_err().kind(), ErrorKind::Timeout);
    let controls = client.controls();
    within(client.close()).await.unwrap();
    assert_eq!(controls.send("hello").await.unwrap_err().kind(), ErrorKind::Closed);
}

#[tokio::test]
async fn an_engine_without_state_frames_ends_after_its_result() {
    let folder = tempfile::tempdir().unwrap();
    let text = format!("{}; read prompt; {RESULT}; cat > /dev/null", greet("2.1.0"));
    let plain = program(folder.path(), "plain", &text);
    let answer = within(query("hello", Options::new().path_to_executable(plain)).answer()).await;
    assert_eq!(answer.unwrap().text, "hi");
}

#[tokio::test]
async fn a_host_that_cannot_be_reached_is_an_error() {
    let options = Options::new().transport(WebSocket::new("ws://127.0.0.1:1", "token"));
    let error = within(Client::connect(options)).await.unwrap_err();
    assert_eq!((error.kind(), error.retry()), (ErrorKind::Connection, Retry::AfterPause));
    let options = Options::new().transport(WebSocket::new("not an address", "token"));
    let error = within(Client::connect(options)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidOptions);
}

#[tokio::test]
async fn a_host_that_does_not_know_the_token_refuses() {
    let host = crate::host::start().await;
    let socket = WebSocket::new(format!("ws://{}", host.address), "guessed");
    assert!(!format!("{socket:?}").contains("guessed"));
    let error = within(Client::connect(Options::new().transport(socket))).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused);
    assert!(error.to_string().contains("token"), "{error}");
}

#[tokio::test]
async fn flags_that_an_engine_in_this_process_does_not_have_are_refused() {
    let options = Options::new().extra_arg("chrome", None);
    let error = Client::connect(options).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("--chrome"), "{error}");
}
