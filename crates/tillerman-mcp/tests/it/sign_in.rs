//! Signing in to servers that want authorization.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::{Value, json};
use tillerman_mcp::{CallbackError, CredentialFiles, SignIn, SignInError, SignInOptions};
use tillerman_ports::McpServers as _;
use tillerman_protocol::control::McpRequest;
use tokio::time::timeout;

use crate::authorization::{Shared, office, sent_back, visit};
use crate::stage::{PATIENCE, Stage, hub, limits, named};

/// Tokens that are good for the whole test.
pub(crate) const LONG: u64 = 3600;

pub(crate) fn http(office: &Shared) -> Value {
    json!({"type": "http", "url": format!("{}/mcp", office.lock().unwrap().url)})
}

fn files(stage: &Stage) -> CredentialFiles {
    CredentialFiles::new(stage.path("tokens"))
}

async fn begin(stage: &Stage, config: &Value) -> Result<SignIn, SignInError> {
    let server = named("s", config.clone());
    SignIn::begin(&files(stage), &server, SignInOptions::default()).await
}

/// Signs in with a browser on this machine.
pub(crate) async fn sign_in(stage: &Stage, config: &Value) {
    let sign_in = begin(stage, config).await.unwrap();
    let back = sent_back(sign_in.url()).await;
    let (page, callback) = tokio::join!(visit(&back), timeout(PATIENCE, sign_in.redirected()));
    assert!(page.contains("200 OK") && page.contains("Tillerman has the answer"), "{page}");
    sign_in.finish(callback.unwrap().unwrap()).await.unwrap();
}

fn kept(directory: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|it| it == "json")).collect()
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

pub(crate) async fn connected(stage: &Stage) {
    stage.until("the connection", |stage| stage.status("s").status == "connected").await;
}

/// Has the hub connect to these servers, as a host does.
async fn set(stage: &Stage, servers: Value) {
    let servers = serde_json::from_value(servers).unwrap();
    stage.hub.carry_out(McpRequest::McpSetServers { servers }).await.unwrap();
}

