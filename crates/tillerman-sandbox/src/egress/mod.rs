//! The egress proxy: the only way from a confined command to the network.

mod address;
mod body;
mod broker;
mod connect;
mod http;
mod proxy;
mod request;
mod rules;
mod socks;
mod violations;

pub use broker::{
    BadSecret, LentCredential, LentSecret, SecretSource, StartBrokerError, TrustedRoots,
    basic_value,
};
pub use connect::{Resolve, SystemResolver};
pub use proxy::{EgressProxy, Outside, StartProxyError};
pub use rules::{BadDomain, DomainRules};
pub use violations::{Violation, ViolationKind};
