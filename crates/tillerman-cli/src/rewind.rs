//! `--rewind-files`: the files of a session as they were before a message.

use std::io::Write as _;

use tillerman_assembly::{SessionOrder, StartFailure, file_checkpoints, session_to_resume};
use tillerman_ports::{Checkpoints as _, Extent, Rewound};
use tillerman_protocol::{EntryId, SessionId};
use tillerman_store::file_history_dir;

use crate::arguments::{Arguments, InputFormat, OutputFormat};

/// How many files a text lists.
const MOST_LISTED: usize = 20;

/// What `--rewind-files` leaves to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Afterwards {
    /// The files are all there was to do; this is the exit code.
    Exit(u8),
    /// The conversation is rewound too and goes on.
    GoOn,
}

/// Whether `--rewind-files` is all that is wanted.
///
/// # Errors
/// When the command line makes no sense.
pub(crate) fn stands_alone(arguments: &Arguments) -> Result<bool, StartFailure> {
    let session = &arguments.session;
    if session.rewind.rewind_files.is_none() {
        return Ok(false);
    }
    if session.resume.is_none() && !session.go_on {
        return Err(StartFailure::usage(
            "--rewind-files needs --resume ID (or --continue): it goes back to a message of that \
             session",
        ));
    }
    let streams = arguments.format.input_format == InputFormat::StreamJson;
    let says_more = arguments.prompt.is_some() || streams;
    let rewinds_talk = session.resume_session_at.is_some() || session.resume_drops_turn.is_some();
    match (says_more, rewinds_talk) {
        (true, true) if session.rewind.dry_run => Err(StartFailure::usage(
            "--dry-run changes nothing, so there is nothing to go on with; leave the prompt out",
        )),
        (true, true) => Ok(false),
        (false, _) => Ok(true),
        (true, false) => Err(StartFailure::usage(
            "--rewind-files rewinds and exits. To rewind the conversation as well and go on with a \
             new prompt, add --resume-drops-turn with the same UUID.",
        )),
    }
}

/// Does what `--rewind-files` asks for, if anything.
pub(crate) async fn rewind(
    arguments: &Arguments,
    order: &SessionOrder,
) -> Result<Afterwards, StartFailure> {
    let Some(message) = &arguments.session.rewind.rewind_files else {
        return Ok(Afterwards::GoOn);
    };
    let alone = stands_alone(arguments)?;
    let session = session_to_resume(&order.session, &order.environment, &order.cwd)?
        .ok_or_else(|| StartFailure::usage("--rewind-files needs --resume ID"))?;
    let history = file_history_dir(&order.environment.config_dir(), &session);
    if !history.join("log").exists() {
        return Err(StartFailure::session(format!(
            "The session {session} has no file checkpoints, so nothing was changed. They are taken \
             when it runs with CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING=true."
        )));
    }
    let dry = arguments.session.rewind.dry_run;
    let extent = if dry { Extent::DryRun } else { Extent::Whole };
    let rewinding =
        file_checkpoints(&order.environment, &session).rewind(EntryId::new(message), extent);
    let rewound = rewinding.await.map_err(|error| {
        let cause = std::error::Error::source(&error).map(|cause| format!(" ({cause})"));
        StartFailure::session(format!("{error}{} Nothing was changed.", cause.unwrap_or_default()))
    })?;
    let text = match arguments.format.output_format {
        _ if !alone => describe(&rewound, &session, extent),
        OutputFormat::Text => describe(&rewound, &session, extent),
        OutputFormat::Json | OutputFormat::StreamJson => format!("{}\n", rewound.answer()),
    };
    if alone {
        drop(write!(std::io::stdout(), "{text}"));
        Ok(Afterwards::Exit(u8::from(!rewound.failed.is_empty())))
    } else {
        // Standard output belongs to the conversation that follows.
        drop(write!(std::io::stderr(), "{text}"));
        Ok(Afterwards::GoOn)
    }
}

fn describe(rewound: &Rewound, session: &SessionId, extent: Extent) -> String {
    let (restored, deleted) = match extent {
        Extent::DryRun => ("would be restored", "would be deleted"),
        Extent::Whole => ("restored", "deleted"),
    };
    let mut lines = vec![format!(
        "{} {restored}, {} {deleted} (+{} -{} lines).",
        files(rewound.restored),
        files(rewound.deleted),
        rewound.insertions,
        rewound.deletions
    )];
    lines.extend(rewound.files.iter().take(MOST_LISTED).map(|path| format!("  {path}")));
    let unlisted = (rewound.restored + rewound.deleted)
        .saturating_sub(rewound.files.len().min(MOST_LISTED) as u64);
    if unlisted > 0 {
        lines.push(format!("  … and {unlisted} more"));
    }
    let notes = [
        (rewound.skipped_links, "left alone: links, special files and what lies behind them"),
        (rewound.not_kept, "differ, and could not be restored: their contents were not kept"),
        (rewound.split_links, "had further names, which keep the newer contents"),
        (rewound.beyond_undo, "held more than is kept, so an undo cannot bring that back"),
    ];
    let notes = notes.into_iter().filter(|(count, _)| *count > 0);
    lines.extend(notes.map(|(count, note)| format!("{count} {note}.")));
    lines.extend(rewound.failed.iter().map(|failure| format!("Failed: {failure}")));
    if let Some(undo) = &rewound.undo {
        lines.push(format!("To undo: tillerman --resume {session} --rewind-files {undo}"));
    }
    lines.join("\n") + "\n"
}

fn files(count: u64) -> String {
    if count == 1 { "1 file".to_owned() } else { format!("{count} files") }
}
