//! Posting to a collector.

use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER, USER_AGENT};
use reqwest::{Client, StatusCode, Url};
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};

use crate::settings::{Protocol, TelemetrySettings};

const AGENT: &str = concat!("tillerman-otlp/", env!("CARGO_PKG_VERSION"));
const CONNECTING: Duration = Duration::from_secs(5);

/// Why a collector did not take what it was sent.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PostError {
    #[error("TLS cannot be set up: {0}")]
    Tls(String),
    #[error("it cannot be reached")]
    Unreachable,
    #[error("it did not answer in time")]
    Late,
    #[error("it answered with {0}")]
    Refused(StatusCode, Option<Duration>),
}

impl PostError {
    /// How long to wait before the same is worth another try, where it is.
    pub(crate) fn retry_after(&self, usual: Duration) -> Option<Duration> {
        match self {
            Self::Tls(_) => None,
            Self::Unreachable | Self::Late => Some(usual),
            Self::Refused(status, wait) => {
                let may_pass = matches!(status.as_u16(), 429 | 502 | 503 | 504);
                may_pass.then(|| wait.unwrap_or(usual))
            }
        }
    }
}

/// A collector.
#[derive(Debug)]
pub(crate) struct Collector {
    client: Client,
    endpoint: Url,
    headers: HeaderMap,
    timeout: Duration,
}

impl Collector {
    pub(crate) fn new(settings: &TelemetrySettings) -> Result<Self, PostError> {
        let endpoint = settings.endpoint.clone();
        let mut builder = Client::builder()
            .tls_backend_preconfigured(tls(&endpoint)?)
            .connect_timeout(CONNECTING)
            // A redirect would carry the credentials to a server nobody configured.
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never());
        let host = endpoint.host_str().unwrap_or_default().trim_matches(['[', ']']);
        let is_local = host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
        if is_local || host == "localhost" {
            builder = builder.no_proxy();
        }
        let client = builder.build().map_err(|error| PostError::Tls(error.to_string()))?;
        let mut headers = settings.headers.clone();
        let written = match settings.protocol {
            Protocol::Protobuf => "application/x-protobuf",
            Protocol::Json => "application/json",
        };
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(written));
        headers.entry(USER_AGENT).or_insert(HeaderValue::from_static(AGENT));
        Ok(Self { client, endpoint, headers, timeout: settings.timeout })
    }

    /// Posts once.
    pub(crate) async fn post(&self, body: Vec<u8>) -> Result<(), PostError> {
        let request = self.client.post(self.endpoint.clone()).headers(self.headers.clone());
        let sending = async {
            let answer = request.body(body).send().await.map_err(|_| PostError::Unreachable)?;
            let status = answer.status();
            let wait = answer.headers().get(RETRY_AFTER).and_then(|wait| wait.to_str().ok());
            let wait = wait.and_then(|wait| wait.parse().ok()).map(Duration::from_secs);
            if status.is_success() { Ok(()) } else { Err(PostError::Refused(status, wait)) }
        };
        match tokio::time::timeout(self.timeout, sending).await {
            Ok(sent) => sent,
            Err(_) => Err(PostError::Late),
        }
    }
}

fn tls(endpoint: &Url) -> Result<ClientConfig, PostError> {
    let mut roots = RootCertStore::empty();
    // Plain HTTP checks no certificates, and reading them takes longer than everything else.
    if endpoint.scheme() == "https" {
        let found = rustls_native_certs::load_native_certs();
        let (added, _unreadable) = roots.add_parsable_certificates(found.certs);
        if added == 0 {
            let text = "no trusted certificates were found on this machine";
            return Err(PostError::Tls(text.to_owned()));
        }
    }
    // The provider is named here because a library must not set the process-wide one.
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| PostError::Tls(error.to_string()))?;
    let mut config = config.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}
