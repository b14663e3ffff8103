//! Open connections to providers, shared by whoever asks them.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use reqwest::{Client, Url};
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use tillerman_protocol::model::{FailureKind, ModelFailure};

use crate::http_failure::connection_failure;

/// Connections that stay open between requests, and the certificates they are checked with.
///
/// Clones share them. A program with many sessions gives all of them the same, so that the machine's
/// certificates are read once and a session need not shake hands before its first request.
/// Certificates are read and clients are made when a request needs them: a program that never asks
/// a model does not pay for it. Connections live in the async runtime that opened them, so what is
/// shared must stay within one.
#[derive(Clone, Default)]
pub struct Connections {
    clients: Arc<Mutex<Vec<(Kind, Client)>>>,
}

/// What makes clients different; servers are told apart by the client itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kind {
    is_secure: bool,
    is_loopback: bool,
    connect_timeout: Duration,
}

impl fmt::Debug for Connections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connections").finish_non_exhaustive()
    }
}

impl Connections {
    /// The client for a URL.
    ///
    /// # Errors
    /// When the machine trusts nobody or TLS cannot be set up. A failure is not kept: certificates
    /// may be installed while the program runs.
    pub(crate) fn client(
        &self,
        url: &Url,
        connect_timeout: Duration,
    ) -> Result<Client, ModelFailure> {
        let kind = Kind {
            is_secure: url.scheme() == "https",
            is_loopback: is_loopback(url),
            connect_timeout,
        };
        // Held while a client is made: of many first requests only one should read certificates.
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, client)) = clients.iter().find(|(known, _)| *known == kind) {
            return Ok(client.clone());
        }
        let client = build(kind, url)?;
        clients.push((kind, client.clone()));
        Ok(client)
    }
}

fn build(kind: Kind, url: &Url) -> Result<Client, ModelFailure> {
    let mut builder = Client::builder()
        .tls_backend_preconfigured(tls_config(kind.is_secure)?)
        .connect_timeout(kind.connect_timeout)
        // A redirect would carry the credentials to a server nobody configured.
        .redirect(reqwest::redirect::Policy::none())
        // Whether to repeat a request is the engine's decision.
        .retry(reqwest::retry::never());
    if kind.is_loopback {
        builder = builder.no_proxy();
    }
    builder.build().map_err(|error| connection_failure(error, url.host_str().unwrap_or_default()))
}

fn tls_config(is_secure: bool) -> Result<ClientConfig, ModelFailure> {
    let tls_failure = |message: String| ModelFailure::new(FailureKind::Tls, message);
    let mut roots = RootCertStore::empty();
    // Plain HTTP checks no certificates, and reading them takes longer than the rest of start-up.
    if is_secure {
        let found = rustls_native_certs::load_native_certs();
        let (added, _unreadable) = roots.add_parsable_certificates(found.certs);
        if added == 0 {
            return Err(tls_failure(
                "no trusted certificates were found on this machine, so no HTTPS server can be \
                 checked; install ca-certificates or point SSL_CERT_FILE at a bundle"
                    .to_owned(),
            ));
        }
    }
    // The provider is named here because a library must not set the process-wide one.
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| tls_failure(format!("TLS cannot be set up: {error}")))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || host.ends_with(".localhost")
        || address.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}
