//! Which credential is lent to which host, and what stands for it inside.

use std::collections::BTreeMap;
use std::ffi::OsString;

use hyper::http::request::Parts;

use super::credential::LentCredential;
use super::tls::{Tls, TrustedRoots};
use super::{git, rewriting};
use crate::egress::rules::{BadDomain, Host, split_port};
use crate::egress::target::Target;

/// The port of HTTPS, which needs not be written.
const HTTPS: u16 = 443;
/// The port of plain requests, which needs not be written either.
const HTTP: u16 = 80;

/// Everything that is lent to the commands of one confinement.
#[derive(Debug)]
pub(crate) struct Broker {
    pub(crate) loans: Vec<Loan>,
    pub(crate) services: Vec<Service>,
    pub(crate) tls: Tls,
}

/// One credential, and what stands for it inside.
#[derive(Debug)]
pub(crate) struct Loan {
    pub(crate) credential: LentCredential,
    /// Random, so that nothing else is ever mistaken for it.
    pub(crate) sentinel: String,
}

/// A host that some credentials are for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Service {
    pub(crate) host: Host,
    /// Where it speaks HTTPS.
    pub(crate) port: u16,
    /// Its credentials, by their place in the list of loans.
    pub(crate) loans: Vec<usize>,
}

/// What happens with a request.
#[derive(Debug)]
pub(crate) enum Route<'a> {
    /// It concerns no credential.
    Plain,
    /// It goes to this service over HTTPS, with the secrets it asks for.
    Lent(&'a Service),
    /// It carries what stands for a credential to a host that the credential is not for.
    Astray(String),
}

/// Why nothing can be lent.
#[derive(Debug, thiserror::Error)]
pub enum StartBrokerError {
    /// A host of a credential is none.
    #[error("a host of the credential {name} cannot be understood")]
    Host {
        /// The credential.
        name: String,
        /// The host.
        source: BadDomain,
    },
    /// This machine gives no random numbers.
    #[error("this machine gives no random numbers, so nothing can stand for a credential")]
    Random(#[source] getrandom::Error),
}

impl Broker {
    /// Gives every credential something that stands for it.
    pub(crate) fn start(
        credentials: &[LentCredential],
        roots: &TrustedRoots,
    ) -> Result<Self, StartBrokerError> {
        let mut broker =
            Self { loans: Vec::new(), services: Vec::new(), tls: Tls::new(roots.clone()) };
        for (index, credential) in credentials.iter().enumerate() {
            for host in &credential.hosts {
                broker.add_service(index, host).map_err(|source| StartBrokerError::Host {
                    name: credential.name.clone(),
                    source,
                })?;
            }
            let sentinel = sentinel(&credential.name).map_err(StartBrokerError::Random)?;
            broker.loans.push(Loan { credential: credential.clone(), sentinel });
        }
        Ok(broker)
    }

    fn add_service(&mut self, loan: usize, text: &str) -> Result<(), BadDomain> {
        let bad = || BadDomain(text.to_owned());
        let (host, port) = split_port(text).ok_or_else(bad)?;
        let host = Host::parse(host).ok_or_else(bad)?;
        let port = port.unwrap_or(HTTPS);
        let known = self.services.iter_mut().find(|it| it.host == host && it.port == port);
        match known {
            Some(service) if service.loans.contains(&loan) => {}
            Some(service) => service.loans.push(loan),
            None => self.services.push(Service { host, port, loans: vec![loan] }),
        }
        Ok(())
    }

    /// What happens with a request of which this is the head.
    pub(crate) fn route(&self, target: &Target, head: &Parts) -> Route<'_> {
        let host = Host::parse(&target.host);
        let service = host.and_then(|host| {
            self.services.iter().find(|service| service.is_meant_by(&host, target))
        });
        let lent = service.map(|service| service.loans.as_slice()).unwrap_or_default();
        let astray = self.loans.iter().enumerate().find(|(index, loan)| {
            !lent.contains(index) && rewriting::carries(head, &loan.sentinel)
        });
        if let Some((_, loan)) = astray {
            let LentCredential { name, hosts, .. } = &loan.credential;
            let (host, port) = (&target.host, target.port);
            return Route::Astray(format!(
                "{host}:{port} is no host of the credential {name}, for which the request asked, \
                 so it was not sent; {name} is lent for {}",
                hosts.join(", ")
            ));
        }
        match service {
            Some(service) if !target.is_tunnel => Route::Lent(service),
            Some(_) | None => Route::Plain,
        }
    }

    /// Puts into a command's environment what it needs to use the credentials.
    pub(crate) fn lend(&self, environment: &mut BTreeMap<OsString, OsString>) {
        for loan in &self.loans {
            for name in &loan.credential.variables {
                environment.insert(name.into(), loan.sentinel.clone().into());
            }
        }
        git::configure(self, environment);
    }
}

impl Service {
    fn is_meant_by(&self, host: &Host, target: &Target) -> bool {
        let usual = self.port == HTTPS && target.port == HTTP && !target.is_tunnel;
        self.host == *host && (self.port == target.port || usual)
    }

    /// The service as addresses name it.
    pub(crate) fn authority(&self) -> String {
        let host = match self.host {
            Host::Address(std::net::IpAddr::V6(address)) => format!("[{address}]"),
            Host::Address(_) | Host::Name(_) => self.host.to_string(),
        };
        if self.port == HTTPS { host } else { format!("{host}:{}", self.port) }
    }

    /// Whether it speaks HTTPS where everybody does.
    pub(crate) fn is_usual(&self) -> bool {
        self.port == HTTPS
    }
}

fn sentinel(name: &str) -> Result<String, getrandom::Error> {
    let mut random = [0; 16];
    getrandom::fill(&mut random)?;
    let random: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("tillerman-credential-{name}-{random}"))
}
