//! Which conversation it is, and what is kept of it.

use std::sync::Arc;

use crate::options::builder::Options;
use crate::sessions::SessionStore;

/// Which conversation it is, and what is kept of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct SessionOptions {
    pub(crate) origin: Origin,
    pub(crate) session_id: Option<String>,
    pub(crate) fork: bool,
    pub(crate) resume_at: Option<String>,
    pub(crate) keeping: Keeping,
    pub(crate) store: Option<Arc<dyn SessionStore>>,
    pub(crate) title: Option<String>,
}

/// Where the conversation begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Origin {
    #[default]
    New,
    Newest,
    Session(String),
}

/// What is kept.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Keeping {
    pub(crate) nothing: bool,
    pub(crate) checkpoints: bool,
}

/// The conversation: which one it is, and what is kept of it.
impl Options {
    /// Goes on with the newest session of the working directory (`continue`).
    pub fn continue_conversation(mut self) -> Self {
        self.session.origin = Origin::Newest;
        self
    }

    /// Goes on with this session (`resume`).
    pub fn resume(mut self, session: impl Into<String>) -> Self {
        self.session.origin = Origin::Session(session.into());
        self
    }

    /// Gives a new session this id, a UUID.
    pub fn session_id(mut self, id: impl Into<String>) -> Self {
        self.session.session_id = Some(id.into());
        self
    }

    /// Leaves the session that is resumed as it is and goes on in a copy (`forkSession`).
    pub fn fork_session(mut self) -> Self {
        self.session.fork = true;
        self
    }

    /// Goes on after this message of the resumed session and forgets what came later
    /// (`resumeSessionAt`).
    pub fn resume_session_at(mut self, message: impl Into<String>) -> Self {
        self.session.resume_at = Some(message.into());
        self
    }

    /// Keeps copies of the working directories, so that
    /// [`rewind_files`](crate::Controls::rewind_files) can bring them back
    /// (`enableFileCheckpointing`).
    pub fn enable_file_checkpointing(mut self) -> Self {
        self.session.keeping.checkpoints = true;
        self
    }

    /// Keeps nothing on disk.
    pub fn no_session_persistence(mut self) -> Self {
        self.session.keeping.nothing = true;
        self
    }

    /// Keeps a copy of the transcript in a store, and resumes sessions from it.
    pub fn session_store(mut self, store: Arc<dyn SessionStore>) -> Self {
        self.session.store = Some(store);
        self
    }

    /// Gives the session a title.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.session.title = Some(title.into());
        self
    }
}
