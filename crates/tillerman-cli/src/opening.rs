//! Opening the session that the command line asks for: new, resumed, continued or forked.

use std::path::Path;

use tillerman_engine::{IdSource, Restored, restore};
use tillerman_ports::Transcript;
use tillerman_protocol::transcript::Entry;
use tillerman_protocol::{EntryId, SessionId};
use tillerman_store::{
    FileTranscript, Loaded, NoTranscript, OpenError, Repairs, ResumeAt, SessionFiles, fork,
};

use crate::arguments::SessionArguments;
use crate::failure::StartFailure;
use crate::seed;

/// A session that is open.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) id: SessionId,
    pub(crate) transcript: Box<dyn Transcript>,
    pub(crate) restored: Restored,
    /// Entries that belong into the transcript before the first new one.
    pub(crate) copied: Vec<Entry>,
}

/// Opens the session that the command line asks for.
pub(crate) fn open(
    arguments: &SessionArguments,
    config_dir: &Path,
    cwd: &Path,
) -> Result<Opened, StartFailure> {
    let files = SessionFiles::new(config_dir.to_path_buf(), cwd);
    let Some(source) = source(arguments, &files)? else {
        let id = arguments.session_id.as_ref().map_or_else(seed::session_id, SessionId::new);
        if arguments.no_session_persistence {
            return Ok(Opened::unkept(id, Restored::default()));
        }
        let transcript = files.create(&id).map_err(|error| explain(&error))?;
        return Ok(Opened::kept(id, transcript, Restored::default()));
    };
    let at = resume_point(arguments, &files, &source)?;
    if arguments.fork_session {
        return forked(arguments, &files, &source, &at);
    }
    if arguments.session_id.is_some() {
        return Err(StartFailure::usage(
            "--session-id needs --fork-session when a session is resumed",
        ));
    }
    if arguments.no_session_persistence {
        let loaded = files.read(&source, &at).map_err(|error| explain(&error))?;
        return Ok(Opened::unkept(source, restore(&loaded.entries)));
    }
    let (transcript, loaded) = files.resume(&source, &at).map_err(|error| explain(&error))?;
    report(&loaded.repairs);
    Ok(Opened::kept(source, transcript, restored(&loaded)))
}

impl Opened {
    fn kept(id: SessionId, transcript: FileTranscript, restored: Restored) -> Self {
        Self { id, transcript: Box::new(transcript), restored, copied: Vec::new() }
    }

    fn unkept(id: SessionId, restored: Restored) -> Self {
        Self { id, transcript: Box::new(NoTranscript), restored, copied: Vec::new() }
    }
}

/// The session that is to go on; nothing when a new one is wanted.
pub(crate) fn source(
    arguments: &SessionArguments,
    files: &SessionFiles,
) -> Result<Option<SessionId>, StartFailure> {
    match (&arguments.resume, arguments.go_on) {
        (Some(id), _) if id.is_empty() => {
            Err(StartFailure::usage("--resume needs the id of a session"))
        }
        (Some(id), _) => Ok(Some(SessionId::new(id))),
        (None, true) => match files.newest().map_err(|error| explain(&error))? {
            Some(id) => Ok(Some(id)),
            None => Err(StartFailure::session("No conversation found to continue")),
        },
        (None, false) => Ok(None),
    }
}

fn resume_point(
    arguments: &SessionArguments,
    files: &SessionFiles,
    source: &SessionId,
) -> Result<ResumeAt, StartFailure> {
    if let Some(at) = &arguments.resume_session_at {
        return Ok(ResumeAt::Entry(EntryId::new(at)));
    }
    let Some(dropped) = arguments.resume_drops_turn.as_ref().filter(|uuid| !uuid.is_empty()) else {
        return Ok(ResumeAt::End);
    };
    // The prompt goes away with everything after it, so the conversation goes on at its parent.
    let at = ResumeAt::Entry(EntryId::new(dropped));
    let loaded = files.read(source, &at).map_err(|error| explain(&error))?;
    let links = loaded.entries.iter().filter_map(Entry::link);
    let parent = links
        .filter(|link| link.uuid.as_str() == dropped)
        .find_map(|link| link.parent_uuid.clone());
    match parent {
        Some(parent) => Ok(ResumeAt::Entry(parent)),
        None => Err(StartFailure::session(format!(
            "The message {dropped} opens the session, so dropping it leaves nothing to resume"
        ))),
    }
}

fn forked(
    arguments: &SessionArguments,
    files: &SessionFiles,
    source: &SessionId,
    at: &ResumeAt,
) -> Result<Opened, StartFailure> {
    let loaded = files.read(source, at).map_err(|error| explain(&error))?;
    let id = arguments.session_id.as_ref().map_or_else(seed::session_id, SessionId::new);
    let mut ids = IdSource::new(seed::words());
    let copied = fork(loaded.entries, &id, &mut || ids.entry_id());
    let restored = restore(&copied);
    if arguments.no_session_persistence {
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
