//! Choosing a stage by the arguments of the hidden subcommand.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::fd::{FromRawFd as _, OwnedFd, RawFd};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::de::DeserializeOwned;

use super::{exec, init, start};
use crate::sandbox::REFUSED;

/// Why a stage did not go on. Nothing of the command has run then.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StageError {
    /// It was called in another way than by this crate.
    #[error("the arguments of the stage are wrong")]
    Arguments,
    /// The plan cannot be read.
    #[error("the plan of the confinement cannot be read")]
    Plan(#[source] io::Error),
    /// The process is not confined as planned.
    #[error("the confinement is not what was planned: {0}")]
    Unconfined(String),
    /// A step failed.
    #[error("{what}")]
    Step {
        /// The step.
        what: String,
        /// Why.
        source: io::Error,
    },
    /// An inner wall could not be built.
    #[error("{wall} could not be built: {why}")]
    Wall {
        /// Which.
        wall: &'static str,
        /// Why not.
        why: String,
    },
    /// The command could not be started.
    #[error("{} could not be started", program.display())]
    Program {
        /// The command.
        program: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

impl StageError {
    /// A step that failed.
    pub(crate) fn step(what: impl Into<String>, source: impl Into<io::Error>) -> Self {
        Self::Step { what: what.into(), source: source.into() }
    }
}

/// Runs the stage that the arguments behind `__confined` name. It returns only when the command has
/// ended or could not be started; the program must do nothing else before or after.
///
/// Call it before any thread is started: the stages change what belongs to the whole process.
pub fn run_stage(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let outcome = choose(arguments.into_iter());
    let error = match outcome {
        Ok(code) => return ExitCode::from(code),
        Err(error) => error,
    };
    let mut message = format!("tillerman sandbox: {error}");
    let mut source = std::error::Error::source(&error);
    while let Some(cause) = source {
        message = format!("{message}: {cause}");
        source = cause.source();
    }
    let end = match &error {
        StageError::Program { source, .. } if source.kind() == io::ErrorKind::NotFound => 127,
        StageError::Program { .. } => 126,
        _ => {
            message.push_str("; the command was not run");
            REFUSED
        }
    };
    drop(writeln!(io::stderr(), "{message}"));
    ExitCode::from(end)
}

fn choose(mut arguments: impl Iterator<Item = OsString>) -> Result<u8, StageError> {
    let (Some(stage), Some(argument), None) =
        (arguments.next(), arguments.next(), arguments.next())
    else {
        return Err(StageError::Arguments);
    };
    let descriptor = || {
        let number = argument.to_str().and_then(|text| text.parse::<RawFd>().ok());
        number.filter(|number| *number > 2).ok_or(StageError::Arguments)
    };
    match stage.to_str() {
        Some("start") => start::run(Path::new(&argument)),
        Some("init") => init::run(descriptor()?),
        Some("exec") => exec::run(descriptor()?),
        _ => Err(StageError::Arguments),
    }
}

/// Reads a plan from the descriptor the stage before has left open, and keeps it open for the next.
pub(crate) fn read_plan<T: DeserializeOwned>(
    descriptor: RawFd,
) -> Result<(T, OwnedFd), StageError> {
    #[expect(unsafe_code, reason = "a number on the command line is all there is of the plan")]
    // SAFETY: the stage before has left this descriptor open for this one and nothing else in this
    // process knows of it. Should it not be open, reading fails and the stage ends.
    let mut file = unsafe { File::from_raw_fd(descriptor) };
    let mut text = Vec::new();
    file.rewind().and_then(|()| file.read_to_end(&mut text)).map_err(StageError::Plan)?;
    let plan = serde_json::from_slice(&text).map_err(|error| StageError::Plan(error.into()))?;
    Ok((plan, file.into()))
}

/// Lets every descriptor from `first` to `last` close when the next program starts.
pub(crate) fn close_on_exec(first: u32, last: u32) -> Result<(), StageError> {
    if first > last {
        return Ok(());
    }
    #[expect(unsafe_code, reason = "there is no safe interface to close_range")]
    // SAFETY: the flag only marks descriptors; none is closed under anybody's feet.
    let outcome =
        unsafe { libc::syscall(libc::SYS_close_range, first, last, libc::CLOSE_RANGE_CLOEXEC) };
    if outcome == 0 {
        return Ok(());
    }
    Err(StageError::step("inherited files could not be closed", io::Error::last_os_error()))
}
