//! Handlers that tell a web address.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures_util::StreamExt as _;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Response, Url};
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use tillerman_protocol::hook::{HookEvent, HookInput, HttpHook};

use crate::config::HookConfig;
use crate::interpolate::variables;
use crate::meaning::{Meaning, of_text, quoted};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const LARGEST: usize = 8 << 20;
const USER_AGENT: &str = concat!("tillerman/", env!("CARGO_PKG_VERSION"));

#[cfg(test)]
mod tests;

/// Why an address could not be told.
#[derive(Debug, thiserror::Error)]
enum CallError {
    #[error("{0} is not an http:// or https:// address")]
    Url(String),
    #[error("{0} is not among the addresses that allowedHttpHookUrls allows, so nothing was sent")]
    NotAllowed(String),
    #[error("the header {0} cannot be sent")]
    Header(String),
    #[error("TLS cannot be set up: {0}")]
    Tls(#[from] rustls::Error),
    #[error("{0}")]
    Request(#[from] reqwest::Error),
    #[error("the answer is larger than 8 MiB")]
    TooLarge,
}

/// A client that is made when first needed: reading certificates takes longer than starting up.
#[derive(Debug, Default)]
pub(crate) struct Caller {
    client: OnceLock<Client>,
    /// For addresses of this machine, which no proxy can reach.
    near: OnceLock<Client>,
}

impl Caller {
    /// Posts what happened; a success with JSON is an answer, anything else has no opinion.
    ///
    /// # Cancel safety
    /// Dropping the future closes the connection.
    pub(crate) async fn post(
        &self,
        config: &HookConfig,
        hook: &HttpHook,
        input: &HookInput,
        event: HookEvent,
    ) -> Meaning {
        match self.exchange(config, hook, input).await {
            Ok((200..=299, body)) if body.trim().is_empty() => {
                Meaning::answered(tillerman_protocol::hook::HookOutput::default())
            }
            Ok((200..=299, body)) if body.trim_start().starts_with('{') => {
                Meaning { stdout: quoted(&body), ..of_text(event, &body) }
            }
            Ok((200..=299, body)) => Meaning::failed(format!(
                "it answered something that is not JSON: {}",
                quoted(&body)
            )),
            Ok((status, body)) => {
                Meaning::failed(format!("it answered with status {status}: {}", quoted(&body)))
            }
            Err(error) => Meaning::failed(told(&error)),
        }
    }

    async fn exchange(
        &self,
        config: &HookConfig,
        hook: &HttpHook,
        input: &HookInput,
    ) -> Result<(u16, String), CallError> {
        let url = allowed(config, &hook.url)?;
        let headers = headers(config, hook)?;
        let body = serde_json::to_vec(input).unwrap_or_default();
        let response =
            self.client(is_loopback(&url))?.post(url).headers(headers).body(body).send().await?;
        let status = response.status().as_u16();
        Ok((status, text(response).await?))
    }

    fn client(&self, is_near: bool) -> Result<&Client, CallError> {
        let held = if is_near { &self.near } else { &self.client };
        if let Some(client) = held.get() {
            return Ok(client);
        }
        let mut roots = RootCertStore::empty();
        // Without any certificate plain connections still work, and others say what is missing.
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        // The provider is named here because a library must not set the process-wide one.
        let mut tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        let builder = if is_near { Client::builder().no_proxy() } else { Client::builder() };
        let client = builder
            .tls_backend_preconfigured(tls)
            .user_agent(USER_AGENT)
            .connect_timeout(CONNECT_TIMEOUT)
            // A redirect would carry what happened, and headers, to somebody nobody named.
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .build()?;
        Ok(held.get_or_init(|| client))
    }
}

fn allowed(config: &HookConfig, text: &str) -> Result<Url, CallError> {
    let url = Url::parse(text.trim()).ok();
    let url = url.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let url = url.ok_or_else(|| CallError::Url(shown(text)))?;
    match &config.allowed_urls {
        Some(patterns) if !patterns.iter().any(|pattern| fits(pattern, url.as_str())) => {
            Err(CallError::NotAllowed(shown(text)))
        }
        _ => Ok(url),
    }
}

/// Whether an address fits a pattern in which `*` stands for anything, but never for the end of
/// the host.
fn fits(pattern: &str, url: &str) -> bool {
    let split = |text: &str| {
        let host = text.find("://").map_or(0, |at| at + 3);
        let end = text[host..].find('/').map_or(text.len(), |at| host + at);
        (text[..end].to_owned(), text[end..].to_owned())
    };
    let ((wanted_host, wanted_path), (host, path)) = (split(pattern), split(url));
    let any_path = wanted_path.is_empty() && path == "/";
    matches_stars(&wanted_host, &host) && (any_path || matches_stars(&wanted_path, &path))
}

fn matches_stars(pattern: &str, text: &str) -> bool {
    let Some((first, more)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = more.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        match rest.split_once(part) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    rest.ends_with(last)
}

fn headers(config: &HookConfig, hook: &HttpHook) -> Result<HeaderMap, CallError> {
    let may_see = |name: &str| {
        let named = hook.allowed_env_vars.iter().any(|allowed| allowed == name);
        let list = config.allowed_variables.as_ref();
        named && list.is_none_or(|list| list.iter().any(|allowed| allowed == name))
    };
    let look_up = |name: &str| config.variable(name).filter(|_| may_see(name)).map(str::to_owned);
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    for (name, value) in &hook.headers {
        // The value may hold a secret and is not told.
        let broken = || CallError::Header(name.clone());
        let key = HeaderName::try_from(name.as_str()).map_err(|_| broken())?;
        let value = HeaderValue::try_from(variables(value, look_up)).map_err(|_| broken())?;
        headers.insert(key, value);
    }
    Ok(headers)
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || address.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

async fn text(response: Response) -> Result<String, CallError> {
    let mut body = Vec::new();
    let mut pieces = response.bytes_stream();
    while let Some(piece) = pieces.next().await {
        let piece = piece?;
        if body.len() + piece.len() > LARGEST {
            return Err(CallError::TooLarge);
        }
        body.extend_from_slice(&piece);
    }
    Ok(String::from_utf8_lossy(&body).into_owned())
}

/// An address without user, password and query, which may be secret.
fn shown(text: &str) -> String {
    let Ok(mut url) = Url::parse(text.trim()) else { return "the address".to_owned() };
    let _no_host = url.set_username("").is_err() || url.set_password(None).is_err();
    url.set_query(None);
    url.to_string()
}

/// An error with its causes, without the address.
fn told(error: &CallError) -> String {
    let mut text = match error {
        CallError::Request(error) if error.is_connect() => "no connection was made".to_owned(),
        CallError::Request(_) => "the request failed".to_owned(),
        other => return other.to_string(),
    };
    let mut source = std::error::Error::source(error).and_then(std::error::Error::source);
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
