//! The egress proxy: the only way from a confined command to the network.

mod address;
mod broker;
mod connect;
mod exchange;
mod http;
mod passing;
mod proxy;
mod rules;
mod socks;
mod target;
mod unheard;
mod violations;

pub use broker::{
    BadSecret, LentCredential, LentSecret, SecretSource, StartBrokerError, TrustedRoots,
    basic_value,
};
pub use connect::{Resolve, SystemResolver};
pub use proxy::{EgressProxy, Outside, StartProxyError};
pub use rules::{BadDomain, DomainRules};
pub use violations::{Violation, ViolationKind};