#[tokio::test]
async fn a_server_waits_for_the_sign_in_and_then_connects_by_itself() {
    let (office, _tasks) = office(LONG, false).await;
    let config = http(&office);
    let stage = hub(vec![named("s", config.clone())], limits());
    stage.ready().await;
    assert_eq!(stage.status("s").status, "needs-auth");
    assert!(stage.status("s").error.unwrap().contains("tillerman mcp login"));

    sign_in(&stage, &config).await;
    connected(&stage).await;
    assert_eq!(stage.text("echo", json!({"t": 1})).await, r#"{"t":1}"#);

    {
        let office = office.lock().unwrap();
        assert_eq!(office.registered[0]["client_name"], "Tillerman");
        assert_eq!(office.asked[0]["code_challenge_method"], "S256");
        assert_eq!(office.asked[0]["scope"], "notes");
        assert_eq!(office.asked[0]["resource"], format!("{}/", office.url));
    }
    let tokens = stage.path("tokens");
    assert_eq!((mode(&tokens), mode(&kept(&tokens)[0])), (0o700, 0o600));
    let shown = serde_json::to_string(&stage.hub.status()).unwrap();
    assert!(!shown.contains("access-") && !shown.contains("refresh-"), "{shown}");
    stage.end().await;
}

#[tokio::test]
async fn tokens_that_are_about_to_expire_are_renewed_by_a_client_with_its_secret() {
    let (office, _tasks) = office(1, true).await;
    let config = http(&office);
    let stage = hub(vec![named("s", config.clone())], limits());
    stage.ready().await;
    sign_in(&stage, &config).await;
    connected(&stage).await;
    assert_eq!(stage.text("echo", json!({})).await, "{}");
    stage.end().await;
    let office = office.lock().unwrap();
    let grants: Vec<&str> = office.exchanged.iter().map(|it| it["grant_type"].as_str()).collect();
    assert!(grants.len() > 1 && grants[1..].iter().all(|it| *it == "refresh_token"), "{grants:?}");
    let text = std::fs::read_to_string(&kept(&stage.path("tokens"))[0]).unwrap();
    assert!(text.contains(&format!("access-{}", office.count)), "the new token was not kept");
}

#[tokio::test]
async fn tokens_that_are_no_longer_accepted_are_renewed_over_both_transports() {
    for (kind, path, said) in [("http", "mcp", "{}"), ("sse", "sse", "over events")] {
        let (office, _tasks) = office(LONG, false).await;
        let url = format!("{}/{path}", office.lock().unwrap().url);
        let config = json!({"type": kind, "url": url});
        let stage = hub(Vec::new(), limits());
        set(&stage, json!({"s": config})).await;
        assert_eq!(stage.status("s").status, "needs-auth", "{kind}");
        set(&stage, json!({})).await;
        sign_in(&stage, &config).await;
        office.lock().unwrap().valid.clear();
        set(&stage, json!({"s": config})).await;
        assert_eq!(stage.text("echo", json!({})).await, said);
        assert_eq!(office.lock().unwrap().exchanged.len(), 2, "{kind}");
        office.lock().unwrap().valid.clear();
        assert_eq!(stage.text("echo", json!({})).await, said);
        stage.end().await;
    }
}

#[tokio::test]
async fn a_server_that_refuses_new_tokens_is_not_asked_without_end() {
    let (office, _tasks) = office(LONG, false).await;
    let config = http(&office);
    let stage = hub(Vec::new(), limits());
    sign_in(&stage, &config).await;
    office.lock().unwrap().refuses = true;
    set(&stage, json!({"s": config})).await;
    assert_eq!(stage.status("s").status, "needs-auth");
    let renewals = office.lock().unwrap().exchanged.len();
    assert!(renewals > 1);
    // Longer than a server that waits for a sign-in rests between two looks.
    tokio::time::sleep(std::time::Duration::from_millis(1500)).await;
    assert_eq!(stage.status("s").status, "needs-auth");
    assert_eq!(office.lock().unwrap().exchanged.len(), renewals);
    stage.end().await;
}

#[tokio::test]
async fn the_address_of_a_browser_elsewhere_can_be_pasted() {
    let (office, _tasks) = office(LONG, false).await;
    let config = http(&office);
    let stage = hub(Vec::new(), limits());
    let sign_in = begin(&stage, &config).await.unwrap();
    let back = sent_back(sign_in.url()).await;
    let foreign = back.replace("state=", "state=x");
    assert_eq!(sign_in.read("hello").unwrap_err(), CallbackError::NotAnAddress);
    assert_eq!(sign_in.read(&foreign).unwrap_err(), CallbackError::Foreign);
    assert_eq!(sign_in.read(&back.replace("code=", "c=")).unwrap_err(), CallbackError::Empty);

    // Neither does a page that only knows the port end the sign-in.
    let waiting = async {
        assert!(visit(&foreign).await.contains("400 Bad Request"));
        assert!(visit(&back.replace("/callback", "/")).await.contains("404 Not Found"));
    };
    tokio::select! {
        () = waiting => {}
        early = sign_in.redirected() => panic!("{early:?}"),
    }
    let callback = sign_in.read(&format!("  {back}\n")).unwrap();
    assert!(!format!("{callback:?}").contains("code-1"));
    sign_in.finish(callback).await.unwrap();
    assert_eq!(kept(&stage.path("tokens")).len(), 1);
}

#[tokio::test]
async fn a_refusal_ends_the_sign_in_and_keeps_nothing() {
    let (office, _tasks) = office(LONG, false).await;
    let mut config = http(&office);
    config["oauth"] = json!({"clientId": "mine", "scopes": "nothing"});
    let stage = hub(Vec::new(), limits());
    let sign_in = begin(&stage, &config).await.unwrap();
    let back = sent_back(sign_in.url()).await;
    let (page, answer) = tokio::join!(visit(&back), timeout(PATIENCE, sign_in.redirected()));
    let why = CallbackError::Refused("access_denied".to_owned());
    assert_eq!(answer.unwrap().unwrap_err(), why);
    assert!(page.contains("refused"), "{page}");
    assert!(office.lock().unwrap().registered.is_empty(), "a named client was registered");
    assert_eq!(office.lock().unwrap().asked[0]["client_id"], "mine");
    assert!(kept(&stage.path("tokens")).is_empty());
}

#[tokio::test]
async fn an_address_for_signing_in_that_is_not_secure_is_refused() {
    let (office, _tasks) = office(LONG, false).await;
    let stage = hub(Vec::new(), limits());
    for address in ["file:///etc/passwd", "javascript:alert(1)", "http://evil.invalid/$(calc)"] {
        office.lock().unwrap().conduct.authorizes_at = Some(address.to_owned());
        let refused = begin(&stage, &http(&office)).await;
        assert!(refused.is_err(), "{address} was accepted");
    }
    office.lock().unwrap().conduct.authorizes_at = None;
    begin(&stage, &http(&office)).await.unwrap();
}

#[tokio::test]
async fn only_remote_servers_that_keep_tokens_safe_are_signed_in_to() {
    let stage = hub(Vec::new(), limits());
    let why = |outcome: Result<SignIn, SignInError>| outcome.unwrap_err().to_string();
    let child = begin(&stage, &json!({"command": "server"})).await;
    assert!(why(child).contains("only servers of the types http and sse"));
    let plain = begin(&stage, &json!({"type": "http", "url": "http://example.invalid/mcp"})).await;
    assert!(why(plain).contains("tokens are not sent there"));
    let own = json!({"type": "http", "url": "https://example.invalid/mcp",
        "headers": {"authorization": "Bearer x"}});
    assert!(why(begin(&stage, &own).await).contains("Authorization header"));
}

#[tokio::test]
async fn tokens_are_forgotten_and_never_given_to_another_address() {
    let (office, _tasks) = office(LONG, false).await;
    let config = http(&office);
    let stage = hub(Vec::new(), limits());
    sign_in(&stage, &config).await;

    let (other, _others) = crate::authorization::office(LONG, false).await;
    other.lock().unwrap().valid.clone_from(&office.lock().unwrap().valid);
    set(&stage, json!({"s": http(&other)})).await;
    assert_eq!(stage.status("s").status, "needs-auth");

    let files = files(&stage);
    assert!(!files.forget("t").unwrap());
    assert!(files.forget("s").unwrap());
    assert!(!files.forget("s").unwrap());
    assert!(kept(&stage.path("tokens")).is_empty());
    stage.end().await;
}
