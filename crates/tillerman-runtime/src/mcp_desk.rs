//! What a session keeps about its MCP servers: open questions to the host, and prompts that wait.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;
use tillerman_engine::Prompt;
use tillerman_ports::{
    BoxFuture, CallProgress, Deferral, HostFailure, McpHost, McpPrompt, McpRefusal, McpServers,
    Tool,
};
use tillerman_protocol::RequestId;
use tillerman_protocol::content::Content;
use tillerman_protocol::control::{ControlBody, McpRequest};
use tillerman_protocol::mcp::McpServerStatus;
use tokio::sync::{mpsc, oneshot};

use crate::elicitation::mediate;
use crate::hook_line::HookLine;
use crate::model_switch::ModelWish;
use crate::tool_shelf::ToolShelf;
use crate::work::Report;

/// Something that servers or whoever waits for them has to say.
#[derive(Debug)]
pub(crate) enum McpReport {
    /// The first prompt need not wait any longer.
    Ready,
    /// Servers changed; this is their state's number.
    Changed(u64),
    /// A server wants something from the host.
    Asked(HostAsk),
    /// Nobody wants that answer any more.
    GaveUp(u64),
    Progressed(CallProgress),
    /// A person is done with a page that a server had them open.
    Completed {
        server: String,
        elicitation_id: String,
    },
    /// A request of the host is done.
    Done(RequestId, Result<Value, McpRefusal>),
    Rendered(Result<Content, McpRefusal>),
    /// A tool has answered a question about permission.
    Approved(RequestId, Result<Value, McpRefusal>),
    Crashed(McpWork),
}

/// Names what is waited for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum McpWork {
    Ready,
    Changes,
    Render,
    Request(RequestId),
    Approve(RequestId),
}

/// A question to the host.
#[derive(Debug)]
pub(crate) struct HostAsk {
    pub(crate) key: u64,
    pub(crate) body: ControlBody,
    pub(crate) reply: Reply,
}

pub(crate) type Reply = oneshot::Sender<Result<Value, HostFailure>>;

/// What came in while the session was not ready for it.
#[derive(Debug)]
pub(crate) enum Held {
    Prompt(Prompt),
    Model(ModelWish),
    Close,
}

/// Whether prompts may be taken up.
#[derive(Debug)]
pub(crate) enum Gate {
    Open,
    /// Servers that the first prompt needs are not connected yet.
    Connecting,
    /// A server renders this prompt.
    Rendering(Box<Prompt>),
    /// Hooks look at another model.
    Switching,
}

/// What a session keeps about its servers.
#[derive(Debug)]
pub(crate) struct McpDesk {
    pub(crate) servers: Option<Arc<dyn McpServers>>,
    pub(crate) gate: Gate,
    pub(crate) held: VecDeque<Held>,
    pub(crate) shelf: ToolShelf,
    /// What servers say about their tools, as the model is told.
    pub(crate) instructions: String,
    asks: HashMap<RequestId, (u64, Reply)>,
    host_is_gone: bool,
}

impl McpDesk {
    pub(crate) fn new(servers: Option<Arc<dyn McpServers>>) -> Self {
        Self {
            servers,
            gate: Gate::Open,
            held: VecDeque::new(),
            shelf: ToolShelf::default(),
            instructions: String::new(),
            asks: HashMap::new(),
            host_is_gone: false,
        }
    }

    /// Notes a question; says whether there is somebody to ask.
    pub(crate) fn put_ask(&mut self, request: RequestId, key: u64, reply: Reply) -> bool {
        if self.host_is_gone {
            // Whoever asked may have given up meanwhile.
            drop(reply.send(Err(HostFailure::Gone)));
            return false;
        }
        self.asks.insert(request, (key, reply));
        true
    }

    pub(crate) fn take_ask(&mut self, request: &RequestId) -> Option<Reply> {
        self.asks.remove(request).map(|(_, reply)| reply)
    }

    /// Forgets a question that nobody wants answered.
    pub(crate) fn drop_ask(&mut self, key: u64) -> Option<RequestId> {
        let request = self.asks.iter().find(|(_, ask)| ask.0 == key)?.0.clone();
        self.asks.remove(&request);
        Some(request)
    }

    /// Nobody answers from now on.
    pub(crate) fn host_gone(&mut self) -> Vec<RequestId> {
        self.host_is_gone = true;
        let asks = std::mem::take(&mut self.asks);
        let end = |(request, (_, reply)): (RequestId, (u64, Reply))| {
            drop(reply.send(Err(HostFailure::Gone)));
            request
        };
        asks.into_iter().map(end).collect()
    }

