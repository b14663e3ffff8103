//! Finding, reading and replacing files.

mod change;
mod fingerprint;
mod open;
mod patch;
mod path;
mod replace;
mod scratch;

pub(crate) use change::{Change, bounded};
pub(crate) use fingerprint::{Fingerprint, FingerprintBuilder};
pub(crate) use open::{OpenFileError, Stored, load, open_regular};
pub(crate) use patch::{Hunk, patch, snippet};
pub(crate) use path::{absolute, check_path, resolve_target};
pub(crate) use replace::replace;
pub(crate) use scratch::{RemovedOnDrop, make_private_directory};
