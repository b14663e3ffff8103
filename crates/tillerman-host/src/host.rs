//! A host: what it needs to start, and what it does until it is told to end.

use std::sync::Arc;

use tillerman_protocol::Moment;
use tokio::sync::{broadcast, watch};

use crate::access::{Role, Token, User};
use crate::launch::Launcher;
use crate::live::{Now, Shared};
use crate::metrics::Metrics;
use crate::settings::HostSettings;
use crate::store::{Store, StoreError, UserRow, first_owner};

/// News that a watcher may lag behind.
const NEWS: usize = 4_096;
/// The user whom a host begins with.
pub(crate) const FIRST_USER: &str = "owner";

/// Why a host could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartHostError {
    /// The database refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The system has no randomness to give.
    #[error("the system gives no randomness, so that no token can be made")]
    NoRandomness,
}

/// Why users could not be changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UserError {
    /// The database refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The name cannot be one.
    #[error("a name has 1 to 64 letters, digits, dots, dashes or underscores")]
    BadName,
    /// There is no such user.
    #[error("there is no user of that name")]
    Unknown,
    /// The system has no randomness to give.
    #[error("the system gives no randomness, so that no token can be made")]
    NoRandomness,
}

/// A host that is ready to serve.
#[derive(Debug)]
pub struct Host {
    pub(crate) shared: Arc<Shared>,
    pub(crate) first_token: Option<Token>,
}

impl Host {
    /// Prepares a host. The first one in a data directory makes a token for its owner.
    ///
    /// # Errors
    ///
    /// When the database refuses or the system has no randomness.
    pub async fn prepare(
        settings: HostSettings,
        store: Store,
        launcher: Arc<dyn Launcher>,
        now: Arc<dyn Fn() -> Moment + Send + Sync>,
    ) -> Result<Self, StartHostError> {
        let first_token = first_token(&store, &now).await?;
        let first_owner = store.write(|db| first_owner(db, FIRST_USER)).await?;
        let (news, _) = broadcast::channel(NEWS);
        let metrics = Metrics::default();
        let (problems, _) = watch::channel(Arc::default());
        let shared =
            Shared { store, launcher, settings, metrics, news, now, problems, first_owner };
        Ok(Self { shared: Arc::new(shared), first_token })
    }

    /// The owner's token, when this host has just made it. It is shown once.
    #[must_use]
    pub fn first_token(&self) -> Option<&Token> {
        self.first_token.as_ref()
    }

    /// The description of the API, as JSON.
    #[must_use]
    pub fn openapi(version: &str) -> serde_json::Value {
        crate::api::describe(version)
    }
}

async fn first_token(store: &Store, now: &Now) -> Result<Option<Token>, StartHostError> {
    let has_users = !store.read(UserRow::all).await?.is_empty();
    if has_users {
        return Ok(None);
    }
    match store.add_user(FIRST_USER, Role::Owner, now()).await {
        Ok(token) => Ok(Some(token)),
        Err(UserError::Store(error)) => Err(error.into()),
        Err(_) => Err(StartHostError::NoRandomness),
    }
}

impl Store {
    /// Adds a user, or gives one a new token and role. The token is shown once; what the old one
    /// opened is closed.
    ///
    /// # Errors
    ///
    /// When the name cannot be one, the database refuses, or there is no randomness.
    pub async fn add_user(&self, name: &str, role: Role, now: Moment) -> Result<Token, UserError> {
        let fits = |letter: char| letter.is_ascii_alphanumeric() || ".-_".contains(letter);
        if name.is_empty() || name.len() > 64 || !name.chars().all(fits) {
            return Err(UserError::BadName);
        }
        let token = Token::random().ok_or(UserError::NoRandomness)?;
        let user = User { name: name.to_owned(), role };
        let row = UserRow { user, token_hash: token.hash() };
        self.write(move |db| row.put(db, now)).await?;
        Ok(token)
    }

    /// Gives the first owner a new token.
    ///
    /// # Errors
    ///
    /// When the database refuses or there is no randomness.
    pub async fn renew_token(&self, now: Moment) -> Result<Token, UserError> {
        self.add_user(FIRST_USER, Role::Owner, now).await
    }

    /// Removes a user and closes everything the user had open.
    ///
    /// # Errors
    ///
    /// When there is no such user or the database refuses.
    pub async fn remove_user(&self, name: &str) -> Result<(), UserError> {
        let name = name.to_owned();
        let found = self.write(move |db| UserRow::delete(db, &name)).await?;
        if found { Ok(()) } else { Err(UserError::Unknown) }
    }

    /// All users.
    ///
    /// # Errors
    ///
    /// When the database refuses.
    pub async fn users(&self) -> Result<Vec<User>, StoreError> {
        let rows = self.read(UserRow::all).await?;
        Ok(rows.into_iter().map(|row| row.user).collect())
    }
}
