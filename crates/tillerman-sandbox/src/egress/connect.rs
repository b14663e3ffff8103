//! Going where the rules allow: resolve, check the addresses, connect to just those.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::StatusCode;
use tillerman_ports::BoxFuture;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::address::is_public;
use super::broker::Broker;
use super::rules::{DomainRules, Host, Verdict};
use super::violations::{ViolationKind, ViolationLog};
use crate::confinement::PrivateAddresses;

const RESOLVE_WAIT: Duration = Duration::from_secs(10);
const CONNECT_WAIT: Duration = Duration::from_secs(15);

/// Finds the addresses of a name.
pub trait Resolve: Send + Sync + std::fmt::Debug {
    /// The addresses of a name.
    ///
    /// # Cancel safety
    /// Dropping the future only forgets the question.
    fn resolve(&self, name: String, port: u16) -> BoxFuture<io::Result<Vec<SocketAddr>>>;
}

/// Asks the system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemResolver;

impl Resolve for SystemResolver {
    fn resolve(&self, name: String, port: u16) -> BoxFuture<io::Result<Vec<SocketAddr>>> {
        Box::pin(async move { Ok(tokio::net::lookup_host((name, port)).await?.collect()) })
    }
}

/// Opens connections that the rules allow.
#[derive(Debug)]
pub(crate) struct Gate {
    pub(crate) rules: DomainRules,
    pub(crate) private_addresses: PrivateAddresses,
    pub(crate) resolver: Arc<dyn Resolve>,
    pub(crate) violations: Arc<ViolationLog>,
    pub(crate) broker: Arc<Broker>,
}

/// Why a connection was not opened.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OpenConnectionError {
    /// The rules are against it.
    #[error("{0}")]
    Refused(String),
    /// Nobody is there.
    #[error("{host} could not be reached")]
    Unreachable {
        /// Where.
        host: String,
        /// Why.
        source: io::Error,
    },
}

impl OpenConnectionError {
    /// What an answer says in the place of the server's.
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Self::Refused(_) => StatusCode::FORBIDDEN,
            Self::Unreachable { .. } => StatusCode::BAD_GATEWAY,
        }
    }
}

impl Gate {
    /// Opens a connection, or writes down that somebody tried.
    ///
    /// # Cancel safety
    /// Dropping the future gives the connection up.
    pub(crate) async fn open(
        &self,
        host: &str,
        port: u16,
    ) -> Result<TcpStream, OpenConnectionError> {
        let opened = self.try_open(host, port).await;
        if let Err(OpenConnectionError::Refused(text)) = &opened {
            self.violations.add(ViolationKind::Network, text.clone());
        }
        opened
    }

    async fn try_open(&self, text: &str, port: u16) -> Result<TcpStream, OpenConnectionError> {
        let refuse = |why: &str| Err(OpenConnectionError::Refused(format!("{text}:{port} {why}")));
        let Some(host) = Host::parse(text) else { return refuse("is no host that can be judged") };
        let verdict = self.rules.judge(&host, port);
        match verdict {
            Verdict::AllowedAddress | Verdict::AllowedName => {}
            Verdict::Denied => return refuse("is denied (sandbox.network.deniedDomains)"),
            Verdict::NotAllowed => {
                return refuse("is not among the allowed domains (sandbox.network.allowedDomains)");
            }
        }
        let unreachable =
            |source| OpenConnectionError::Unreachable { host: host.to_string(), source };
        let addresses = match &host {
            Host::Address(address) => vec![SocketAddr::new(*address, port)],
            Host::Name(name) => {
                let answer = timeout(RESOLVE_WAIT, self.resolver.resolve(name.clone(), port)).await;
                answer
                    .map_err(|_| unreachable(io::ErrorKind::TimedOut.into()))?
                    .map_err(unreachable)?
            }
        };
        // From here on only addresses count: asking again could give another answer.
        let named = verdict == Verdict::AllowedAddress;
        let anywhere = named || self.private_addresses == PrivateAddresses::Allowed;
        let fit: Vec<SocketAddr> =
            addresses.iter().copied().filter(|it| anywhere || is_public(it.ip())).collect();
        if fit.is_empty() && !addresses.is_empty() {
            return refuse("leads to an address of this machine or its networks");
        }
        let mut last = io::Error::from(io::ErrorKind::NotFound);
        for address in fit {
            match timeout(CONNECT_WAIT, TcpStream::connect(address)).await {
                Ok(Ok(stream)) => return Ok(stream),
                Ok(Err(error)) => last = error,
                Err(_) => last = io::ErrorKind::TimedOut.into(),
            }
        }
        Err(unreachable(last))
    }
}
