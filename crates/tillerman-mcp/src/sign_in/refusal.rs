//! Why a server does not accept a request as it was sent: no token, or one that allows too little.

use std::error::Error;
use std::fmt;

use rmcp::service::{ClientInitializeError, ServiceError};
use rmcp::transport::auth::AuthError;
use rmcp::transport::streamable_http_client::{AuthRequiredError, InsufficientScopeError};
use tillerman_protocol::mcp::{McpServerConfig, TaggedMcpServer};

use super::callback::presentable;
use super::credentials::CredentialFiles;
use crate::config::NamedServer;

/// What a server that refused a request wants first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Somebody has to sign in.
    SignIn,
    /// Somebody has to sign in again, for these scopes; none when the server does not name them.
    Scopes(Vec<String>),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SignIn => f.write_str(
                "it wants authorization (401); sign in with `tillerman mcp login`, or add a header \
                 with a token to its configuration",
            ),
            Self::Scopes(scopes) => {
                let scopes = scopes.join(" ");
                let scopes = if scopes.is_empty() { "it does not say which" } else { &scopes };
                write!(
                    f,
                    "it wants authorization for more scopes (403: {scopes}); sign in again with \
                     `tillerman mcp login`, after adding them to its configuration if that names any"
                )
            }
        }
    }
}

impl Refusal {
    /// The refusal that made a request fail, if that is why.
    pub(crate) fn of(error: &ServiceError) -> Option<Self> {
        let ServiceError::TransportSend(error) = error else { return None };
        Self::within(&*error.error)
    }

    /// The refusal that made a handshake fail, if that is why.
    pub(crate) fn of_handshake(error: &ClientInitializeError) -> Option<Self> {
        let found = match error {
            ClientInitializeError::TransportError { error, .. } => Self::within(&*error.error),
            _ => None,
        };
        found.or_else(|| error.is_authorization_required().then_some(Self::SignIn))
    }

    /// Has the next sign-in ask for what the server wants.
    pub(crate) async fn remember(&self, files: Option<&CredentialFiles>, server: &NamedServer) {
        let Self::Scopes(scopes) = self else { return };
        let McpServerConfig::Tagged(TaggedMcpServer::Http(remote)) = &server.config else { return };
        let Some(files) = files else { return };
        let keeper = files.keeper(&server.name, &remote.url);
        if let Err(why) = keeper.want_scopes(scopes.clone()).await {
            tracing::warn!("the next sign-in to {} will ask for too little: {why}", server.name);
        }
    }

    fn within(error: &(dyn Error + 'static)) -> Option<Self> {
        let mut next = Some(error);
        while let Some(error) = next {
            if let Some(error) = error.downcast_ref::<InsufficientScopeError>() {
                let scopes = error.required_scope.as_deref().unwrap_or_default();
                return Some(Self::Scopes(scopes.split_whitespace().map(presentable).collect()));
            }
            let is_missing = matches!(error.downcast_ref(), Some(AuthError::AuthorizationRequired));
            if is_missing || error.is::<AuthRequiredError>() {
                return Some(Self::SignIn);
            }
            next = error.source();
        }
        None
    }
}
