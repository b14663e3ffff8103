//! The web page of the host, built by npm when this crate is built, and carried in the binary.

mod asset;
mod policy;

pub use asset::{Asset, IS_BUILT, asset, assets};
pub use policy::CONTENT_SECURITY_POLICY;
