//! The broker: it puts the secrets that commands never see into the requests that need them.

mod answer;
mod credential;
mod git;
mod lending;
mod loans;
mod rewriting;
mod tls;

pub(crate) use answer::clean;
pub use credential::{BadSecret, LentCredential, LentSecret, SecretSource};
pub(crate) use lending::{LendError, lend};
pub use loans::StartBrokerError;
pub(crate) use loans::{Broker, Route};
pub use rewriting::basic_value;
pub use tls::TrustedRoots;
