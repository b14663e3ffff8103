//! Lists of what a server offers, page by page, with an end.

use std::collections::HashSet;

use rmcp::RoleClient;
use rmcp::model::{
    PaginatedRequestParams, Prompt, Resource, ServerCapabilities, Tool as ListedTool,
};
use rmcp::service::{Peer, ServiceError};

use crate::sign_in::Refusal;

/// A server that has more of anything is not one that a model could use.
const MOST: usize = 2_000;

/// What a server offers.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    pub(crate) tools: Vec<ListedTool>,
    pub(crate) prompts: Vec<Prompt>,
}

/// Why a list could not be had.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ListError {
    #[error("{0}")]
    Refused(Refusal),
    #[error("{0}")]
    Failed(String),
}

impl From<ServiceError> for ListError {
    fn from(error: ServiceError) -> Self {
        if let Some(refusal) = Refusal::of(&error) {
            return Self::Refused(refusal);
        }
        Self::Failed(match error {
            ServiceError::McpError(error) => error.message.to_string(),
            error => error.to_string(),
        })
    }
}

/// Lists tools and prompts. A server without the capability is not asked.
pub(crate) async fn list(
    peer: &Peer<RoleClient>,
    capabilities: &ServerCapabilities,
) -> Result<Listing, ListError> {
    let mut listing = Listing::default();
    if capabilities.tools.is_some() {
        listing.tools = tools(peer).await?;
    }
    if capabilities.prompts.is_some() {
        // Prompts are a convenience; a server that cannot list them still has its tools.
        listing.prompts = prompts(peer).await.unwrap_or_default();
    }
    Ok(listing)
}

async fn tools(peer: &Peer<RoleClient>) -> Result<Vec<ListedTool>, ListError> {
    let mut all: Vec<ListedTool> = Vec::new();
    let mut cursors = HashSet::new();
    let mut cursor = None;
    loop {
        let page = peer.list_tools(page_at(cursor)).await?;
        all.extend(page.tools);
        match next_page(page.next_cursor, &mut cursors, all.len()) {
            Some(next) => cursor = Some(next),
            None => return Ok(all),
        }
    }
}

async fn prompts(peer: &Peer<RoleClient>) -> Result<Vec<Prompt>, ListError> {
    let mut all: Vec<Prompt> = Vec::new();
    let mut cursors = HashSet::new();
    let mut cursor = None;
    loop {
        let page = peer.list_prompts(page_at(cursor)).await?;
        all.extend(page.prompts);
        match next_page(page.next_cursor, &mut cursors, all.len()) {
            Some(next) => cursor = Some(next),
            None => return Ok(all),
        }
    }
}

/// Lists a server's resources.
pub(crate) async fn resources(peer: &Peer<RoleClient>) -> Result<Vec<Resource>, ListError> {
    let mut all: Vec<Resource> = Vec::new();
    let mut cursors = HashSet::new();
    let mut cursor = None;
    loop {
        let page = peer.list_resources(page_at(cursor)).await?;
        all.extend(page.resources);
        match next_page(page.next_cursor, &mut cursors, all.len()) {
            Some(next) => cursor = Some(next),
            None => return Ok(all),
        }
    }
}

fn page_at(cursor: Option<String>) -> Option<PaginatedRequestParams> {
    cursor.map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)))
}

/// The next page, unless there was enough or the server goes round in circles.
fn next_page(cursor: Option<String>, seen: &mut HashSet<String>, listed: usize) -> Option<String> {
    cursor.filter(|cursor| listed < MOST && seen.insert(cursor.clone()))
}
