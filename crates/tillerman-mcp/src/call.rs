//! Requests to a server: sent once, cancelled for good, never waited for without an end.

use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, ProgressToken, RequestMetaObject,
    ServerResult,
};
use rmcp::service::{PeerRequestOptions, RequestHandle, ServiceError};
use serde_json::{Value, json};
use tillerman_protocol::ToolUseId;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::board::{Board, Connected, Phase, RunningCall};
use crate::sign_in::Refusal;
use crate::supervise::ending_of;

/// How long a server may take to be told that something is cancelled.
const CANCEL: Duration = Duration::from_secs(1);
/// A connection that broke is noticed a moment after the call that broke it.
const LAST_WORDS: Duration = Duration::from_millis(300);

/// Why a request has no result. The texts are for the model and for people.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CallError {
    #[error("There is no MCP server called {0}.")]
    Unknown(String),
    #[error("The MCP server {server} is {status}{why}. Nothing was sent.")]
    NotConnected { server: String, status: &'static str, why: String },
    #[error("The MCP server {server} answered with an error: {message}")]
    Refused { server: String, message: String },
    #[error(
        "The MCP server {server} was lost during the call: {why}. The call may have taken effect."
    )]
    Lost { server: String, why: String },
    #[error(
        "The MCP server {server} did not answer within {seconds} s and was told to stop. The call may have \
         taken effect."
    )]
    TimedOut { server: String, seconds: f64 },
    #[error("The MCP server {server} refused: {refusal}. Nothing was done.")]
    Unauthorized { server: String, refusal: Refusal },
    #[error("The call was cancelled.")]
    Cancelled,
}

/// A call of a tool.
#[derive(Debug)]
pub(crate) struct ToolRequest {
    pub(crate) server: String,
    /// The tool by the server's own name for it.
    pub(crate) tool: String,
    /// The tool by the name the model uses.
    pub(crate) full_name: String,
    pub(crate) arguments: Value,
    /// The call as the model named it; nothing for calls of hosts.
    pub(crate) tool_use_id: Option<ToolUseId>,
    pub(crate) timeout: Duration,
    pub(crate) cancel: CancellationToken,
}

/// Calls a tool and returns the result as it came.
///
/// # Cancel safety
/// Dropping the future abandons the call without telling the server; firing its token tells it.
pub(crate) async fn call_tool(board: &Board, request: ToolRequest) -> Result<Value, CallError> {
    remembering(board, called(board, request).await).await
}

async fn called(board: &Board, request: ToolRequest) -> Result<Value, CallError> {
    let ToolRequest { server, tool, full_name, arguments, tool_use_id, timeout, cancel } = request;
    let connected = connected(board, &server, &cancel).await?;
    let mut params = CallToolRequestParams::new(tool);
    if let Value::Object(arguments) = arguments {
        params = params.with_arguments(arguments);
    }
    let mut options = PeerRequestOptions::no_options();
    if let Some(id) = &tool_use_id {
        let mut meta = RequestMetaObject::default();
        meta.0.insert("claudecode/toolUseId".to_owned(), json!(id));
        options = options.with_meta(meta);
    }
    let limits = Wait { server: &server, timeout, cancel: &cancel };
    let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
    let handle = send(&connected, request, options, &limits).await?;
    let watched = Watched { board, server: &server, token: handle.progress_token.clone() };
    if let Some(tool_use_id) = tool_use_id {
        let call = RunningCall {
            tool_use_id,
            tool_name: full_name,
            started: Instant::now(),
            reported: None,
        };
        board.begin_call(&server, watched.token.clone(), call);
    }
    let result = answer(handle, &connected, &limits).await;
    drop(watched);
    result
}

/// How long something is waited for.
pub(crate) struct Wait<'a> {
    pub(crate) server: &'a str,
    pub(crate) timeout: Duration,
    pub(crate) cancel: &'a CancellationToken,
}

/// Sends any other request and returns the result as it came.
pub(crate) async fn ask(
    board: &Board,
    request: ClientRequest,
    wait: &Wait<'_>,
) -> Result<Value, CallError> {
    let connected = connected(board, wait.server, wait.cancel).await?;
    let result = match send(&connected, request, PeerRequestOptions::no_options(), wait).await {
        Ok(handle) => answer(handle, &connected, wait).await,
        Err(error) => Err(error),
    };
    remembering(board, result).await
}

/// Has the next sign-in ask for what a server wants that refused a request.
async fn remembering(board: &Board, result: Result<Value, CallError>) -> Result<Value, CallError> {
    if let Err(CallError::Unauthorized { server, refusal }) = &result {
        let named = board.read(|entries| entries.get(server).map(|entry| entry.server.clone()));
        if let Some(named) = named {
            refusal.remember(board.config.credentials.as_ref(), &named).await;
        }
    }
    result
}

