//! How the tools of a session reach the web.

use std::sync::Arc;

use tillerman_models::openai::{ProviderKind, provider_for};
use tillerman_ports::Model;
use tillerman_protocol::SessionId;
use tillerman_protocol::catalog::Catalog;
use tillerman_tools::{Reach, SearchSource, SideModel, WebConfig};

use crate::environment::Environment;

/// The model whose provider is asked, and what is known about it.
#[derive(Debug)]
pub(crate) struct SideDoor<'a> {
    /// Sends each request to the provider of its model.
    pub(crate) router: &'a Arc<dyn Model>,
    /// The model of the session.
    pub(crate) model: &'a str,
    /// Whether there are credentials for Anthropic's models.
    pub(crate) has_credentials: bool,
}

/// Pages are read by a small model and searches made by the provider where the session's own model
/// is one of Anthropic's; elsewhere pages come as they are and searches need an address.
pub(crate) fn web_config(
    environment: &Environment,
    catalog: &Catalog,
    session: &SessionId,
    door: &SideDoor<'_>,
) -> WebConfig {
    let openai_url = environment.get("OPENAI_BASE_URL");
    let base_url = openai_url.or_else(|| environment.get("ANTHROPIC_BASE_URL"));
    let kind = provider_for(door.model, base_url.as_deref());
    let is_anthropic = door.has_credentials && matches!(kind, ProviderKind::Anthropic);
    let side_model = |name: String| SideModel {
        model: Arc::clone(door.router),
        name,
        session: session.to_string(),
    };
    let small = environment.get("ANTHROPIC_SMALL_FAST_MODEL");
    let small = small.unwrap_or_else(|| catalog.resolve("haiku").to_owned());
    let endpoint = environment.get("TILLERMAN_SEARCH_URL").map(SearchSource::Endpoint);
    let provider =
        || is_anthropic.then(|| SearchSource::Provider(side_model(door.model.to_owned())));
    WebConfig {
        reach: Reach::Public,
        reader: is_anthropic.then(|| side_model(small)),
        search: endpoint.or_else(provider),
    }
}
