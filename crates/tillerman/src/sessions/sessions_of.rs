//! The sessions of a working directory.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use tillerman_protocol::{EntryId, SessionId};

use crate::error::{Error, ErrorKind, Result};
use crate::sessions::chain::{self, Whose, text};
use crate::sessions::files::FileStore;
use crate::sessions::fork;
use crate::sessions::key::{SessionKey, project_key};
use crate::sessions::store::SessionStore;
use crate::sessions::summary::{SessionInfo, describe};

const SUBAGENTS: &str = "subagents/";
const AGENT: &str = "agent-";

/// The sessions of a working directory.
#[derive(Clone, Debug)]
pub struct Sessions {
    store: Arc<dyn SessionStore>,
    project: String,
}

/// Who said something in a stored session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// The person, or a tool.
    User,
    /// The agent.
    Assistant,
}

/// Something that was said in a stored session.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SessionMessage {
    /// Who said it.
    pub speaker: Speaker,
    /// The message; also what sessions can be resumed or forked at.
    pub id: EntryId,
    /// What was said, in the shape of the Messages API.
    pub message: Value,
}

impl Sessions {
    /// The sessions of a working directory in a store.
    #[must_use]
    pub fn new(store: Arc<dyn SessionStore>, cwd: &Path) -> Self {
        Self { store, project: project_key(cwd) }
    }

    /// The sessions of a working directory on disk, below the configuration directory, which is
    /// `~/.claude` unless `CLAUDE_CONFIG_DIR` names another.
    #[must_use]
    pub fn on_disk(config_dir: &Path, cwd: &Path) -> Self {
        Self::new(Arc::new(FileStore::new(config_dir)), cwd)
    }

    /// All sessions, newest first. Only the ends of transcripts are read.
    ///
    /// # Errors
    /// [`ErrorKind::Store`] when the store fails.
    pub async fn list(&self) -> Result<Vec<SessionInfo>> {
        let mut stored = self.store.list_sessions(self.project.clone()).await?;
        stored.sort_by(|a, b| {
            b.modified.cmp(&a.modified).then_with(|| a.session_id.cmp(&b.session_id))
        });
        let mut sessions = Vec::new();
        for session in stored {
            let ends = self.store.ends(self.key(&session.session_id)).await?;
            sessions.extend(ends.and_then(|ends| describe(&session, &ends)));
        }
        Ok(sessions)
    }

    /// One session.
    ///
    /// # Errors
    /// [`ErrorKind::SessionNotFound`] or [`ErrorKind::Store`], as everything here.
    pub async fn info(&self, id: &SessionId) -> Result<SessionInfo> {
        let stored = self.store.list_sessions(self.project.clone()).await?;
        let stored = stored.into_iter().find(|it| it.session_id == *id);
        let ends = self.store.ends(self.key(id)).await?;
        let described = stored.zip(ends).and_then(|(stored, ends)| describe(&stored, &ends));
        described.ok_or_else(|| not_found(id))
    }

    /// What was said in a session, as far as people are shown it.
    ///
    /// # Errors
    /// See [`info`](Self::info).
    pub async fn messages(&self, id: &SessionId) -> Result<Vec<SessionMessage>> {
        let entries = self.entries(self.key(id)).await?;
        Ok(messages(&entries, Whose::Session))
    }

    /// The subagents of a session, by id.
    ///
    /// # Errors
    /// See [`info`](Self::info).
    pub async fn subagents(&self, id: &SessionId) -> Result<Vec<String>> {
        let mut parts = self.store.list_subkeys(self.key(id)).await?;
        parts.sort();
        let ids = parts.iter().filter_map(|part| part.strip_prefix(SUBAGENTS));
        Ok(ids.map(|id| id.strip_prefix(AGENT).unwrap_or(id).to_owned()).collect())
    }

    /// What was said by and to a subagent.
    ///
    /// # Errors
    /// See [`info`](Self::info).
    pub async fn subagent_messages(
        &self,
        id: &SessionId,
        agent: &str,
    ) -> Result<Vec<SessionMessage>> {
        let part = self.key(id).part(&format!("{SUBAGENTS}{AGENT}{agent}"));
        Ok(messages(&self.entries(part).await?, Whose::Subagent))
    }

