//! Configurations and a renderer that the topics about OpenAI-compatible servers share.

use std::time::Duration;

use futures_util::StreamExt as _;
use serde_json::Map;
use tillerman_models::openai::{Dialect, OpenAiCompatible, OpenAiConfig};
use tillerman_models::secret::Secret;
use tillerman_ports::Model as _;
use tillerman_protocol::model::{ModelEvent, ModelRequest};
use tillerman_protocol::stream::{Delta, StreamEvent};

use crate::asking::{KEY, request};
use crate::loopback::{Loopback, streamed};

pub(crate) fn config(base_url: &str) -> OpenAiConfig {
    OpenAiConfig {
        base_url: format!("{base_url}/v1"),
        api_key: Some(Secret::new(KEY)),
        custom_headers: Vec::new(),
        extra_body: Map::new(),
        max_output_tokens: None,
        dialect: Dialect::Compatible,
        user_agent: "a-test/1".to_owned(),
        connect_timeout: Duration::from_secs(5),
        request_timeout: Duration::from_secs(5),
        idle_timeout: Duration::from_secs(5),
    }
}

/// Everything a provider reports about one attempt.
pub(crate) async fn events(config: OpenAiConfig, request: ModelRequest) -> Vec<ModelEvent> {
    let reporting = OpenAiCompatible::new(config).respond(request).collect();
    tokio::time::timeout(Duration::from_secs(20), reporting).await.unwrap()
}

/// The report about a stream of these chunks, one line per event.
pub(crate) async fn translated(chunks: &[&str]) -> Vec<String> {
    let text: String = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    let server = Loopback::answering(streamed(&text)).await;
    events(config(&server.base_url), request()).await.iter().map(render).collect()
}

/// One event in one line.
pub(crate) fn render(event: &ModelEvent) -> String {
    match event {
        ModelEvent::Accepted { .. } => "accepted".to_owned(),
        ModelEvent::Failed(failure) => format!("failed {:?}: {}", failure.kind, failure.message),
        ModelEvent::Stream(event) => render_stream(event),
    }
}

fn render_stream(event: &StreamEvent) -> String {
    match event {
        StreamEvent::MessageStart { message } => format!("start {} {}", message.id, message.model),
        StreamEvent::ContentBlockStart { index, content_block } => {
            let (kind, id) = (&content_block["type"], &content_block["id"]);
            let (kind, id) = (kind.as_str().unwrap(), id.as_str().unwrap_or_default());
            let name = content_block["name"].as_str().unwrap_or_default();
            format!("{index} open {kind} {id} {name}").trim_end().to_owned()
        }
        StreamEvent::ContentBlockDelta { index, delta } => match delta {
            Delta::TextDelta { text } => format!("{index} text {text}"),
            Delta::ThinkingDelta { thinking } => format!("{index} thinking {thinking}"),
            Delta::InputJsonDelta { partial_json } => format!("{index} json {partial_json}"),
            other => panic!("unexpected {other:?}"),
        },
        StreamEvent::ContentBlockStop { index } => format!("{index} close"),
        StreamEvent::MessageDelta { delta, usage } => format!(
            "outcome {} in={} cached={} out={}",
            delta.stop_reason.as_deref().unwrap(),
            usage.input_tokens,
            usage.cache_read_input_tokens,
            usage.output_tokens
        ),
        StreamEvent::MessageStop => "stop".to_owned(),
        other => panic!("unexpected {other:?}"),
    }
}
