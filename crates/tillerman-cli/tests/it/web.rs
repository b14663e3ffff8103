//! The web as tools reach it.

use std::time::Duration;

use serde_json::json;
use tillerman_testkit::{ScriptedServer, response, script};
use tokio::net::TcpListener;

use crate::harness::{FRAMES_OUT, World, tool_result_texts};

#[tokio::test]
async fn a_proxy_of_the_environment_is_no_way_around_the_check_of_addresses() {
    let world = World::new();
    let proxy = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", proxy.local_addr().unwrap());
    let urls = ["http://169.254.169.254/latest/meta-data/", "http://2130706433/", "http://127.1/"];
    let fetch =
        |url: &str| response().tool_call("WebFetch", json!({"url": url, "prompt": "what?"}));
    let mut replies = script();
    for url in urls {
        replies = replies.reply(fetch(url));
    }
    let server = ScriptedServer::start(replies.reply(response().text("no"))).await;
    let mut launch = world.tillerman().asks(&server).unguarded();
    for name in ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY"] {
        launch = launch.env(name, &address);
    }
    // The model's own server is on this machine and reached without a proxy.
    let finished = launch.args(FRAMES_OUT).args(["look"]).run().await;
    finished.assert_code(0).assert_no_panic();
    let told = tool_result_texts(&finished.frames());
    assert_eq!(told.len(), urls.len(), "{told:?}");
    let asked = tokio::time::timeout(Duration::from_millis(20), proxy.accept()).await;
    assert!(asked.is_err(), "the proxy was asked: {told:?}");
}
