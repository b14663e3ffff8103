//! Which repositories the user trusts, by the content of everything in them that can run or loosen.

mod fingerprint;
mod ledger;
mod state;

pub use fingerprint::FingerprintError;
pub use ledger::{LedgerError, TrustedDirectory};
pub use state::{Trust, TrustError, TrustState};

pub(crate) use ledger::path as ledger_path;
