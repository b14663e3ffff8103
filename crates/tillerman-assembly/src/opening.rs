//! Opening the session that the order asks for: new, resumed, continued or forked.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tillerman_engine::{IdSource, Restored, restore};
use tillerman_ports::{BoxFuture, Transcript};
use tillerman_protocol::SessionId;
use tillerman_protocol::transcript::Entry;
use tillerman_store::{
    FileTranscript, Loaded, NoTranscript, OpenError, Repairs, ResumeAt, SessionFiles, fork,
};

use crate::failure::StartFailure;
use crate::order::{ConversationOrder, Resume, SessionOrder};
use crate::seed;

/// How long an opener may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Opens conversations that are kept somewhere else than in transcript files.
pub trait SessionOpener: std::fmt::Debug + Send + Sync {
    /// Opens the conversation that is asked for, to be worked on in this directory. It has a
    /// minute for it.
    ///
    /// # Cancel safety
    /// The future may be dropped; then nobody works on the conversation.
    fn open(
        &self,
        wanted: ConversationOrder,
        cwd: PathBuf,
    ) -> BoxFuture<Result<Opened, StartFailure>>;
}

/// A session that is open.
#[derive(Debug)]
pub struct Opened {
    pub(crate) id: SessionId,
    pub(crate) transcript: Box<dyn Transcript>,
    pub(crate) restored: Restored,
    /// Entries that belong into the transcript before the first new one.
    pub(crate) copied: Vec<Entry>,
}

/// Opens the session that the order asks for, by whom it says.
pub(crate) async fn open(
    order: &SessionOrder,
    config_dir: &Path,
    cwd: &Path,
) -> Result<Opened, StartFailure> {
    let Some(opener) = &order.parts.opener else {
        return open_files(&order.session, config_dir, cwd);
    };
    let opening = opener.open(order.session.clone(), cwd.to_path_buf());
    tokio::time::timeout(PATIENCE, opening).await.unwrap_or_else(|_| {
        Err(StartFailure::session(
            "The conversation was not opened within a minute, so nothing was started. Whatever \
             keeps it may be out of reach; try again later.",
        ))
    })
}

fn open_files(
    wanted: &ConversationOrder,
    config_dir: &Path,
    cwd: &Path,
) -> Result<Opened, StartFailure> {
    let files = SessionFiles::new(config_dir.to_path_buf(), cwd);
    if wanted.resume.is_none() && wanted.resume_at.is_some() {
        return Err(StartFailure::usage("--resume-session-at needs --resume or --continue"));
    }
    let Some(source) = source(wanted, &files)? else {
        let id = wanted.id.clone().unwrap_or_else(seed::session_id);
        if wanted.no_persistence {
            return Ok(Opened::unkept(id, Restored::default()));
        }
        let transcript = files.create(&id).map_err(|error| explain(&error))?;
        return Ok(Opened::kept(id, transcript, Restored::default()));
    };
    let at = resume_point(wanted, &files, &source)?;
    if wanted.fork {
        return forked(wanted, &files, &source, &at);
    }
    if wanted.id.is_some() {
        return Err(StartFailure::usage(
            "--session-id needs --fork-session when a session is resumed",
        ));
    }
    if wanted.no_persistence {
        let loaded = files.read(&source, &at).map_err(|error| explain(&error))?;
        return Ok(Opened::unkept(source, restore(&loaded.entries)));
    }
    let (transcript, loaded) = files.resume(&source, &at).map_err(|error| explain(&error))?;
    report(&loaded.repairs);
    Ok(Opened::kept(source, transcript, restored(&loaded)))
}

impl Opened {
    /// A session of which these entries are stored, in their order; none in a new one.
    #[must_use]
    pub fn new(id: SessionId, transcript: Box<dyn Transcript>, entries: &[Entry]) -> Self {
        Self { id, transcript, restored: restore(entries), copied: Vec::new() }
    }

    fn kept(id: SessionId, transcript: FileTranscript, restored: Restored) -> Self {
        Self { id, transcript: Box::new(transcript), restored, copied: Vec::new() }
    }

