//! Signing in to remote servers with OAuth, and the tokens that come of it.

mod credentials;
mod door;
mod tokens;

mod callback;
mod flow;
mod probe;
mod redirect;
mod refusal;
mod scopes;

pub use callback::{Callback, CallbackError};
pub(crate) use credentials::Watch;
pub use credentials::{CredentialFiles, KeepError};
pub use flow::{SignIn, SignInError, SignInOptions};
pub(crate) use refusal::Refusal;
pub(crate) use tokens::{SendError, Tokens};
