//! Servers inside the host's process: each message is a control request.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex};

use rmcp::RoleClient;
use rmcp::model::{ClientNotification, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::{Value, json};
use tillerman_ports::{HostFailure, McpHost};
use tillerman_protocol::control::ControlBody;
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};

use super::message::from_value;
use crate::board::{LastWords, locked};

/// Answers on their way in.
const INCOMING: usize = 64;

/// The channel to one server of the host.
#[derive(Debug)]
pub(crate) struct InProcess {
    server: String,
    host: Arc<dyn McpHost>,
    answers: mpsc::Receiver<Value>,
    answered: mpsc::Sender<Value>,
    exchanges: Arc<Mutex<Exchanges>>,
    words: LastWords,
}

/// Messages that the host has not answered yet.
#[derive(Debug, Default)]
struct Exchanges {
    tasks: JoinSet<()>,
    by_id: HashMap<RequestId, AbortHandle>,
}

impl InProcess {
    pub(crate) fn new(server: String, host: Arc<dyn McpHost>, words: LastWords) -> Self {
        let (answered, answers) = mpsc::channel(INCOMING);
        Self { server, host, answers, answered, exchanges: Arc::default(), words }
    }

    fn exchange(&self, item: &TxJsonRpcMessage<RoleClient>) -> io::Result<()> {
        let message = serde_json::to_value(item).map_err(io::Error::other)?;
        let id = match item {
            JsonRpcMessage::Request(request) => Some(request.id.clone()),
            _ => None,
        };
        let body = ControlBody::McpMessage { server_name: self.server.clone(), message };
        let asking = self.host.ask(body);
        let (answered, words) = (self.answered.clone(), self.words.clone());
        let wire_id = id.clone();
        let mut exchanges = locked(&self.exchanges);
        // Finished exchanges are forgotten, so that the set does not grow with the session.
        while exchanges.tasks.try_join_next().is_some() {}
        exchanges.by_id.retain(|_, handle| !handle.is_finished());
        let handle = exchanges.tasks.spawn(async move {
            let outcome = asking.await;
            let Some(id) = wire_id else { return };
            let message = match outcome {
                Ok(mut answer) => answer.get_mut("mcp_response").map(Value::take),
                Err(failure) => {
                    if failure == HostFailure::Gone {
                        words.say("the host is gone");
                    }
                    let error = json!({"code": -32603, "message": failure.to_string()});
                    Some(json!({"jsonrpc": "2.0", "id": id, "error": error}))
                }
            };
            let nothing = || {
                let error =
                    json!({"code": -32603, "message": "the host's answer holds no message"});
                json!({"jsonrpc": "2.0", "id": id, "error": error})
            };
            // Without a receiver the connection is closed and nobody waits for an answer.
            drop(answered.send(message.unwrap_or_else(nothing)).await);
        });
        exchanges.by_id.extend(id.map(|id| (id, handle)));
        Ok(())
    }

    /// Gives up an exchange, which tells the host to stop working on it.
    fn give_up(&self, item: &TxJsonRpcMessage<RoleClient>) {
        if let JsonRpcMessage::Notification(notification) = item
            && let ClientNotification::CancelledNotification(cancelled) = &notification.notification
            && let Some(id) = &cancelled.params.request_id
            && let Some(handle) = locked(&self.exchanges).by_id.remove(id)
        {
            handle.abort();
        }
    }
}

impl Transport<RoleClient> for InProcess {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let sent = self.exchange(&item);
        self.give_up(&item);
        std::future::ready(sent)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            if let Some(message) = self.answers.recv().await.and_then(from_value) {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        let mut exchanges = std::mem::take(&mut *locked(&self.exchanges));
        exchanges.tasks.shutdown().await;
        Ok(())
    }
}