    /// Copies a session, so that both can go on, and returns the copy's id.
    ///
    /// # Errors
    /// See [`info`](Self::info).
    pub async fn fork(&self, id: &SessionId) -> Result<SessionId> {
        self.fork_upto(id, None).await
    }

    /// Copies a session up to and including one of its messages.
    ///
    /// # Errors
    /// See [`info`](Self::info); also when there is no such message.
    pub async fn fork_at(&self, id: &SessionId, message: &EntryId) -> Result<SessionId> {
        self.fork_upto(id, Some(message)).await
    }

    async fn fork_upto(&self, id: &SessionId, message: Option<&EntryId>) -> Result<SessionId> {
        let entries = self.entries(self.key(id)).await?;
        let mut conversation = chain::conversation(&entries, Whose::Session);
        if let Some(message) = message {
            let is_it = |entry: &&Value| text(entry, "uuid") == Some(message.as_str());
            let Some(at) = conversation.iter().position(is_it) else {
                let text = format!("the session {id} has no message {message}; nothing was forked");
                return Err(Error::new(ErrorKind::SessionNotFound, text));
            };
            conversation.truncate(at + 1);
        }
        if conversation.is_empty() {
            return Err(not_found(id));
        }
        let title = self.info(id).await.map(|info| info.summary).unwrap_or_default();
        let new = SessionId::new(crate::random::uuid());
        let mut copy = fork::copy(&conversation, &new);
        copy.push(custom_title(&format!("{title} (fork)"), &new));
        self.store.append(self.key(&new), copy).await?;
        Ok(new)
    }

    /// Gives a session a title.
    ///
    /// # Errors
    /// See [`info`](Self::info).
    pub async fn rename(&self, id: &SessionId, title: &str) -> Result<()> {
        let title = title.trim();
        if title.is_empty() {
            let text = "a title cannot be empty; the session was left as it is";
            return Err(Error::new(ErrorKind::InvalidOptions, text));
        }
        self.note(id, custom_title(title, id)).await
    }

    /// Gives a session a tag; an empty one takes it away.
    ///
    /// # Errors
    /// See [`info`](Self::info).
    pub async fn tag(&self, id: &SessionId, tag: &str) -> Result<()> {
        let tag: String = tag.trim().chars().filter(|c| !c.is_control()).collect();
        self.note(id, json!({"type": "tag", "tag": tag, "sessionId": id})).await
    }

    async fn note(&self, id: &SessionId, entry: Value) -> Result<()> {
        if self.store.ends(self.key(id)).await?.is_none() {
            return Err(not_found(id));
        }
        self.store.append(self.key(id), vec![entry]).await
    }

    /// Removes a session with its subagents.
    ///
    /// # Errors
    /// See [`info`](Self::info).
    pub async fn delete(&self, id: &SessionId) -> Result<()> {
        if self.store.ends(self.key(id)).await?.is_none() {
            return Err(not_found(id));
        }
        self.store.delete(self.key(id)).await
    }

    fn key(&self, id: &SessionId) -> SessionKey {
        SessionKey::new(self.project.clone(), id.clone())
    }

    async fn entries(&self, key: SessionKey) -> Result<Vec<Value>> {
        let id = key.session_id.clone();
        self.store.load(key).await?.ok_or_else(|| not_found(&id))
    }
}

fn custom_title(title: &str, id: &SessionId) -> Value {
    json!({"type": "custom-title", "customTitle": title, "sessionId": id})
}

fn messages(entries: &[Value], whose: Whose) -> Vec<SessionMessage> {
    let conversation = chain::conversation(entries, whose).into_iter();
    let visible = conversation.filter(|entry| chain::is_visible(entry, whose));
    visible
        .map(|entry| SessionMessage {
            speaker: match text(entry, "type") {
                Some("assistant") => Speaker::Assistant,
                _ => Speaker::User,
            },
            id: EntryId::new(text(entry, "uuid").unwrap_or_default()),
            message: entry.get("message").cloned().unwrap_or_default(),
        })
        .collect()
}

fn not_found(id: &SessionId) -> Error {
    let text = format!("there is no session {id} of this directory; nothing was changed");
    Error::new(ErrorKind::SessionNotFound, text)
}
