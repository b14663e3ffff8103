//! One sign-in: find who issues tokens, send a person there, exchange what comes back.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use reqwest::Url;
use rmcp::transport::auth::{AuthError, AuthorizationManager, OAuthClientConfig};
use serde_json::Value;
use tillerman_protocol::mcp::{McpServerConfig, RemoteMcpServer, TaggedMcpServer};
use tokio::time::timeout;
use tracing::instrument::WithSubscriber as _;
use tracing::subscriber::NoSubscriber;

use super::callback::{self, Callback, CallbackError, presentable};
use super::credentials::{CredentialFiles, Keeper, Origin, hash};
use super::door::{Door, is_safe};
use super::probe;
use super::redirect::Redirect;
use super::tokens::has_own;
use crate::config::NamedServer;
use crate::connect::chain;

/// What authorization servers are told is asking.
pub(super) const CLIENT_NAME: &str = "Tillerman";
/// How long finding out, registering and exchanging may take, each in all.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a sign-in is told besides the server's configuration.
#[derive(Clone, Default)]
pub struct SignInOptions {
    /// The secret of the client that the configuration names.
    pub client_secret: Option<String>,
    /// The port that browsers are sent back to, unless the configuration names one.
    pub callback_port: Option<u16>,
}

impl std::fmt::Debug for SignInOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SignInOptions")
            .field("callback_port", &self.callback_port)
            .finish_non_exhaustive()
    }
}

/// Why nobody is signed in.
#[derive(Debug, thiserror::Error)]
pub enum SignInError {
    /// The server is not one that is reached over HTTP.
    #[error("only servers of the types http and sse can be signed in to")]
    NotRemote,
    /// The configuration brings its own authorization.
    #[error("its configuration has an Authorization header; remove that to sign in instead")]
    OwnHeader,
    /// Tokens would travel where others can read them.
    #[error("{0} is neither https:// nor on this machine; tokens are not sent there")]
    Insecure(String),
    /// There is nowhere to send the browser back to.
    #[error("the browser cannot be sent back to this machine ({0}); choose another callback port")]
    Listen(#[from] io::Error),
    /// The authorization server cannot be found, or wants something else.
    #[error("{0}")]
    Refused(String),
    /// Something took too long.
    #[error("the authorization server did not answer within {} s", PATIENCE.as_secs())]
    TooSlow,
}

impl From<AuthError> for SignInError {
    fn from(error: AuthError) -> Self {
        Self::Refused(presentable(&chain(&error)))
    }
}

/// A sign-in that waits for a person.
pub struct SignIn {
    manager: AuthorizationManager,
    redirect: Redirect,
    url: String,
    state: String,
}

impl std::fmt::Debug for SignIn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SignIn").field("redirect", &self.redirect).finish_non_exhaustive()
    }
}

impl SignIn {
    /// Finds out who issues tokens for a server, and registers there as a client where the
    /// configuration does not name one.
    ///
    /// # Errors
    /// When the server is not one that can be signed in to, or its authorization server refuses.
    ///
    /// # Cancel safety
    /// Dropping the future leaves a registration behind that nobody uses.
    pub async fn begin(
        files: &CredentialFiles,
        server: &NamedServer,
        options: SignInOptions,
    ) -> Result<Self, SignInError> {
        let begun = Box::pin(Self::begun(files, server, options));
        timeout(PATIENCE, begun).await.map_err(|_| SignInError::TooSlow)?
    }

    async fn begun(
        files: &CredentialFiles,
        server: &NamedServer,
        options: SignInOptions,
    ) -> Result<Self, SignInError> {
        let remote = remote(server)?;
        let address = safe(&remote.url)?;
        let wish = Wish::of(remote);
        let redirect = Redirect::listen(wish.callback_port.or(options.callback_port)).await?;
        let mut manager =
            AuthorizationManager::new_with_oauth_http_client(address, Arc::new(Door)).await?;
        let challenge = probe::challenge(remote).await;
        let found = manager.resolve_metadata_from_challenge(challenge.as_deref()).await?;
        safe(&found.metadata.authorization_endpoint)?;
        safe(&found.metadata.token_endpoint)?;
        manager.set_metadata(found.metadata);
        let mut keeper = files.keeper(&server.name, &remote.url);
        let scopes = match wish.scopes {
            scopes if scopes.is_empty() => with_wanted(&keeper, &manager).await,
            scopes => scopes,
        };
        let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
        let client_secret = if let Some(client_id) = wish.client_id {
            let mut client = OAuthClientConfig::new(client_id, redirect.uri());
            client.client_secret.clone_from(&options.client_secret);
            manager.configure_client(client)?;
            options.client_secret
        } else {
            manager.register_client(CLIENT_NAME, &redirect.uri(), &scopes).await?.client_secret
        };
        let url = manager.get_authorization_url(&scopes).await?;
        let state = state_of(&url).ok_or_else(|| SignInError::Insecure(url.clone()))?;
        keeper.origin = Origin { sign_in: hash(&state), client_secret };
        manager.set_credential_store(keeper);
        Ok(Self { manager, redirect, url, state })
    }