    fn unkept(id: SessionId, restored: Restored) -> Self {
        Self { id, transcript: Box::new(NoTranscript), restored, copied: Vec::new() }
    }
}

/// The session that is to go on; nothing when a new one is wanted.
pub(crate) fn source(
    wanted: &ConversationOrder,
    files: &SessionFiles,
) -> Result<Option<SessionId>, StartFailure> {
    match &wanted.resume {
        Some(Resume::Session(id)) if id.as_str().is_empty() => {
            Err(StartFailure::usage("--resume needs the id of a session"))
        }
        Some(Resume::Session(id)) => named(id, files).map(Some),
        // Whoever always continues begins somewhere.
        Some(Resume::Newest) => files.newest().map_err(|error| explain(&error)),
        None => Ok(None),
    }
}

/// A session by its id, by the path of its transcript, or by the title a person gave it.
fn named(id: &SessionId, files: &SessionFiles) -> Result<SessionId, StartFailure> {
    if files.exists(id) {
        return Ok(id.clone());
    }
    if let Some(name) = id.as_str().strip_suffix(".jsonl") {
        let name = name.rsplit('/').next().unwrap_or(name);
        return Ok(SessionId::new(name));
    }
    let titled = files.titled(id.as_str()).map_err(|error| explain(&error))?;
    Ok(titled.unwrap_or_else(|| id.clone()))
}

fn resume_point(
    wanted: &ConversationOrder,
    files: &SessionFiles,
    source: &SessionId,
) -> Result<ResumeAt, StartFailure> {
    if let Some(at) = &wanted.resume_at {
        return Ok(ResumeAt::Entry(at.clone()));
    }
    let dropped = wanted.resume_drops.as_ref().filter(|uuid| !uuid.as_str().is_empty());
    let Some(dropped) = dropped else {
        return Ok(ResumeAt::End);
    };
    // The prompt goes away with everything after it, so the conversation goes on at its parent.
    let at = ResumeAt::Entry(dropped.clone());
    let loaded = files.read(source, &at).map_err(|error| explain(&error))?;
    let links = loaded.entries.iter().filter_map(Entry::link);
    let parent =
        links.filter(|link| link.uuid == *dropped).find_map(|link| link.parent_uuid.clone());
    match parent {
        Some(parent) => Ok(ResumeAt::Entry(parent)),
        None => Err(StartFailure::session(format!(
            "The message {dropped} opens the session, so dropping it leaves nothing to resume"
        ))),
    }
}

fn forked(
    wanted: &ConversationOrder,
    files: &SessionFiles,
    source: &SessionId,
    at: &ResumeAt,
) -> Result<Opened, StartFailure> {
    let loaded = files.read(source, at).map_err(|error| explain(&error))?;
    let id = wanted.id.clone().unwrap_or_else(seed::session_id);
    let mut ids = IdSource::new(seed::words());
    let copied = fork(loaded.entries, &id, &mut || ids.entry_id());
    let restored = restore(&copied);
    if wanted.no_persistence {
        return Ok(Opened::unkept(id, restored));
    }
    let transcript = files.create(&id).map_err(|error| explain(&error))?;
    Ok(Opened { copied, ..Opened::kept(id, transcript, restored) })
}

/// The chain goes on at the leaf that the store chose, also when later entries were read.
fn restored(loaded: &Loaded) -> Restored {
    let mut restored = restore(&loaded.entries);
    restored.tip = loaded.leaf.clone().or(restored.tip);
    restored
}

fn report(repairs: &Repairs) {
    if repairs.torn_tail_bytes > 0 {
        tracing::warn!("the transcript ended in an unfinished line; it was cut off");
    }
    for skipped in &repairs.skipped {
        tracing::warn!("line {} of the transcript was skipped: {}", skipped.line, skipped.reason);
    }
}

fn explain(error: &OpenError) -> StartFailure {
    let mut message = error.to_string();
    if let Some(source) = std::error::Error::source(error) {
        message = format!("{message}: {source}");
    }
    match error {
        OpenError::BadId { .. } => StartFailure::usage(message),
        _ => StartFailure::session(message),
    }
}
