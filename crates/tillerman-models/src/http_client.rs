//! The HTTP connection to one provider, built when the first request needs it.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reqwest::header::HeaderMap;
use reqwest::{Client, Url};
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use tillerman_protocol::model::{FailureKind, ModelFailure};

use crate::http_failure::connection_failure;
use crate::place::Place;
use crate::reply::Reply;

/// A lazily built HTTP client for one base URL.
///
/// Certificates are read and the client is made at the first request, so that a program which never
/// asks a model does not pay for it.
pub struct HttpClient {
    base_url: Option<Url>,
    user_agent: String,
    connect_timeout: Duration,
    client: OnceLock<Client>,
}

impl fmt::Debug for HttpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The URL itself may hold a password.
        f.debug_struct("HttpClient").field("host", &self.host()).finish_non_exhaustive()
    }
}

impl HttpClient {
    /// A client for the server at `base_url`. A URL that makes no sense is reported by the first
    /// request.
    #[must_use]
    pub fn new(base_url: &str, user_agent: &str, connect_timeout: Duration) -> Self {
        let base_url = Url::parse(base_url.trim())
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        Self {
            base_url,
            user_agent: user_agent.to_owned(),
            connect_timeout,
            client: OnceLock::new(),
        }
    }

    /// The server as people name it: host and, where given, port.
    #[must_use]
    pub fn host(&self) -> String {
        let Some(url) = &self.base_url else { return "an invalid base URL".to_owned() };
        let host = url.host_str().unwrap_or_default();
        url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }

    /// Posts a JSON body to the path made of the base URL and `segments`, once, and returns when
    /// the head of the answer is here, whatever its status.
    ///
    /// # Errors
    /// When the request could not be sent or nobody answered within `timeout`.
    ///
    /// # Cancel safety
    /// Dropping the future closes the connection.
    pub async fn post(
        &self,
        place: Place,
        segments: &[&str],
        headers: HeaderMap,
        body: Vec<u8>,
        timeout: Duration,
    ) -> Result<Reply, ModelFailure> {
        let url = self.url(segments)?;
        let request = self.client()?.post(url).headers(headers).body(body);
        match tokio::time::timeout(timeout, request.send()).await {
            Ok(Ok(response)) => Ok(Reply::new(response, place)),
            Ok(Err(error)) => Err(connection_failure(error, &self.host())),
            Err(_) => Err(ModelFailure::new(
                FailureKind::Connection,
                format!(
                    "{} did not answer within {} s; the request was given up",
                    self.host(),
                    timeout.as_secs_f64()
                ),
            )),
        }
    }

    fn url(&self, segments: &[&str]) -> Result<Url, ModelFailure> {
        let mut url = self.base_url.clone().ok_or_else(invalid_base_url)?;
        match url.path_segments_mut() {
            Ok(mut path) => path.pop_if_empty().extend(segments),
            Err(()) => return Err(invalid_base_url()),
        };
        Ok(url)
    }

    fn client(&self) -> Result<&Client, ModelFailure> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        // Two first requests at once may both build one; the loser's is dropped unused. A failure is
        // not kept: certificates may be installed while the program runs.
        let client = self.build()?;
        Ok(self.client.get_or_init(|| client))
    }

    fn build(&self) -> Result<Client, ModelFailure> {
        let url = self.base_url.as_ref().ok_or_else(invalid_base_url)?;
        let mut builder = Client::builder()
            .tls_backend_preconfigured(tls_config(url)?)
            .user_agent(&self.user_agent)
            .connect_timeout(self.connect_timeout)
            // A redirect would carry the credentials to a server nobody configured.
            .redirect(reqwest::redirect::Policy::none())
            // Whether to repeat a request is the engine's decision.
            .retry(reqwest::retry::never());
        if is_loopback(url) {
            builder = builder.no_proxy();
        }
        builder.build().map_err(|error| connection_failure(error, &self.host()))
    }
}

/// A URL as it may be shown: without user, password and query.
#[must_use]
pub fn public_url(url: &str) -> String {
    let Ok(mut url) = Url::parse(url.trim()) else { return "[invalid URL]".to_owned() };
    // Only URLs that have no host refuse these, and those cannot hold a password either.
    let _no_host = url.set_username("").is_err() || url.set_password(None).is_err();
    url.set_query(None);
    url.to_string()
}

fn tls_config(url: &Url) -> Result<ClientConfig, ModelFailure> {
    let tls_failure = |message: String| ModelFailure::new(FailureKind::Tls, message);
    let mut roots = RootCertStore::empty();
    // Plain HTTP checks no certificates, and reading them takes longer than the rest of start-up.
    if url.scheme() == "https" {
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

fn invalid_base_url() -> ModelFailure {
    ModelFailure::new(
        FailureKind::InvalidRequest,
        "the configured base URL is not an http:// or https:// URL; nothing was sent, correct it",
    )
}
