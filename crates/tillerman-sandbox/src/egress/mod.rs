//! The egress proxy: the only way from a confined command to the network.

mod address;
mod connect;
mod http;
mod proxy;
mod rules;
mod socks;
mod violations;

pub use connect::{Resolve, SystemResolver};
pub use proxy::{EgressProxy, StartProxyError};
pub use rules::{BadDomain, DomainRules};
pub use violations::{Violation, ViolationKind};
