//! Requests to the server of one provider.

use std::fmt;
use std::time::Duration;

use reqwest::Url;
use reqwest::header::{HeaderMap, USER_AGENT};
use tillerman_protocol::model::{FailureKind, ModelFailure};

use crate::connections::Connections;
use crate::http_failure::connection_failure;
use crate::place::Place;
use crate::reply::Reply;

/// Sends requests to one base URL. Nothing is read or opened before the first.
pub struct HttpClient {
    base_url: Option<Url>,
    user_agent: String,
    connect_timeout: Duration,
    connections: Connections,
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
    pub fn new(
        base_url: &str,
        user_agent: &str,
        connect_timeout: Duration,
        connections: Connections,
    ) -> Self {
        let base_url = Url::parse(base_url.trim())
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        Self { base_url, user_agent: user_agent.to_owned(), connect_timeout, connections }
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
        let client = self.connections.client(&url, self.connect_timeout)?;
        let request = client.post(url).header(USER_AGENT, &self.user_agent);
        let request = request.headers(headers).body(body);
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

fn invalid_base_url() -> ModelFailure {
    ModelFailure::new(
        FailureKind::InvalidRequest,
        "the configured base URL is not an http:// or https:// URL; nothing was sent, correct it",
    )
}
