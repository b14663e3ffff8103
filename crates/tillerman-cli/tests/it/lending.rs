//! Credentials of the settings that commands use, while neither they nor the model see them.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::{Value, json};
use tillerman_testkit::{ScriptedServer, response, script};

use crate::harness::{Launch, World, tool_result_texts};

/// For 127.0.0.1, signed by itself.
const CERTIFICATE: &str = include_str!("../../../tillerman-sandbox/testdata/good.cert.pem");
const KEY: &str = include_str!("../../../tillerman-sandbox/testdata/good.key.pem");

const SECRET: &str = "hub_the-real-secret";

/// An HTTPS server that repeats its callers' credentials in its body, and tells them to the test.
fn upstream() -> (u16, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![CertificateDer::from_pem_slice(CERTIFICATE.as_bytes()).unwrap()],
            PrivateKeyDer::from_pem_slice(KEY.as_bytes()).unwrap(),
        );
    let config = Arc::new(config.unwrap());
    let (tell, told) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let session = ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut reader = BufReader::new(StreamOwned::new(session, stream));
            let lines = reader.by_ref().lines().map_while(Result::ok);
            let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
            let sent = head.iter().find_map(|line| line.strip_prefix("Authorization: "));
            let sent = sent.unwrap_or("nothing").to_owned();
            let length = sent.len();
            let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{sent}");
            drop(reader.get_mut().write_all(answer.as_bytes()));
            drop(tell.send(sent));
        }
    });
    (port, told)
}

/// Whether commands can be confined here at all.
async fn can_confine(world: &World) -> bool {
    !world.tillerman().args(["doctor"]).run().await.text().contains("cannot be confined")
}

fn settings(port: u16, from: &Value) -> String {
    let credential = json!({"name": "hub", "hosts": [format!("127.0.0.1:{port}")],
        "environment": ["HUB_TOKEN"], "from": from});
    json!({"sandbox": {"enabled": true, "network": {"allowedDomains": ["127.0.0.1"]},
        "credentials": [credential]}, "permissions": {"allow": ["Read"]}})
    .to_string()
}

/// A command that sends what stands for the credential and prints the answer.
fn using(port: u16) -> Value {
    let request = format!("GET http://127.0.0.1:{port}/ HTTP/1.1\\r\\nAuthorization: Bearer %s");
    let command = format!(
        "exec 3<>/dev/tcp/127.0.0.1/17391; printf '{request}\\r\\n\\r\\n' \"$HUB_TOKEN\" >&3; \
         cat <&3; env"
    );
    json!({ "command": command })
}

/// The frames of a session that makes these calls.
async fn frames(launch: Launch, calls: &[(&str, Value)]) -> Vec<Value> {
    let replies = calls.iter().fold(script(), |script, (tool, input)| {
        script.reply(response().tool_call(tool, input.clone()))
    });
    let server = ScriptedServer::start(replies.reply(response().text("done"))).await;
    let mut agent = launch.asks(&server).start();
    agent.prompt("work").await;
    agent.result().await;
    let (finished, frames) = agent.finish().await;
    finished.assert_code(0).assert_no_panic();
    assert!(!finished.stderr.contains(SECRET), "{}", finished.stderr);
    let shown = serde_json::to_string(&frames).unwrap();
    assert!(!shown.contains(SECRET), "{shown}");
    frames
}

fn private(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).unwrap();
}

#[tokio::test]
async fn a_session_uses_a_credential_that_nobody_in_it_sees() {
    let world = World::new();
    if !can_confine(&world).await {
        return;
    }
    let authority = world.path("authority.pem");
    std::fs::write(&authority, CERTIFICATE).unwrap();
    let file = world.file("hub.secret");
    private(&file, &format!("{SECRET}\n"));
    let (port, told) = upstream();
    for from in [
        json!({"environment": "HUB_SOURCE"}),
        json!({"file": file}),
        json!({"command": format!("cat {}", file.display())}),
    ] {
        let settings = settings(port, &from);
        let launch = world.tillerman().env("HUB_SOURCE", SECRET).env("SSL_CERT_FILE", &authority);
        let launch = launch.env("HUB_TOKEN", SECRET).args(["--settings", &settings]);
        let calls = [
            ("Bash", using(port)),
            ("Bash", json!({"command": format!("cat {} || true", file.display())})),
            ("Read", json!({"file_path": file})),
        ];
        let frames = frames(launch, &calls).await;
        let texts = tool_result_texts(&frames);
        assert_eq!(told.recv().unwrap(), format!("Bearer {SECRET}"), "{texts:?}");
        // The server repeated it, where only the session can take it out.
        assert!(texts[0].contains("Bearer [redacted]"), "{texts:?}");
        assert!(texts[0].contains("HUB_TOKEN=tillerman-credential-hub-"), "{texts:?}");
        if from.get("environment").is_some() {
            assert!(!texts[0].contains("HUB_SOURCE"), "{texts:?}");
        }
        if from.get("file").is_some() {
            assert!(texts[1].contains("denied") || texts[1].contains("No such"), "{texts:?}");
            assert!(texts[2].contains("sandbox hides it"), "{texts:?}");
        }
    }
}

