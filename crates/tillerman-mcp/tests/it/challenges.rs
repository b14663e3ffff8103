//! What servers answer to requests without a token, or with one that allows too little.

use serde_json::json;

use crate::authorization::{Conduct, office};
use crate::sign_in::{LONG, connected, http, sign_in};
use crate::stage::{hub, limits, named};

#[tokio::test]
async fn a_server_that_tells_only_who_speaks_the_protocol_is_signed_in_to() {
    // Tokens that are renewed at once: renewing needs the same metadata again.
    let (office, _tasks) = office(1, false).await;
    office.lock().unwrap().conduct =
        Conduct { is_terse: true, names_scope: Some("notes:read"), ..Conduct::default() };
    let config = http(&office);
    let stage = hub(vec![named("s", config.clone())], limits());
    stage.ready().await;
    assert_eq!(stage.status("s").status, "needs-auth");
    sign_in(&stage, &config).await;
    connected(&stage).await;
    assert_eq!(stage.text("echo", json!({})).await, "{}");
    stage.end().await;
    let office = office.lock().unwrap();
    assert_eq!(office.asked[0]["scope"], "notes:read");
    assert!(office.exchanged.len() > 1, "the token was never renewed");
}

#[tokio::test]
async fn a_server_that_wants_tokens_after_the_handshake_is_signed_in_to() {
    let (office, _tasks) = office(LONG, false).await;
    let free = &["initialize", "notifications/initialized"];
    office.lock().unwrap().conduct =
        Conduct { names_scope: Some("notes:read"), free, ..Conduct::default() };
    let config = http(&office);
    let stage = hub(vec![named("s", config.clone())], limits());
    stage.ready().await;
    assert_eq!(stage.status("s").status, "needs-auth");
    sign_in(&stage, &config).await;
    connected(&stage).await;
    assert_eq!(stage.text("echo", json!({})).await, "{}");
    stage.end().await;
    assert_eq!(office.lock().unwrap().asked[0]["scope"], "notes:read");
}

#[tokio::test]
async fn what_a_call_needs_beyond_the_token_is_asked_for_by_the_next_sign_in() {
    let (office, _tasks) = office(LONG, false).await;
    let strict = Some(("tools/call", "notes:write"));
    office.lock().unwrap().conduct = Conduct { strict, ..Conduct::default() };
    let config = http(&office);
    let stage = hub(vec![named("s", config.clone())], limits());
    stage.ready().await;
    sign_in(&stage, &config).await;
    connected(&stage).await;
    let why = stage.failure("echo", json!({})).await;
    assert!(why.contains("403: notes:write") && why.contains("tillerman mcp login"), "{why}");
    assert!(!why.contains("may have taken effect"), "{why}");

    sign_in(&stage, &config).await;
    assert_eq!(office.lock().unwrap().asked[1]["scope"], "notes notes:write");
    assert_eq!(stage.text("echo", json!({})).await, "{}");

    // Whoever signs out starts from what the server names to everybody.
    assert!(tillerman_mcp::CredentialFiles::new(stage.path("tokens")).forget("s").unwrap());
    sign_in(&stage, &config).await;
    assert_eq!(office.lock().unwrap().asked[2]["scope"], "notes");
    stage.end().await;
}

#[tokio::test]
async fn a_server_that_refuses_its_list_for_want_of_scopes_waits_for_a_sign_in() {
    let (office, _tasks) = office(LONG, false).await;
    let strict = Some(("tools/list", "notes:list"));
    office.lock().unwrap().conduct = Conduct { strict, ..Conduct::default() };
    let config = http(&office);
    let stage = hub(vec![named("s", config.clone())], limits());
    stage.ready().await;
    sign_in(&stage, &config).await;
    let asks_for_more = |why: Option<String>| why.is_some_and(|why| why.contains("notes:list"));
    stage.until("the demand", |stage| asks_for_more(stage.status("s").error)).await;
    assert_eq!(stage.status("s").status, "needs-auth");
    sign_in(&stage, &config).await;
    connected(&stage).await;
    stage.end().await;
}
