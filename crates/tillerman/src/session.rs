//! Sessions by name: create or resume, send, stream.

use tillerman_protocol::{EntryId, SessionId};

use crate::client::{Client, Messages};
use crate::connection::Controls;
use crate::error::Result;
use crate::message::{Answer, Prompt};
use crate::options::Options;

/// A session with an id that is known from the start.
///
/// ```
/// # async fn example() -> tillerman::Result<()> {
/// use tillerman::{Options, Session};
///
/// let options = Options::new().model("rehearsal");
/// let mut session = Session::create(options.clone()).await?;
/// println!("{}", session.prompt("list files").await?.text);
/// let id = session.id().clone();
/// session.close().await?;
///
/// let mut again = Session::resume(&id, options).await?;
/// println!("{}", again.prompt("and now the hidden ones").await?.text);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Session {
    id: SessionId,
    client: Client,
}

impl Session {
    /// Opens a new session.
    ///
    /// # Errors
    /// When the options contradict each other, or when the engine cannot be started or reached.
    pub async fn create(mut options: Options) -> Result<Self> {
        let id = options.session.session_id.clone().unwrap_or_else(crate::random::uuid);
        options.session.session_id = Some(id.clone());
        let client = Client::connect(options).await?;
        Ok(Self { id: SessionId::new(id), client })
    }

    /// Goes on with a session.
    ///
    /// # Errors
    /// [`SessionNotFound`](crate::ErrorKind::SessionNotFound) when there is none, and everything
    /// that [`create`](Self::create) fails with.
    pub async fn resume(id: &SessionId, options: Options) -> Result<Self> {
        let client = Client::connect(options.resume(id.as_str())).await?;
        Ok(Self { id: id.clone(), client })
    }

    /// The session's id, for resuming it.
    #[must_use]
    pub const fn id(&self) -> &SessionId {
        &self.id
    }

    /// Steers the session from elsewhere.
    #[must_use]
    pub fn controls(&self) -> Controls {
        self.client.controls()
    }

    /// Tells the session something.
    ///
    /// # Errors
    /// When the session is over.
    pub async fn send(&self, prompt: impl Into<Prompt>) -> Result<EntryId> {
        self.client.send(prompt).await
    }

    /// The messages up to and including the next result.
    pub fn stream(&mut self) -> Messages<'_> {
        self.client.receive_response()
    }

    /// Tells the session something and returns its answer.
    ///
    /// # Errors
    /// When the round fails or the session is over.
    pub async fn prompt(&mut self, prompt: impl Into<Prompt>) -> Result<Answer> {
        self.send(prompt).await?;
        self.client.answer().await
    }

    /// Ends the session now and waits until the engine is gone.
    ///
    /// # Errors
    /// When the engine could not be ended.
    pub async fn close(self) -> Result<()> {
        self.client.close().await
    }
}
