//! A client whose connections go to checked addresses only.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{Client, Url, redirect, retry};
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};

use super::address::may_reach;
use crate::config::Reach;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const USER_AGENT: &str = concat!("tillerman/", env!("CARGO_PKG_VERSION"));

/// Why a client could not be made.
#[derive(Debug, thiserror::Error)]
pub(super) enum ConnectError {
    /// Certificates or encryption are not available.
    #[error("{0}")]
    Tls(String),
    /// The client itself could not be built.
    #[error("no connection could be prepared: {0}")]
    Client(#[from] reqwest::Error),
}

/// The address is not one that may be reached.
#[derive(Debug, thiserror::Error)]
#[error("{host} is not on the public internet, so nothing was sent")]
pub(super) struct Unreachable {
    host: String,
}

/// A client that is made when first needed: reading certificates takes longer than starting up.
pub(super) struct Connection {
    reach: Reach,
    client: OnceLock<Client>,
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("reach", &self.reach).finish_non_exhaustive()
    }
}

impl Connection {
    pub(super) const fn new(reach: Reach) -> Self {
        Self { reach, client: OnceLock::new() }
    }

    pub(super) const fn reach(&self) -> Reach {
        self.reach
    }

    /// The client.
    pub(super) fn client(&self) -> Result<&Client, ConnectError> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let client = Client::builder()
            .tls_backend_preconfigured(tls_config()?)
            .user_agent(USER_AGENT)
            .connect_timeout(CONNECT_TIMEOUT)
            // The names are looked up here and the connection goes to what was found and checked:
            // between a check and a second look-up the answer could change.
            .dns_resolver(CheckedNames { reach: self.reach })
            // A proxy would look the name up again, out of sight.
            .no_proxy()
            .redirect(redirect::Policy::none())
            .retry(retry::never())
            .build()?;
        Ok(self.client.get_or_init(|| client))
    }

    /// Refuses a URL that names an address instead of a host, which is never looked up.
    pub(super) fn check_literal(&self, url: &Url) -> Result<(), Unreachable> {
        match literal(url) {
            Some(address) if !may_reach(address, self.reach) => {
                Err(Unreachable { host: url.host_str().unwrap_or_default().to_owned() })
            }
            _ => Ok(()),
        }
    }
}

/// The address a URL names, if it names one.
pub(super) fn literal(url: &Url) -> Option<IpAddr> {
    let host = url.host_str()?;
    host.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

/// Looks names up and passes on only addresses that may be reached.
struct CheckedNames {
    reach: Reach,
}

impl Resolve for CheckedNames {
    fn resolve(&self, name: Name) -> Resolving {
        let reach = self.reach;
        Box::pin(async move {
            let host = name.as_str().to_owned();
            let found = tokio::net::lookup_host((host.as_str(), 0)).await?;
            let good: Vec<SocketAddr> =
                found.filter(|address| may_reach(address.ip(), reach)).collect();
            if good.is_empty() {
                return Err(Unreachable { host }.into());
            }
            Ok(Box::new(good.into_iter()) as Addrs)
        })
    }
}

fn tls_config() -> Result<ClientConfig, ConnectError> {
    let mut roots = RootCertStore::empty();
    // Without any certificate plain connections still work, and others say what is missing.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    // The provider is named here because a library must not set the process-wide one.
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| ConnectError::Tls(format!("TLS cannot be set up: {error}")))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}
