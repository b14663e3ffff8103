//! Credentials stay where they belong: in requests, and nowhere else.

use serde_json::json;
use tillerman_testkit::{ScriptedServer, fault, response, script};

use crate::harness::{FRAMES_OUT, Finished, World, tool_result_texts};

const SECRET: &str = "sk-ant-SECRET-0123456789abcdef";

/// Looks for the key in everything that was printed or stored.
#[track_caller]
fn assert_kept_secret(world: &World, finished: &Finished) {
    assert!(!finished.text().contains(SECRET), "the key is on stdout");
    assert!(!finished.stderr.contains(SECRET), "the key is on stderr");
    let mut places = vec![world.config(), world.path("home"), world.path("work")];
    while let Some(place) = places.pop() {
        for entry in std::fs::read_dir(place).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if path.is_dir() {
                places.push(path);
            } else {
                let bytes = std::fs::read(&path).unwrap();
                let text = String::from_utf8_lossy(&bytes);
                assert!(!text.contains(SECRET), "the key is in {}", path.display());
            }
        }
    }
}

#[tokio::test]
async fn tools_logs_and_transcripts_never_see_the_key() {
    for variable in ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"] {
        let world = World::new();
        let replies = script()
            .reply(response().tool_call("Bash", json!({ "command": "env; env > env.txt" })))
            .reply(response().text("fine"));
        let server = ScriptedServer::start(replies).await;
        let launch = world.tillerman().env("ANTHROPIC_BASE_URL", server.url());
        let launch = launch.env(variable, SECRET).env("HARMLESS", "visible").unguarded();
        let arguments = FRAMES_OUT.into_iter().chain(["--debug", "hello"]);
        let finished = launch.args(arguments).run().await;
        finished.assert_code(0).assert_no_panic();
        let [shown] = tool_result_texts(&finished.frames()).try_into().unwrap();
        assert!(shown.contains("HARMLESS=visible"), "{shown}");
        assert!(!shown.contains(variable), "{shown}");
        let headers = server.request(0).headers;
        assert!(headers.values().any(|value| value.contains(SECRET)), "it was sent to nobody");
        assert_kept_secret(&world, &finished);
    }
}

#[tokio::test]
async fn a_child_cannot_read_the_environment_of_the_program() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let world = World::new();
    for place in ["", "home", "config", "work"] {
        let open = std::fs::Permissions::from_mode(0o777);
        std::fs::set_permissions(world.path(place), open).unwrap();
    }
    let Some(launch) = world.tillerman().env("ANTHROPIC_API_KEY", SECRET).by_somebody() else {
        return println!("skipped: the program cannot be started as another user here");
    };
    let mut agent = launch.start();
    let hello = json!({"subtype": "initialize", "hooks": null});
    agent.send(json!({"type": "control_request", "request_id": "1", "request": hello})).await;
    agent.frame("the handshake", |frame| frame["type"] == "control_response").await;
    let process = format!("/proc/{}", agent.child.id().unwrap());
    let status = std::fs::read_to_string(format!("{process}/status")).unwrap();
    let uid = status.lines().find_map(|line| line.strip_prefix("Uid:\t")).unwrap();
    assert!(!uid.starts_with("0\t"), "{uid}");
    // What belongs to a process that nobody may look into is root's, whoever it runs as.
    for name in ["environ", "mem", "fd"] {
        let owner = std::fs::metadata(format!("{process}/{name}")).unwrap().uid();
        assert_eq!(owner, 0, "{name} is open to other processes of the user");
    }
    let line = std::fs::read(format!("{process}/cmdline")).unwrap();
    assert!(!String::from_utf8_lossy(&line).contains(SECRET));
}

#[tokio::test]
async fn refusals_that_repeat_the_key_are_cleaned() {
    for status in [400, 401, 500] {
        let world = World::new();
        let echo = fault::status(status).message(format!("bad header x-api-key: {SECRET}!"));
        let server = ScriptedServer::start(script().reply(echo.says_do_not_retry())).await;
        let launch = world.tillerman().asks(&server).env("ANTHROPIC_API_KEY", SECRET);
        let finished = launch.args(FRAMES_OUT).args(["--debug", "hello"]).run().await;
        finished.assert_code(1);
        let text = finished.result()["result"].as_str().unwrap().to_owned();
        assert!(text.contains("bad header x-api-key: [redacted]!"), "{text}");
        assert_kept_secret(&world, &finished);
    }
}

#[tokio::test]
async fn errors_in_the_stream_that_repeat_the_key_are_cleaned() {
    let world = World::new();
    let message = format!("the key {SECRET} is tired");
    let error = response().text("hm").error_after_events(2, "authentication_error", &message);
    let server = ScriptedServer::start(script().reply(error)).await;
    let launch = world.tillerman().asks(&server).env("ANTHROPIC_API_KEY", SECRET);
    let finished = launch.args(FRAMES_OUT).args(["--debug", "hello"]).run().await;
    finished.assert_code(1);
    assert!(finished.text().contains("the key [redacted] is tired"), "{}", finished.text());
    assert_kept_secret(&world, &finished);
}

#[tokio::test]
async fn a_password_in_the_base_url_is_not_shown() {
    let world = World::new();
    let server = ScriptedServer::start(script()).await;
    let port = server.url().rsplit(':').next().unwrap().to_owned();
    drop(server);
    let url = format!("http://user:{SECRET}@127.0.0.1:{port}");
    let launch =
        world.tillerman().env("ANTHROPIC_BASE_URL", url).env("ANTHROPIC_API_KEY", "dummy-key");
    let launch = launch.env("CLAUDE_CODE_MAX_RETRIES", "0");
    let finished = launch.args(FRAMES_OUT).args(["--debug", "hello"]).run().await;
    finished.assert_code(1);
    assert_kept_secret(&world, &finished);
}
