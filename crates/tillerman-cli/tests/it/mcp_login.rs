//! Signing in to MCP servers and out again, from the command line.

use std::process::Stdio;

use serde_json::{Value, json};
use tillerman_testkit::{ScriptedServer, response, script};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};

use crate::harness::{FRAMES_OUT, World, within};

const AUTHORIZATION: &str = include_str!("authorization.py");
/// What nobody may ever see.
const SECRETS: [&str; 4] =
    ["access-token-of-the-test", "refresh-token-of-the-test", "code-of-the-test", "id-of-the-test"];

/// Starts an authorization server; the result is the configuration of the server it protects.
async fn protected(world: &World) -> (Child, String) {
    let path = world.path("authorization.py");
    std::fs::write(&path, AUTHORIZATION).unwrap();
    let mut command = Command::new("python3");
    let mut child = command.arg(path).stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
    let mut url = String::new();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    within("the authorization server", lines.read_line(&mut url)).await.unwrap();
    let server = json!({"type": "http", "url": format!("{}/mcp", url.trim())});
    (child, json!({"mcpServers": {"s": server}}).to_string())
}

/// Where a browser that opens this address is sent.
async fn sent_back(url: &str) -> String {
    let (host, target) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).await.unwrap();
    let request = format!("GET /{target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    within("the page", stream.read_to_string(&mut answer)).await.unwrap();
    let location = answer.lines().find_map(|line| line.strip_prefix("location: "));
    location.unwrap_or_else(|| panic!("{answer}")).to_owned()
}

fn assert_no_secret(text: &str) {
    for secret in SECRETS {
        assert!(!text.contains(secret), "{secret} is in:\n{text}");
    }
}

/// A session that calls the server's tool and looks for its tokens; the result is its first frame.
async fn session(world: &World, config: &str) -> Value {
    let look = format!("cat {}/mcp-credentials/*.json; env", world.config().display());
    let replies = script()
        .reply(response().tool_call("mcp__s__echo", json!({})))
        .reply(response().tool_call("Bash", json!({"command": look})))
        .reply(response().text("done"));
    let model = ScriptedServer::start(replies).await;
    let launch = world.tillerman().asks(&model).env("MCP_CLIENT_SECRET", SECRETS[2]).unguarded();
    let launch = launch.args(FRAMES_OUT).args(["--debug", "--mcp-config", config, "--", "go"]);
    let finished = launch.run().await;
    finished.assert_code(0).assert_no_panic();
    assert_no_secret(&finished.text());
    assert_no_secret(&finished.stderr);
    for transcript in world.transcripts() {
        assert_no_secret(&std::fs::read_to_string(transcript).unwrap());
    }
    let frames = finished.frames();
    let init = frames.iter().find(|frame| frame["subtype"] == "init").unwrap();
    let called = finished.text().contains("let in");
    json!({"status": init["mcp_servers"][0]["status"], "called": called})
}

#[tokio::test]
async fn people_sign_in_without_a_browser_on_the_machine_and_out_again() {
    let world = World::new();
    let (_server, config) = protected(&world).await;
    let before = session(&world, &config).await;
    assert_eq!(before, json!({"status": "needs-auth", "called": false}));

    let login = ["--mcp-config", &config, "--debug", "mcp", "login", "s"];
    let mut login = world.tillerman().args(login).start_as_is();
    let mut said = String::new();
    let url = loop {
        let line = login.line().await.unwrap();
        if line.starts_with("http://") {
            break line.trim().to_owned();
        }
        said.push_str(&line);
    };
    assert!(said.contains("To sign in to s, open this address"), "{said}");
    let back = sent_back(&url).await;
    login.send_bytes(b"http://localhost/callback?code=x&state=y\n").await.unwrap();
    while !login.line().await.unwrap().contains("does not belong to this sign-in") {}
    login.send_bytes(format!("{back}\n").as_bytes()).await.unwrap();
    while !login.line().await.unwrap().contains("Signed in to s.") {}
    let (finished, _) = login.finish().await;
    finished.assert_code(0).assert_no_panic();
    assert_no_secret(&finished.stderr);

    let after = session(&world, &config).await;
    assert_eq!(after, json!({"status": "connected", "called": true}));

    let logout = world.tillerman().args(["mcp", "logout", "s"]).run().await;
    assert!(logout.assert_code(0).text().contains("Signed out of s"), "{}", logout.text());
    let again = world.tillerman().args(["mcp", "logout", "s"]).run().await;
    assert!(again.assert_code(0).text().contains("Nobody was signed in to s"));
    assert_eq!(session(&world, &config).await, before);
}

#[tokio::test]
async fn what_cannot_be_signed_in_to_is_named() {
    let world = World::new();
    let config = json!({"mcpServers": {"child": {"command": "server"}}}).to_string();
    let login = |name: &'static str| {
        world.tillerman().args(["--mcp-config", &config, "--debug", "mcp", "login", name]).run()
    };
    login("child").await.assert_code(1).assert_stderr("only servers of the types http and sse");
    login("nobody").await.assert_code(1).assert_stderr("There is no MCP server called nobody");
}
