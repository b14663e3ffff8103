//! Asking a server without a token, to hear whom it wants to be asked for one.

use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, WWW_AUTHENTICATE};
use reqwest::{Client, Response, StatusCode};
use serde_json::{Value, json};
use tillerman_protocol::mcp::RemoteMcpServer;
use tokio::time::timeout;

use super::flow::CLIENT_NAME;
use crate::transport::http;

/// How long a server may take to refuse.
const PATIENCE: Duration = Duration::from_secs(10);
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// What a server answers to requests without a token: where tokens come from, and for which scopes.
///
/// Servers may say this in answer to requests of the protocol only, and some let everybody shake
/// hands and want tokens for what they offer.
pub(super) async fn challenge(remote: &RemoteMcpServer) -> Option<String> {
    timeout(PATIENCE, Probe::new(remote).await?.ask()).await.ok().flatten()
}

struct Probe<'a> {
    client: Client,
    url: &'a str,
    headers: HeaderMap,
}

impl<'a> Probe<'a> {
    async fn new(remote: &'a RemoteMcpServer) -> Option<Self> {
        let client = http::client(&remote.url).await.ok()?;
        let headers = http::headers(&remote.headers).ok()?.into_iter().collect();
        Some(Self { client, url: remote.url.trim(), headers })
    }

    async fn ask(mut self) -> Option<String> {
        let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": CLIENT_NAME, "version": env!("CARGO_PKG_VERSION")},
        }});
        let welcome = self.post(&hello).await?;
        if welcome.status() == StatusCode::UNAUTHORIZED {
            return challenge_in(&welcome);
        }
        let session = welcome.headers().get(SESSION).cloned();
        self.headers.extend(session.clone().map(|session| (SESSION, session)));
        let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"});
        let challenge = self.post(&list).await.and_then(|listed| challenge_in(&listed));
        if session.is_some() {
            // A server that does not end sessions on request forgets them by itself.
            drop(self.client.delete(self.url).headers(self.headers).send().await);
        }
        challenge
    }

    async fn post(&self, message: &Value) -> Option<Response> {
        let request = self.client.post(self.url).headers(self.headers.clone());
        let request = request.header(ACCEPT, "application/json, text/event-stream");
        let request = request.header(CONTENT_TYPE, "application/json").body(message.to_string());
        request.send().await.ok()
    }
}

/// Of several challenges, the one that tells most.
fn challenge_in(response: &Response) -> Option<String> {
    if response.status() != StatusCode::UNAUTHORIZED {
        return None;
    }
    let texts = response.headers().get_all(WWW_AUTHENTICATE).iter();
    let mut texts = texts.filter_map(|text| text.to_str().ok()).peekable();
    let first = texts.peek().copied();
    let telling = texts.find(|text| text.contains("resource_metadata="));
    telling.or(first).map(str::to_owned)
}