    /// The command of a server that a prompt calls, and what was typed after it.
    pub(crate) fn command_of(&self, prompt: &Prompt) -> Option<(String, String)> {
        let text = prompt.content.plain_text();
        let line = text.trim().strip_prefix('/').filter(|line| line.starts_with("mcp__"))?;
        let (command, typed) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let offered = self.servers.as_ref()?.prompts();
        let is_offered = offered.iter().any(|prompt| prompt.command == command);
        is_offered.then(|| (command.to_owned(), typed.trim().to_owned()))
    }
}

/// The host as servers see it: questions go through the session's own task.
#[derive(Debug)]
pub(crate) struct Host {
    reporter: mpsc::Sender<Report>,
    next: AtomicU64,
}

impl Host {
    pub(crate) const fn new(reporter: mpsc::Sender<Report>) -> Self {
        Self { reporter, next: AtomicU64::new(0) }
    }
}

impl McpHost for Host {
    fn ask(&self, body: ControlBody) -> BoxFuture<Result<Value, HostFailure>> {
        let key = self.next.fetch_add(1, Ordering::Relaxed);
        let reporter = self.reporter.clone();
        let line = HookLine::new(self.reporter.clone());
        let question = match &body {
            ControlBody::Person(question) => Some(question.clone()),
            _ => None,
        };
        let asking = async move {
            let (reply, answer) = oneshot::channel();
            let asked = Report::Mcp(Box::new(McpReport::Asked(HostAsk { key, body, reply })));
            reporter.send(asked).await.map_err(|_| HostFailure::Gone)?;
            let mut waiting = Waiting { key, reporter, is_over: false };
            let answer = answer.await;
            waiting.is_over = true;
            answer.unwrap_or(Err(HostFailure::Gone))
        };
        match question {
            Some(question) => Box::pin(mediate(line, question, asking)),
            None => Box::pin(asking),
        }
    }

    fn progressed(&self, progress: CallProgress) {
        // Progress that finds no room is of no interest by the time there is some.
        drop(self.reporter.try_send(Report::Mcp(Box::new(McpReport::Progressed(progress)))));
    }

    fn elicitation_completed(&self, server: &str, elicitation_id: &str) -> BoxFuture<()> {
        let (server, elicitation_id) = (server.to_owned(), elicitation_id.to_owned());
        let report = Report::Mcp(Box::new(McpReport::Completed { server, elicitation_id }));
        let reporter = self.reporter.clone();
        Box::pin(async move {
            if reporter.send(report).await.is_err() {
                tracing::debug!("a page was done with after its session");
            }
        })
    }
}

/// Tells the session when an answer is no longer waited for.
struct Waiting {
    key: u64,
    reporter: mpsc::Sender<Report>,
    is_over: bool,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if !self.is_over {
            drop(self.reporter.try_send(Report::Mcp(Box::new(McpReport::GaveUp(self.key)))));
        }
    }
}

/// Servers that belong to another session, for those that only use them.
#[derive(Clone, Debug)]
pub struct BorrowedServers(pub Arc<dyn McpServers>);

impl McpServers for BorrowedServers {
    fn attach(&self, _host: Arc<dyn McpHost>) {}

    fn add_in_process(&self, _names: &[String]) {}

    fn add(&self, _servers: Vec<(String, Value)>) {}

    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        self.0.tools()
    }

    fn deferral(&self) -> Deferral {
        self.0.deferral()
    }

    fn always_offered(&self) -> HashSet<String> {
        self.0.always_offered()
    }

    fn approver(&self) -> Option<String> {
        self.0.approver()
    }

    fn instructions(&self) -> Vec<(String, String)> {
        self.0.instructions()
    }

    fn status(&self) -> Vec<McpServerStatus> {
        self.0.status()
    }

    fn prompts(&self) -> Vec<McpPrompt> {
        self.0.prompts()
    }

    fn changed(&self, since: u64) -> BoxFuture<u64> {
        self.0.changed(since)
    }

    fn ready(&self) -> BoxFuture<()> {
        self.0.ready()
    }

    fn carry_out(&self, request: McpRequest) -> BoxFuture<Result<Value, McpRefusal>> {
        self.0.carry_out(request)
    }

    fn render(&self, command: String, typed: String) -> BoxFuture<Result<Content, McpRefusal>> {
        self.0.render(command, typed)
    }

    fn shut_down(&self) -> BoxFuture<()> {
        Box::pin(std::future::ready(()))
    }
}
