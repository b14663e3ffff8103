//! The other direction: tools of ours as an MCP server.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    Implementation, InitializeResult, ListToolsResult, PaginatedRequestParams, ServerCapabilities,
    Tool as ListedTool, ToolAnnotations,
};
use rmcp::service::{RequestContext, ServiceExt as _};
use rmcp::{RoleServer, ServerHandler};
use serde_json::Value;
use tillerman_ports::{BackgroundTask, Bounds, Hidden, TaskDesk, TaskRefused, Tool, ToolCall};
use tillerman_protocol::ToolUseId;
use tillerman_protocol::content::{Block, Content};
use tillerman_protocol::tool::{Access, ToolOutcome, ToolSpec};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use crate::config::ClientIdentity;

/// Decides whether a call may run; the error is told to the caller.
pub trait Admission: Send + Sync + std::fmt::Debug {
    /// Variables that children of the call must have.
    ///
    /// # Errors
    /// Why the call may not run.
    fn admit(&self, tool: &ToolSpec, input: &Value) -> Result<Admitted, String>;
}

/// What an admitted call is run with.
#[derive(Clone, Debug, Default)]
pub struct Admitted {
    /// Variables on which its admission hangs.
    pub environment: Vec<(String, String)>,
    /// Where it runs, where commands are confined.
    pub bounds: Bounds,
    /// What searches must pass over.
    pub hidden: Hidden,
}

/// Why serving ended badly.
#[derive(Debug, thiserror::Error)]
#[error("the client and this server do not understand each other: {0}")]
pub struct ServeError(String);

/// Serves tools to one client until it closes the connection.
///
/// # Errors
/// When the handshake fails.
///
/// # Cancel safety
/// Dropping the future ends the connection and every call.
pub async fn serve<R, W>(
    tools: Vec<Arc<dyn Tool>>,
    admission: Arc<dyn Admission>,
    identity: ClientIdentity,
    streams: (R, W),
) -> Result<(), ServeError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let server = Server { tools: tools.into(), admission, identity, calls: Arc::default() };
    let running = server.serve(streams).await.map_err(|error| ServeError(error.to_string()))?;
    // How the connection ended is the client's business.
    drop(running.waiting().await);
    Ok(())
}

#[derive(Clone, Debug)]
struct Server {
    tools: Arc<[Arc<dyn Tool>]>,
    admission: Arc<dyn Admission>,
    identity: ClientIdentity,
    calls: Arc<AtomicU64>,
}

impl Server {
    async fn run(&self, name: &str, input: Value, cancel: CancellationToken) -> CallToolResult {
        let Some(tool) = self.tools.iter().find(|tool| tool.spec().name == name) else {
            return failed(format!("There is no tool called {name}."));
        };
        let spec = tool.spec();
        if let Err(why) = tool.check(&input) {
            return failed(why);
        }
        let Admitted { environment, bounds, hidden } = match self.admission.admit(&spec, &input) {
            Ok(admitted) => admitted,
            Err(why) => return failed(why),
        };
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        let tool_use_id = ToolUseId::new(format!("served_{number}"));
        let tasks = Arc::new(NoTasks);
        let call = ToolCall { tool_use_id, input, cancel, environment, bounds, hidden, tasks };
        result(tool.call(call).await)
    }
}

/// Nobody is there to hear of work that goes on after its call.
#[derive(Debug)]
struct NoTasks;

impl TaskDesk for NoTasks {
    fn take(&self, _task: BackgroundTask) -> Result<(), TaskRefused> {
        Err(TaskRefused)
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> InitializeResult {
        let identity = &self.identity;
        InitializeResult::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new(identity.name.clone(), identity.version.clone()))
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(
            self.tools.iter().map(|tool| listed(&tool.spec())).collect(),
        ))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let input = Value::Object(request.arguments.unwrap_or_default());
        Ok(self.run(&request.name, input, context.ct).await.into())
    }
}

fn listed(spec: &ToolSpec) -> ListedTool {
    let schema = spec.input_schema.as_object().cloned().unwrap_or_default();
    let name: Cow<'static, str> = spec.name.clone().into();
    let only_looks = spec.access == Access::ReadOnly;
    ListedTool::new(name, spec.description.clone(), Arc::new(schema))
        .with_annotations(ToolAnnotations::new().read_only(only_looks))
}

fn failed(why: String) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(why)])
}

fn result(outcome: ToolOutcome) -> CallToolResult {
    match outcome {
        Ok(output) => CallToolResult::success(parts(output.content)),
        Err(failure) => failed(failure.message),
    }
}

fn parts(content: Content) -> Vec<ContentBlock> {
    let part = |block: Block| match block {
        Block::Text { text, .. } => ContentBlock::text(text),
        Block::Image { source } => {
            let text = |name: &str| source.get(name).and_then(Value::as_str).unwrap_or_default();
            ContentBlock::image(text("data"), text("media_type"))
        }
        other => ContentBlock::text(serde_json::to_string(&other).unwrap_or_default()),
    };
    content.into_blocks().into_iter().map(part).collect()
}
