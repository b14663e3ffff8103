//! Everything that can be asked for, in one table.

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::get;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::access::Role;
use crate::api::access_log::access_log;
use crate::api::endpoint::Endpoint;
use crate::api::gate::Gate;
use crate::api::guard::guard;
use crate::api::{
    approvals, attachments, completions, conversations, documents, events, export, info, messages,
    openapi, operations, page, sdk, sessions, sign_in, socket, usage,
};
use crate::live::{Directory, Shared};
use crate::wire::{
    Accepted, Agent, AnswerRequest, Approval, ApprovalPolicy, Conversation, ConversationPatch,
    DocumentFiles, NewConversation, NewMessage, Persona, Project, RewindAnswer, RewindRequest,
    Skill, Usage,
};

/// What all handlers share.
#[derive(Debug)]
pub(crate) struct ApiState {
    pub(crate) shared: Arc<Shared>,
    pub(crate) directory: Directory,
    pub(crate) gate: Gate,
    /// Names under which the host is reached, with their ports.
    pub(crate) hosts: Vec<String>,
    pub(crate) sockets: Arc<Semaphore>,
    /// The host is leaving.
    pub(crate) leaving: CancellationToken,
}

/// The endpoints of the API; paths stand below `/api/v1`.
pub(crate) fn endpoints(largest_upload: usize) -> Vec<Endpoint> {
    let mut all = conversation_endpoints(largest_upload);
    all.extend(run_endpoints());
    all.extend(approval_endpoints());
    all.extend(document_endpoints());
    all.extend([
        Endpoint::get("/info", info::info)
            .says("What this host is and who you are")
            .answer::<info::Info>(),
        Endpoint::get("/usage", usage::usage)
            .says("What was spent")
            .query::<usage::UsageQuery>()
            .answer::<Usage>(),
        Endpoint::get("/audit", usage::audit)
            .says("Who did what, newest first")
            .role(Role::Owner)
            .query::<usage::AuditQuery>()
            .answer::<usage::Audit>(),
        Endpoint::get("/openapi.json", openapi::document).says("This document"),
    ]);
    all
}

fn conversation_endpoints(largest_upload: usize) -> Vec<Endpoint> {
    vec![
        Endpoint::get("/conversations", conversations::list)
            .says("Conversations, newest first")
            .query::<conversations::ListConversations>()
            .answer::<conversations::ConversationList>(),
        Endpoint::post("/conversations", conversations::create)
            .says("Begins a conversation")
            .status(201)
            .body::<NewConversation>()
            .answer::<Conversation>(),
        Endpoint::get("/conversations/{id}", conversations::show)
            .says("One conversation")
            .answer::<Conversation>(),
        Endpoint::patch("/conversations/{id}", conversations::change)
            .says("Names, archives or retunes a conversation; mode and model also of its run")
            .body::<ConversationPatch>()
            .answer::<Conversation>(),
        Endpoint::delete("/conversations/{id}", conversations::delete)
            .says("Forgets a conversation")
            .status(204),
        Endpoint::get("/conversations/{id}/export", export::export)
            .says("A conversation as a file")
            .query::<export::ExportQuery>(),
        Endpoint::get("/conversations/{id}/events", events::events)
            .says("What happened; with Accept: text/event-stream also what happens")
            .query::<events::EventQuery>()
            .answer::<events::EventList>(),
        Endpoint::post("/conversations/{id}/messages", messages::say)
            .says("Sends a message; one that comes twice under one client_id is taken once")
            .status(202)
            .largest_body(largest_upload)
            .body::<NewMessage>()
            .answer::<Accepted>(),
        Endpoint::get(
            "/conversations/{id}/attachments/{message_id}/{place}",
            attachments::attachment,
        )
        .says("A file that came with a message, by its place from 0"),
        Endpoint::delete("/conversations/{id}/queue/{message_id}", messages::take_back)
            .says("Takes a message back that waits")
            .status(204),
    ]
}

fn run_endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::post("/conversations/{id}/interrupt", sessions::interrupt)
            .says("Stops what is going on")
            .role(Role::Approver)
            .status(204),
        Endpoint::post("/conversations/{id}/rewind", sessions::rewind)
            .says("Brings files back, and has the conversation forget if wanted")
            .body::<RewindRequest>()
            .answer::<RewindAnswer>(),
        Endpoint::get("/conversations/{id}/tasks/{task_id}/output", sessions::task_output)
            .says("The end of what a background command printed")
            .answer::<serde_json::Value>(),
        Endpoint::post("/conversations/{id}/tasks/{task_id}/stop", sessions::stop_task)
            .says("Stops a background task")
            .status(204),
        Endpoint::get("/conversations/{id}/context", sessions::context)
            .says("How full the context window is")
            .answer::<serde_json::Value>(),
        Endpoint::get("/conversations/{id}/completions", completions::completions)
            .role(Role::Owner)
            .says("Commands, agents or files that begin as typed")
            .query::<completions::CompletionQuery>()
            .answer::<completions::Completions>(),
    ]
}

fn approval_endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::get("/approvals", approvals::list)
            .says("Cards, newest first")
            .query::<approvals::ApprovalQuery>()
            .answer::<approvals::ApprovalList>(),
        Endpoint::post("/approvals/{id}/answer", approvals::answer)
            .says("Answers a card; it is answered once")
            .role(Role::Approver)
            .body::<AnswerRequest>()
            .answer::<Approval>(),
        Endpoint::get("/approvals/policy", approvals::policy)
            .says("How long cards wait, and whether there are any")
            .answer::<ApprovalPolicy>(),
        Endpoint::patch("/approvals/policy", approvals::set_policy)
            .says("Chooses how long cards wait, and whether there are any")
            .body::<ApprovalPolicy>()
            .answer::<ApprovalPolicy>(),
    ]
}

fn document_endpoints() -> Vec<Endpoint> {
    let mut all = documents::endpoints::<Project>("/projects", "/projects/{id}");
    all.extend(documents::endpoints::<Persona>("/personas", "/personas/{id}"));
    all.extend(documents::endpoints::<Skill>("/skills", "/skills/{id}"));
    all.extend(documents::endpoints::<Agent>("/agents", "/agents/{id}"));
    all.push(
        Endpoint::get("/files", documents::files)
            .says("Where projects, personas, skills and agents are read from, and what is wrong")
            .answer::<DocumentFiles>(),
    );
    all
}

/// The router: the API, the socket, the page, and what operators look at.
pub(crate) fn router(state: Arc<ApiState>) -> Router {
    let largest_upload = state.shared.settings.max_upload_bytes.saturating_mul(2);
    let mut api = Router::new();
    for endpoint in endpoints(largest_upload) {
        let path = endpoint.path;
        api = api.route(path, endpoint.into_route());
    }
    let api = api.route("/socket", get(socket::socket)).route("/sdk", get(sdk::sdk));
    Router::new()
        .nest("/api/v1", api)
        .route("/api/{*rest}", axum::routing::any(page::no_such_endpoint))
        .route("/healthz", get(operations::healthz))
        .route("/metrics", get(operations::metrics))
        .route("/", get(sign_in::front_page))
        .fallback(page::page)
        .layer(from_fn_with_state(Arc::clone(&state), guard))
        .layer(from_fn_with_state(Arc::clone(&state), access_log))
        .with_state(state)
}
