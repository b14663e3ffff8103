//! TLS towards the hosts of credentials.

use std::io;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, InvalidDnsNameError, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::egress::rules::Host;

const HANDSHAKE_WAIT: Duration = Duration::from_secs(20);

/// Whose word counts about who a host is.
#[derive(Clone, Debug, Default)]
pub enum TrustedRoots {
    /// That of the authorities this machine trusts.
    #[default]
    System,
    /// That of these alone, as DER.
    Only(Vec<Vec<u8>>),
}

/// Makes TLS connections; what this needs is read when the first is made.
#[derive(Debug)]
pub(crate) struct Tls {
    roots: TrustedRoots,
    config: OnceLock<Arc<ClientConfig>>,
}

/// Why a host could not be spoken to. Nothing was said to it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HandshakeError {
    #[error(
        "no trusted certificates were found on this machine; install ca-certificates or point \
         SSL_CERT_FILE at a bundle"
    )]
    NoRoots,
    #[error("TLS cannot be set up: {0}")]
    Setup(rustls::Error),
    #[error("no certificate can be for a host of this name")]
    Name(#[from] InvalidDnsNameError),
    #[error("{0}")]
    Refused(io::Error),
    #[error("it did not answer")]
    Late,
}

impl Tls {
    pub(crate) fn new(roots: TrustedRoots) -> Self {
        Self { roots, config: OnceLock::new() }
    }

    /// Makes sure who is at the other end.
    ///
    /// # Cancel safety
    /// Dropping the future closes the connection.
    pub(crate) async fn connect(
        &self,
        host: &Host,
        stream: TcpStream,
    ) -> Result<TlsStream<TcpStream>, HandshakeError> {
        let name = match host {
            Host::Name(name) => ServerName::try_from(name.clone())?,
            Host::Address(address) => ServerName::from(*address),
        };
        let connector = TlsConnector::from(self.config()?);
        let connected = timeout(HANDSHAKE_WAIT, connector.connect(name, stream)).await;
        connected.map_err(|_| HandshakeError::Late)?.map_err(HandshakeError::Refused)
    }

    fn config(&self) -> Result<Arc<ClientConfig>, HandshakeError> {
        if let Some(config) = self.config.get() {
            return Ok(Arc::clone(config));
        }
        // A failure is not kept: certificates may be installed while the program runs.
        let config = Arc::new(self.build()?);
        Ok(Arc::clone(self.config.get_or_init(|| config)))
    }

    fn build(&self) -> Result<ClientConfig, HandshakeError> {
        let certificates = match &self.roots {
            TrustedRoots::System => rustls_native_certs::load_native_certs().certs,
            TrustedRoots::Only(roots) => roots.iter().cloned().map(CertificateDer::from).collect(),
        };
        let mut roots = RootCertStore::empty();
        let (added, _unreadable) = roots.add_parsable_certificates(certificates);
        if added == 0 {
            return Err(HandshakeError::NoRoots);
        }
        // The provider is named here because a library must not set the process-wide one.
        let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(HandshakeError::Setup)?
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(config)
    }
}
