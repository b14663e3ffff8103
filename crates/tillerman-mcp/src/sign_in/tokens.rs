//! Tokens of one server, as its connections use them: read from the file, renewed when they are due.

use std::sync::Arc;
use std::time::Duration;

use reqwest::header::AUTHORIZATION;
use reqwest::{RequestBuilder, Response, StatusCode, Url};
use rmcp::transport::auth::{
    AuthClient, AuthError, AuthorizationManager, AuthorizationMetadataResolution,
    AuthorizationMetadataSource, OAuthClientConfig,
};
use tillerman_protocol::mcp::RemoteMcpServer;
use tokio::time::timeout;

use super::credentials::{CredentialFiles, Record};
use super::door::{Door, is_safe};
use super::probe;

/// How long a connection waits to learn where tokens are renewed.
const DISCOVERY: Duration = Duration::from_secs(10);

/// Why a request was not answered.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SendError {
    #[error("{0}")]
    Http(#[from] reqwest::Error),
    #[error("{0}")]
    Auth(#[from] AuthError),
}

/// The tokens of a server that somebody signed in to.
pub(crate) struct Tokens(AuthorizationManager);

impl Tokens {
    /// The tokens of a server; none when nobody signed in, or when its configuration has its own.
    pub(crate) async fn of(
        files: Option<&CredentialFiles>,
        server: &str,
        remote: &RemoteMcpServer,
    ) -> Result<Option<Self>, AuthError> {
        let Some(files) = files.filter(|_| !has_own(remote)) else { return Ok(None) };
        let Ok(url) = Url::parse(remote.url.trim()) else { return Ok(None) };
        let mut keeper = files.keeper(server, &remote.url);
        let Some(record) = keeper.record().await?.filter(|_| is_safe(&url)) else {
            return Ok(None);
        };
        keeper.origin.clone_from(&record.origin);
        let mut manager =
            AuthorizationManager::new_with_oauth_http_client(url, Arc::new(Door)).await?;
        manager.set_credential_store(keeper);
        if let Err(why) = prepare_renewal(&mut manager, record, remote).await {
            // What is kept may still be good for a while.
            tracing::warn!("tokens of the MCP server {server} cannot be renewed: {why}");
        }
        Ok(Some(Self(manager)))
    }

    /// A client that sends tokens with every request.
    pub(crate) fn client(self, client: reqwest::Client) -> AuthClient<reqwest::Client> {
        AuthClient::new(client, self.0)
    }

    /// Sends a request with a token, and once more with a new one when that is not accepted.
    pub(crate) async fn send(&self, request: RequestBuilder) -> Result<Response, SendError> {
        let again = request.try_clone();
        let token = match self.0.get_access_token().await {
            Ok(token) => token,
            Err(AuthError::AuthorizationRequired) => return Ok(request.send().await?),
            Err(error) => return Err(error.into()),
        };
        let response = request.bearer_auth(token).send().await?;
        let Some(again) = again.filter(|_| response.status() == StatusCode::UNAUTHORIZED) else {
            return Ok(response);
        };
        match self.0.refresh_token().await {
            Ok(_) => Ok(again.bearer_auth(self.0.get_access_token().await?).send().await?),
            Err(AuthError::AuthorizationRequired | AuthError::TokenRefreshRejected(_)) => {
                Ok(response)
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// Whether the configuration brings its own authorization.
pub(super) fn has_own(remote: &RemoteMcpServer) -> bool {
    remote.headers.keys().any(|name| name.eq_ignore_ascii_case(AUTHORIZATION.as_str()))
}

/// Finds out where tokens are renewed, and as which client.
async fn prepare_renewal(
    manager: &mut AuthorizationManager,
    record: Record,
    remote: &RemoteMcpServer,
) -> Result<(), AuthError> {
    let failed = |why: &str| AuthError::MetadataError(why.to_owned());
    let is_issued = record.credentials.issuer.is_some();
    let found = timeout(DISCOVERY, discover(manager, remote, is_issued)).await;
    let found = found.map_err(|_| failed("its authorization server does not answer"))??;
    if is_guess(&found) && is_issued {
        // Guessed endpoints belong to the server itself, which must not see the refresh token.
        return Err(failed("it no longer says who issues its tokens"));
    }
    manager.set_metadata(found.metadata);
    if manager.initialize_from_store().await?
        && let Some(secret) = record.origin.client_secret
    {
        let client = OAuthClientConfig::new(record.credentials.client_id, "http://localhost");
        manager.configure_client(client.with_client_secret(secret))?;
    }
    Ok(())
}

/// Servers that say only in a challenge who issues their tokens are challenged.
async fn discover(
    manager: &AuthorizationManager,
    remote: &RemoteMcpServer,
    is_issued: bool,
) -> Result<AuthorizationMetadataResolution, AuthError> {
    let found = manager.resolve_metadata().await?;
    if !is_issued || !is_guess(&found) {
        return Ok(found);
    }
    let challenge = probe::challenge(remote).await;
    manager.resolve_metadata_from_challenge(challenge.as_deref()).await
}

fn is_guess(found: &AuthorizationMetadataResolution) -> bool {
    found.source == AuthorizationMetadataSource::LegacyEndpointFallback
}