    /// The address that a person opens in a browser.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Waits until a browser on this machine comes back. The caller sets the deadline.
    ///
    /// # Errors
    /// When the person or the authorization server refused.
    ///
    /// # Cancel safety
    /// Dropping the future may lose an answer that has just arrived.
    pub async fn redirected(&self) -> Result<Callback, CallbackError> {
        let judge = |address: &str| match self.read(address) {
            Ok(callback) => {
                let words = "Tillerman has the answer. Close this page and go back to it.";
                (Some(Ok(callback)), words.to_owned())
            }
            Err(error @ CallbackError::Refused(_)) => {
                let words = error.to_string();
                (Some(Err(error)), words)
            }
            Err(error) => (None, error.to_string()),
        };
        self.redirect.next(judge).await
    }

    /// Reads the address that a browser on another machine ended up at.
    ///
    /// # Errors
    /// When it is not the answer to this sign-in, or the answer is no.
    pub fn read(&self, address: &str) -> Result<Callback, CallbackError> {
        callback::read(address, &self.state)
    }

    /// Exchanges the answer for tokens and keeps them.
    ///
    /// # Errors
    /// When the authorization server does not accept the answer, or tokens cannot be kept.
    ///
    /// # Cancel safety
    /// Dropping the future may use up the answer; sign in again.
    pub async fn finish(self, callback: Callback) -> Result<(), SignInError> {
        let Callback { code, issuer } = callback;
        let exchange =
            self.manager.exchange_code_for_token_with_issuer(&code, &self.state, issuer.as_deref());
        // The library logs the code and parts of the answer, which no log may hold.
        let exchange = Box::pin(exchange.with_subscriber(NoSubscriber::new()));
        timeout(PATIENCE, exchange).await.map_err(|_| SignInError::TooSlow)??;
        Ok(())
    }
}

fn remote(server: &NamedServer) -> Result<&RemoteMcpServer, SignInError> {
    let McpServerConfig::Tagged(TaggedMcpServer::Http(remote) | TaggedMcpServer::Sse(remote)) =
        &server.config
    else {
        return Err(SignInError::NotRemote);
    };
    if has_own(remote) { Err(SignInError::OwnHeader) } else { Ok(remote) }
}

/// What the server names to everybody, and what it has wanted since.
async fn with_wanted(keeper: &Keeper, manager: &AuthorizationManager) -> Vec<String> {
    let mut scopes = manager.select_initial_scopes(&[]).await;
    let wanted = keeper.wanted_scopes().await;
    scopes.extend(wanted.into_iter().filter(|scope| !scopes.contains(scope)).collect::<Vec<_>>());
    scopes
}

fn safe(address: &str) -> Result<Url, SignInError> {
    let url = Url::parse(address.trim()).ok().filter(is_safe);
    url.ok_or_else(|| SignInError::Insecure(presentable(address)))
}

fn state_of(url: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    let mut pairs = url.query_pairs();
    pairs.find(|(name, _)| name == "state").map(|(_, state)| state.into_owned())
}

/// What a server's configuration says about signing in, under `oauth`.
#[derive(Default)]
struct Wish {
    client_id: Option<String>,
    callback_port: Option<u16>,
    scopes: Vec<String>,
}

impl Wish {
    fn of(remote: &RemoteMcpServer) -> Self {
        let Some(wish) = remote.extra.get("oauth") else { return Self::default() };
        let port = wish.get("callbackPort").and_then(Value::as_u64);
        let scopes = wish.get("scopes").and_then(Value::as_str).unwrap_or_default();
        Self {
            client_id: wish.get("clientId").and_then(Value::as_str).map(str::to_owned),
            callback_port: port.and_then(|port| u16::try_from(port).ok()),
            scopes: scopes.split_whitespace().map(str::to_owned).collect(),
        }
    }
}
