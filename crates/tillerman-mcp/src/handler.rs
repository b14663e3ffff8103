//! What a server may ask of us and tell us.

use std::path::PathBuf;
use std::sync::Arc;

use rmcp::model::{
    ClientCapabilities, ClientConfig, CustomNotification, ElicitRequestParams, ElicitResult,
    ElicitationAction, ElicitationCapability, ErrorCode, ErrorData, FormElicitationCapability,
    Implementation, ProgressNotificationParam, ProtocolVersion, RootsCapabilities,
    UrlElicitationCapability,
};
#[expect(deprecated, reason = "servers of all current protocol versions may ask for these")]
use rmcp::model::{CreateMessageRequestParams, CreateMessageResult, ListRootsResult, Root};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ClientHandler, RoleClient};
use serde_json::Value;
use tillerman_ports::HostFailure;
use tillerman_protocol::control::{ControlBody, PersonRequest};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::board::{Board, Order};
use crate::defaults::filled;
use crate::pages::OpenPages;

/// What a server hears that wants to use our model: it would spend the user's money unseen.
const NO_SAMPLING: &str =
    "This client does not let servers use its model (sampling/createMessage). Answer without it.";

/// What a server says when a person is done with a page that it had them open.
const PAGE_DONE: &str = "notifications/elicitation/complete";

/// Our side of one connection.
#[derive(Clone, Debug)]
pub(crate) struct Handler {
    server: String,
    board: Arc<Board>,
    orders: mpsc::WeakSender<Order>,
    pages: OpenPages,
}

impl Handler {
    pub(crate) fn new(server: String, board: Arc<Board>, orders: mpsc::WeakSender<Order>) -> Self {
        Self { server, board, orders, pages: OpenPages::default() }
    }

    fn refresh(&self) {
        if let Some(orders) = self.orders.upgrade() {
            // When the queue is full, a refresh is among what waits in it.
            drop(orders.try_send(Order::Refresh));
        }
    }

    /// Has the host ask the person; without an answer nothing is agreed to.
    async fn elicit(
        &self,
        request: ElicitRequestParams,
        withdrawn: &CancellationToken,
    ) -> ElicitResult {
        let Some(host) = self.board.host() else {
            return ElicitResult::new(ElicitationAction::Decline);
        };
        let wire = serde_json::to_value(&request).unwrap_or_default();
        let page = wire.get("elicitationId").and_then(Value::as_str);
        page.into_iter().for_each(|page| self.pages.put(page));
        let asking = host.ask(ControlBody::Person(question(&self.server, &wire)));
        let answer = tokio::select! {
            answer = tokio::time::timeout(self.board.config.limits.call, asking) => answer,
            () = withdrawn.cancelled() => return ElicitResult::new(ElicitationAction::Cancel),
        };
        let result = match answer.unwrap_or(Err(HostFailure::Gone)) {
            Ok(answer) => result_of(&answer, wire.get("requestedSchema")),
            Err(failure) => {
                tracing::warn!(
                    "a question of the MCP server {} was declined: {failure}",
                    self.server
                );
                ElicitResult::new(ElicitationAction::Decline)
            }
        };
        if let Some(page) = page.filter(|_| result.action != ElicitationAction::Accept) {
            self.pages.take(page);
        }
        result
    }

    /// Passes on that a person is done with a page. Of pages that nobody was asked to open, a
    /// server has nothing to say.
    async fn page_done(&self, params: Option<&Value>) {
        let id = params.and_then(|params| params.get("elicitationId")).and_then(Value::as_str);
        let Some(id) = id.filter(|id| self.pages.take(id)) else { return };
        if let Some(host) = self.board.host() {
            host.elicitation_completed(&self.server, id).await;
        }
    }
}

fn question(server: &str, wire: &Value) -> PersonRequest {
    let text = |name: &str| wire.get(name).and_then(Value::as_str).map(str::to_owned);
    PersonRequest::Elicitation {
        mcp_server_name: server.to_owned(),
        message: text("message").unwrap_or_default(),
        mode: text("mode"),
        url: text("url"),
        elicitation_id: text("elicitationId"),
        requested_schema: wire.get("requestedSchema").cloned(),
        extra: serde_json::Map::new(),
    }
}

fn result_of(answer: &Value, schema: Option<&Value>) -> ElicitResult {
    let action = match answer.get("action").and_then(Value::as_str) {
        Some("accept") => ElicitationAction::Accept,
        Some("cancel") => ElicitationAction::Cancel,
        _ => ElicitationAction::Decline,
    };
    let is_accepted = action == ElicitationAction::Accept;
    let mut result = ElicitResult::new(action);
    result.content = answer.get("content").cloned();
    if is_accepted {
        result.content = filled(result.content, schema);
    }
    result
}

impl ClientHandler for Handler {
    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Ok(self.elicit(request, &context.ct).await)
    }

    #[expect(deprecated, reason = "servers of all current protocol versions ask for roots")]
    async fn list_roots(
        &self,
        _context: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        let root = |path: &PathBuf| {
            let url = reqwest::Url::from_directory_path(path).ok()?;
            Some(Root::new(url.as_str().trim_end_matches('/')))
        };
        Ok(ListRootsResult::new(self.board.config.roots.iter().filter_map(root).collect()))
    }

    #[expect(deprecated, reason = "servers of all current protocol versions may ask for it")]
    async fn create_message(
        &self,
        _params: CreateMessageRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, NO_SAMPLING, None))
    }

    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        self.board.progressed(&self.server, params);
    }

    async fn on_custom_notification(
        &self,
        notification: CustomNotification,
        _context: NotificationContext<RoleClient>,
    ) {
        if notification.method == PAGE_DONE {
            self.page_done(notification.params.as_ref()).await;
        }
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.refresh();
    }

    async fn on_prompt_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.refresh();
    }

    fn get_info(&self) -> ClientConfig {
        let identity = &self.board.config.identity;
        let implementation = Implementation::new(identity.name.clone(), identity.version.clone());
        let elicitation = ElicitationCapability::new()
            .with_form(FormElicitationCapability::default())
            .with_url(UrlElicitationCapability::default());
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = Some(elicitation);
        capabilities.roots = Some(RootsCapabilities::default());
        ClientConfig::new(capabilities, implementation)
            .with_protocol_version(ProtocolVersion::V_2025_11_25)
    }
}
