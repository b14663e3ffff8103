//! Configurations, requests and recorded answers that several topics share.

use std::time::Duration;

use futures_util::StreamExt as _;
use serde_json::Map;
use tillerman_models::anthropic::{
    Anthropic, AnthropicConfig, CachePolicy, Credential, USER_AGENT,
};
use tillerman_models::secret::Secret;
use tillerman_ports::Model as _;
use tillerman_protocol::content::{Content, Message, Role};
use tillerman_protocol::model::{ModelEvent, ModelFailure, ModelRequest, SystemBlock, Thinking};

pub(crate) const KEY: &str = "sk-test-0123456789abcdef";

/// A short answer as the API streams it: a ping, two pieces of text, the end.
pub(crate) const RECORDED: &str = "event: message_start\n\
data: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_01\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"claude-haiku-4-5\",\"content\":[],\"usage\":{\"input_tokens\":12,\"output_tokens\":1}}}\n\n\
event: content_block_start\n\
data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n\
event: ping\ndata: {\"type\": \"ping\"}\n\n\
event: content_block_delta\n\
data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Grüße, \"}}\n\n\
event: content_block_delta\n\
data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Welt 🌍\"}}\n\n\
event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n\
event: message_delta\n\
data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":9}}\n\n\
event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";

pub(crate) fn config(base_url: &str) -> AnthropicConfig {
    AnthropicConfig {
        base_url: base_url.to_owned(),
        credential: Credential::ApiKey(Secret::new(KEY)),
        custom_headers: Vec::new(),
        betas: Vec::new(),
        extra_body: Map::new(),
        user_agent: USER_AGENT.to_owned(),
        cache: CachePolicy::FiveMinutes,
        connect_timeout: Duration::from_secs(5),
        request_timeout: Duration::from_secs(5),
        idle_timeout: Duration::from_secs(5),
    }
}

pub(crate) fn request() -> ModelRequest {
    ModelRequest {
        model: "claude-haiku-4-5".to_owned(),
        system: vec![SystemBlock { text: "Be brief.".to_owned() }],
        messages: vec![said(Role::User, "Hello")],
        tools: Vec::new().into(),
        max_tokens: 1_000,
        thinking: Thinking::Unset,
        effort: None,
        betas: Vec::new(),
        session: "a-session".to_owned(),
        extra_body: Map::new(),
    }
}

pub(crate) fn said(role: Role, text: &str) -> std::sync::Arc<Message> {
    Message { role, content: Content::Text(text.to_owned()) }.into()
}

/// Everything a provider reports about one attempt.
pub(crate) async fn events(config: AnthropicConfig) -> Vec<ModelEvent> {
    let reporting = Anthropic::new(config).respond(request()).collect();
    tokio::time::timeout(Duration::from_secs(20), reporting).await.unwrap()
}

/// The failure that ends an attempt; there must be one, and only at the end.
pub(crate) fn only_failure(events: &[ModelEvent]) -> &ModelFailure {
    let failures: Vec<&ModelFailure> = events.iter().filter_map(failure).collect();
    assert_eq!(failures.len(), 1, "exactly one failure in {events:?}");
    failure(events.last().unwrap()).unwrap()
}

fn failure(event: &ModelEvent) -> Option<&ModelFailure> {
    match event {
        ModelEvent::Failed(failure) => Some(failure),
        _ => None,
    }
}