#[tokio::test]
async fn a_command_is_asked_once_for_many_requests() {
    let world = World::new();
    if !can_confine(&world).await {
        return;
    }
    let authority = world.path("authority.pem");
    std::fs::write(&authority, CERTIFICATE).unwrap();
    private(&world.path("hub.secret"), SECRET);
    let (port, told) = upstream();
    let count = world.path("count");
    let secret = world.path("hub.secret");
    // What it needs of the environment is there, what is lent is not.
    let command =
        format!("echo \"$HOME:$HUB_TOKEN\" >> {}; cat {}", count.display(), secret.display());
    let settings = settings(port, &json!({ "command": command }));
    let launch = world.tillerman().env("HUB_TOKEN", SECRET).env("SSL_CERT_FILE", &authority);
    let calls = [("Bash", using(port)), ("Bash", using(port))];
    frames(launch.args(["--settings", &settings]), &calls).await;
    for _ in 0..2 {
        assert_eq!(told.recv().unwrap(), format!("Bearer {SECRET}"));
    }
    let home = world.path("home");
    assert_eq!(std::fs::read_to_string(count).unwrap(), format!("{}:\n", home.display()));
}

#[tokio::test]
async fn without_a_sandbox_nothing_is_lent_and_somebody_is_told() {
    let world = World::new();
    let settings = settings(1, &json!({"environment": "HUB_SOURCE"})).replace("true", "false");
    let launch = world.tillerman().unguarded().env("HUB_SOURCE", SECRET).env("HUB_TOKEN", SECRET);
    let calls = [("Bash", json!({"command": "env"}))];
    let frames = frames(launch.args(["--settings", &settings]), &calls).await;
    let texts = tool_result_texts(&frames);
    assert!(!texts[0].contains("HUB_"), "{texts:?}");
    let is_notice = |frame: &&Value| frame["key"] == "credentials_not_lent";
    let notice = frames.iter().find(is_notice).expect("nobody was told");
    assert!(notice["text"].as_str().unwrap().contains("sandbox.enabled"), "{notice}");
}

#[tokio::test]
async fn the_doctor_tells_which_credentials_can_be_read() {
    let world = World::new();
    let (open, link) = (world.path("open"), world.path("link"));
    std::fs::write(&open, SECRET).unwrap();
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o644)).unwrap();
    private(&world.path("home").join("mine"), SECRET);
    std::os::unix::fs::symlink(world.path("home").join("mine"), &link).unwrap();
    let credential =
        |name: &str, from: Value| json!({"name": name, "hosts": ["hub.example"], "from": from});
    let settings = json!({"sandbox": {"credentials": [
        credential("variable", json!({"environment": "HUB_SOURCE"})),
        credential("missing", json!({"environment": "HUB_MISSING"})),
        credential("mine", json!({"file": "~/mine"})),
        credential("open", json!({"file": open})),
        credential("link", json!({"file": link})),
        credential("spoken", json!({"command": "cat \"$HOME/mine\""})),
        credential("silent", json!({"command": "false"})),
    ]}});
    std::fs::write(world.config().join("settings.json"), settings.to_string()).unwrap();
    let finished = world.tillerman().env("HUB_SOURCE", SECRET).args(["doctor"]).run().await;
    finished.assert_code(1);
    let text = finished.text();
    for said in [
        "variable can be read, for hub.example",
        "missing cannot be read: HUB_MISSING is not set",
        "mine can be read",
        "open cannot be read: others can read",
        "link cannot be read: ",
        "is a link",
        "spoken can be read",
        "silent cannot be read: its command gave no key",
        "commands are not confined, so none is lent",
    ] {
        assert!(text.contains(said), "{said} is missing in {text}");
    }
    assert!(!text.contains(SECRET) && !finished.stderr.contains(SECRET), "{text}");
}
