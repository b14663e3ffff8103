//! HTTP clients for remote servers.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{HeaderName, HeaderValue};
use reqwest::{Client, Url};
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};

const CONNECT: Duration = Duration::from_secs(30);

/// Why a remote server cannot be asked at all.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ClientError {
    #[error("{0} is not an http:// or https:// address")]
    Url(String),
    #[error("the header {0} is not one that HTTP can carry")]
    Header(String),
    #[error("no trusted certificates were found; install ca-certificates")]
    Certificates,
    #[error("TLS cannot be set up: {0}")]
    Tls(#[from] rustls::Error),
    #[error("HTTP cannot be set up: {0}")]
    Build(#[from] reqwest::Error),
}

/// A client for the server at `url`. It has no limit on how long an answer may take.
pub(crate) async fn client(url: &str) -> Result<Client, ClientError> {
    let invalid = || ClientError::Url(url.to_owned());
    let url = Url::parse(url.trim()).map_err(|_| invalid())?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(invalid());
    }
    let is_secure = url.scheme() == "https";
    // Reading certificates takes long enough to hold up a whole session.
    let tls = tokio::task::spawn_blocking(move || tls_config(is_secure));
    let tls = tls.await.map_err(|_| ClientError::Certificates)??;
    let mut builder = Client::builder()
        .tls_backend_preconfigured(tls)
        .connect_timeout(CONNECT)
        // A redirect would carry headers with tokens to a server nobody configured.
        .redirect(reqwest::redirect::Policy::none());
    if is_loopback(&url) {
        builder = builder.no_proxy();
    }
    Ok(builder.build()?)
}

/// Whether an address is on this machine.
pub(crate) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// A server's own headers.
pub(crate) fn headers(
    headers: &BTreeMap<String, String>,
) -> Result<HashMap<HeaderName, HeaderValue>, ClientError> {
    let read = |(name, value): (&String, &String)| {
        let invalid = || ClientError::Header(name.clone());
        let mut value = HeaderValue::from_str(value).map_err(|_| invalid())?;
        value.set_sensitive(true);
        Ok((HeaderName::from_bytes(name.as_bytes()).map_err(|_| invalid())?, value))
    };
    headers.iter().map(read).collect()
}

fn tls_config(is_secure: bool) -> Result<ClientConfig, ClientError> {
    let mut roots = RootCertStore::empty();
    if is_secure {
        let found = rustls_native_certs::load_native_certs();
        let (added, _unreadable) = roots.add_parsable_certificates(found.certs);
        if added == 0 {
            return Err(ClientError::Certificates);
        }
    }
    // The provider is named here because a library must not set the process-wide one.
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}