/// The server's connection, after a moment when it is just being made again.
pub(crate) async fn connected(
    board: &Board,
    server: &str,
    cancel: &CancellationToken,
) -> Result<Arc<Connected>, CallError> {
    let deadline = Instant::now() + board.config.limits.connect;
    let mut changes = board.watch();
    loop {
        let phase = board.phase(server).ok_or_else(|| CallError::Unknown(server.to_owned()))?;
        if let Phase::Connected(connected) = &phase
            && !connected.peer.is_transport_closed()
        {
            return Ok(Arc::clone(connected));
        }
        let is_lost = matches!(phase, Phase::Connected(_));
        let changed = async {
            tokio::select! {
                biased;
                () = cancel.cancelled() => Err(CallError::Cancelled),
                // The board outlives its watchers; an error only means that there is no change.
                changed = timeout_at(deadline, changes.changed()) => Ok(matches!(changed, Ok(Ok(())))),
            }
        };
        if (phase.is_settled() && !is_lost) || !changed.await? {
            let why = phase.error().map(|why| format!(" ({why})")).unwrap_or_default();
            let (server, status) = (server.to_owned(), phase.status());
            return Err(CallError::NotConnected { server, status, why });
        }
    }
}

async fn send(
    connected: &Connected,
    request: ClientRequest,
    options: PeerRequestOptions,
    wait: &Wait<'_>,
) -> Result<RequestHandle<RoleClient>, CallError> {
    let sending = connected.peer.send_cancellable_request(request, options);
    tokio::select! {
        biased;
        () = wait.cancel.cancelled() => Err(CallError::Cancelled),
        sent = tokio::time::timeout(wait.timeout, sending) => match sent {
            Ok(Ok(handle)) => Ok(handle),
            Ok(Err(error)) => Err(failure(error, connected, wait).await),
            Err(_) => Err(wait.timed_out()),
        },
    }
}

async fn answer(
    mut handle: RequestHandle<RoleClient>,
    connected: &Connected,
    wait: &Wait<'_>,
) -> Result<Value, CallError> {
    let answered = tokio::select! {
        biased;
        answered = &mut handle.rx => answered.unwrap_or(Err(ServiceError::TransportClosed)),
        () = wait.cancel.cancelled() => {
            tell(handle, "the call was cancelled").await;
            return Err(CallError::Cancelled);
        }
        () = tokio::time::sleep(wait.timeout) => {
            tell(handle, "the call took too long").await;
            return Err(wait.timed_out());
        }
    };
    match answered {
        Ok(result) => Ok(value_of(result)),
        Err(error) => Err(failure(error, connected, wait).await),
    }
}

impl Wait<'_> {
    fn timed_out(&self) -> CallError {
        let seconds = self.timeout.as_secs_f64();
        CallError::TimedOut { server: self.server.to_owned(), seconds }
    }
}

/// Tells the server that nobody waits any more; one that does not listen is left alone.
async fn tell(handle: RequestHandle<RoleClient>, reason: &str) {
    let told = tokio::time::timeout(CANCEL, handle.cancel(Some(reason.to_owned()))).await;
    if !matches!(told, Ok(Ok(()))) {
        tracing::debug!("a server could not be told that a request is cancelled");
    }
}

async fn failure(error: ServiceError, connected: &Connected, wait: &Wait<'_>) -> CallError {
    let server = wait.server.to_owned();
    if let Some(refusal) = Refusal::of(&error) {
        return CallError::Unauthorized { server, refusal };
    }
    match error {
        ServiceError::McpError(error) => {
            CallError::Refused { server, message: error.message.to_string() }
        }
        ServiceError::TransportSend(error) => {
            CallError::Lost { server, why: crate::connect::chain(&*error.error) }
        }
        ServiceError::Cancelled { .. } => CallError::Cancelled,
        _ => {
            // The transport says why it ended a little later than it ends.
            let deadline = Instant::now() + LAST_WORDS;
            while connected.last_words.get().is_none() && Instant::now() < deadline {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            CallError::Lost { server, why: ending_of(&connected.last_words) }
        }
    }
}

/// A result as it came, whatever the client library took it for.
fn value_of(result: ServerResult) -> Value {
    match result {
        ServerResult::CustomResult(custom) => custom.0,
        result => serde_json::to_value(&result).unwrap_or_default(),
    }
}

/// Forgets a call's progress, however the call ends.
struct Watched<'a> {
    board: &'a Board,
    server: &'a str,
    token: ProgressToken,
}

impl Drop for Watched<'_> {
    fn drop(&mut self) {
        self.board.end_call(self.server, &self.token);
    }
}
