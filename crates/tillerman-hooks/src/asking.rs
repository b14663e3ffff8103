//! One request of a handler to a model, heard to its end and put on the bill.

use std::sync::Arc;

use futures_util::StreamExt as _;
use serde_json::Map;
use tillerman_protocol::content::Message;
use tillerman_protocol::hook::PromptHook;
use tillerman_protocol::model::{ModelEvent, ModelRequest, SystemBlock, Thinking};
use tillerman_protocol::stream::StreamEvent;
use tillerman_protocol::tool::ToolSpec;

use crate::config::HookConfig;
use crate::tab::Tab;

/// What a model is asked.
#[derive(Debug)]
pub(crate) struct Question<'a> {
    /// The handler that asks; it may name a model.
    pub(crate) hook: &'a PromptHook,
    /// What the model is told about its task.
    pub(crate) instructions: &'static str,
    /// The conversation so far.
    pub(crate) messages: Vec<Arc<Message>>,
    /// What it may look with.
    pub(crate) tools: Arc<[ToolSpec]>,
    /// The longest answer.
    pub(crate) most_tokens: u64,
}

impl Question<'_> {
    /// Asks, and gives every event before the last to `hear`; fails with the reason.
    pub(crate) async fn ask(
        self,
        config: &HookConfig,
        tab: &Tab,
        mut hear: impl FnMut(StreamEvent) -> Result<(), String>,
    ) -> Result<(), String> {
        let request = ModelRequest {
            model: self.hook.model.clone().unwrap_or_else(|| config.small_model.clone()),
            system: vec![SystemBlock { text: self.instructions.to_owned() }],
            messages: self.messages,
            tools: self.tools,
            max_tokens: self.most_tokens,
            thinking: Thinking::Unset,
            effort: None,
            betas: Vec::new(),
            session: config.session.clone(),
            extra_body: Map::new(),
        };
        let mut bill = tab.open(&request.model);
        let mut events = config.model.respond(request);
        while let Some(event) = events.next().await {
            let event = match event {
                ModelEvent::Failed(failure) => return Err(failure.to_string()),
                ModelEvent::Accepted { .. } => continue,
                ModelEvent::Stream(event) => event,
            };
            bill.hear(&event);
            if matches!(event, StreamEvent::MessageStop) {
                return Ok(());
            }
            hear(event)?;
        }
        Err("the answer was cut off".to_owned())
    }
}
