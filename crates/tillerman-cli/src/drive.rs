//! Running one session between standard input, standard output and signals.

use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::Fuse;
use tillerman_assembly::{
    SendError, Session, SessionEnd, SessionHandle, SessionOrder, StartFailure, assemble, run,
};
use tillerman_protocol::content::Content;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::arguments::{Arguments, InputFormat, OutputFormat};
use crate::order::order;
use crate::rewind::{self, Afterwards};
use crate::stdin::{self, StdinError};
use crate::traces::{Belonging, Traces, watch};
use crate::{present, stdout};

/// How long a slow reader may take to read the last frames.
const DRAIN: Duration = Duration::from_secs(600);
/// How long a session that is told to end may take; hosts kill a process that takes 5 s.
const LEAVE: Duration = Duration::from_secs(4);
const ENDED_BY_SIGINT: u8 = 130;
const ENDED_BY_SIGTERM: u8 = 143;

/// Runs the session that the command line asks for and returns the exit code.
pub(crate) async fn drive(arguments: &Arguments) -> Result<u8, StartFailure> {
    let mut order = order(arguments)?;
    let first = handshake(arguments, &mut order)?;
    if rewind::stands_alone(arguments)?
        && let Afterwards::Exit(code) = rewind::rewind(arguments, &order).await?
    {
        return Ok(code);
    }
    let prompt = match arguments.format.input_format {
        _ if arguments.extension.preparation.init_only => Some(String::new()),
        InputFormat::Text => Some(text_prompt(arguments)?),
        InputFormat::StreamJson => None,
    };
    let mut setup = assemble(&order, CancellationToken::new()).await?;
    // The session is open by now, so that files change only for a conversation that can go on.
    rewind::rewind(arguments, &order).await?;
    let traces = Traces::begin(&order.environment, Belonging::Caller);
    if let Some(traces) = &traces {
        watch(traces.telemetry(), &mut setup);
    }
    let Session { handle, frames, ended, scratch, .. } = run(setup);
    let spill = scratch.clone().unwrap_or_else(|| order.environment.temp_dir());
    let printed = match arguments.format.output_format {
        OutputFormat::Text => present::print_text(frames),
        OutputFormat::Json => present::print_json(frames, arguments.format.verbose),
        OutputFormat::StreamJson => stdout::print_frames(frames, spill),
    };
    let (broken, fatal) = oneshot::channel();
    match prompt {
        Some(prompt) => say(&handle, prompt).await,
        None => stdin::read_frames(handle.clone(), broken, first),
    }
    let wires = Wires { handle, fatal: fatal.fuse() };
    let code = wires.attend(run_and_print(ended, printed)).await;
    if let Some(traces) = traces {
        traces.finish().await;
    }
    // Files that frames have named stay; a directory that holds none is of no use to anybody.
    drop(scratch.map(std::fs::remove_dir));
    code
}

/// The first line of the input, when a host names its plugins in the handshake.
fn handshake(arguments: &Arguments, order: &mut SessionOrder) -> Result<Vec<u8>, StartFailure> {
    let streams = arguments.format.input_format == InputFormat::StreamJson;
    if !arguments.extension.host.await_initialize || !streams {
        return Ok(Vec::new());
    }
    let line = stdin::first_line().map_err(|error| {
        StartFailure::usage(format!("Standard input cannot be read: {error}. Nothing was started."))
    })?;
    let frame: serde_json::Value = serde_json::from_slice(&line).unwrap_or_default();
    for plugin in frame["request"]["plugins"].as_array().into_iter().flatten() {
        let Some(path) = plugin["path"].as_str().map(PathBuf::from) else { continue };
        if plugin["skipMcpDiscovery"] == true {
            order.extension.plugins_without_servers.push(path);
        } else {
            order.extension.plugins.push(path);
        }
    }
    Ok(line)
}

/// Runs the session and waits until the last frame has been read.
async fn run_and_print(
    session: impl Future<Output = SessionEnd>,
    printed: oneshot::Receiver<()>,
) -> Ended {
    let session = session.await;
    let unread = tokio::time::timeout(DRAIN, printed).await.is_err();
    if unread {
        tracing::error!("nobody read standard output for ten minutes; the last frames are lost");
    }
    Ended { session, unread }
}

/// How a session ended, and whether its last frames found no reader.
struct Ended {
    session: SessionEnd,
    unread: bool,
}

/// The prompt of the command line, with what a pipe adds to it.
fn text_prompt(arguments: &Arguments) -> Result<String, StartFailure> {
    let is_piped = !std::io::stdin().is_terminal();
    let piped = if is_piped && (arguments.prompt.is_none() || stdin::has_something()) {
        stdin::read_prompt().map_err(|error| StartFailure::usage(error.to_string()))?
    } else {
        String::new()
    };
    let parts: Vec<&str> = [arguments.prompt.as_deref().unwrap_or_default(), piped.trim_end()]
        .into_iter()
        .filter(|part| !part.trim().is_empty())
        .collect();
    if parts.is_empty() {
        return Err(StartFailure::usage(
            "There is no prompt. Say what the agent is to do, as in: tillerman \"what does this \
             project do?\" (tillerman --help tells more)",
        ));
    }
    Ok(parts.join("\n\n"))
}

async fn say(session: &SessionHandle, prompt: String) {
    if !prompt.is_empty() {
        drop(session.prompt(Content::Text(prompt)).await);
    }
    drop(session.close().await);
}

/// Everything that can reach a session from outside while it runs.
struct Wires {
    handle: SessionHandle,
    /// Ends without a word when the input ended well, and may then be asked again.
    fatal: Fuse<oneshot::Receiver<StdinError>>,
}

/// Why a session was told to end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Told {
    Nothing,
    Interrupted,
    Terminated,
    BadInput,
}

impl Told {
    /// Whether the session was told to end at once.
    const fn is_final(self) -> bool {
        matches!(self, Self::Terminated | Self::BadInput)
    }

    /// The exit code when the session did not end by itself.
    const fn exit_code(self) -> u8 {
        match self {
            Self::Terminated => ENDED_BY_SIGTERM,
            Self::Nothing | Self::BadInput => 1,
            Self::Interrupted => ENDED_BY_SIGINT,
        }
    }
}

impl Wires {
    /// Waits for the session to end, passing signals on to it.
    async fn attend(mut self, session: impl Future<Output = Ended>) -> Result<u8, StartFailure> {
        let catch = |kind| {
            signal(kind).map_err(|error| StartFailure::usage(format!("Cannot start: {error}")))
        };
        let mut interrupts = catch(SignalKind::interrupt())?;
        let mut terminations = catch(SignalKind::terminate())?;
        let mut hang_ups = catch(SignalKind::hangup())?;
        let mut told = Told::Nothing;
        tokio::pin!(session);
        let patience = tokio::time::sleep(LEAVE);
        tokio::pin!(patience);
        loop {
            tokio::select! {
                end = &mut session => return Ok(exit_code(told, &end)),
                // Dropping the session ends everything it started; the transcript stays whole.
                () = &mut patience, if told.is_final() => return Ok(told.exit_code()),
                () = next(&mut interrupts) => {
                    if told != Told::Nothing {
                        return Ok(told.exit_code());
                    }
                    told = Told::Interrupted;
                    heard(self.handle.try_interrupt());
                    heard(self.handle.try_close());
                }
                () = next(&mut terminations) => {
                    if told.is_final() {
                        return Ok(told.exit_code());
                    }
                    told = Told::Terminated;
                    patience.as_mut().reset(tokio::time::Instant::now() + LEAVE);
                    heard(self.handle.shut_down());
                }
                // Whoever was at the other end is gone; what was begun is finished.
                () = next(&mut hang_ups) => heard(self.handle.try_close()),
                Ok(error) = &mut self.fatal, if !told.is_final() => {
                    drop(writeln!(std::io::stderr(), "{error}"));
                    told = Told::BadInput;
                    patience.as_mut().reset(tokio::time::Instant::now() + LEAVE);
                    heard(self.handle.shut_down());
                }
            }
        }
    }
}

fn heard(signal: Result<(), SendError>) {
    if let Err(error) = signal {
        tracing::warn!("a signal was lost: {error}");
    }
}

async fn next(signals: &mut Signal) {
    if signals.recv().await.is_none() {
        std::future::pending::<()>().await;
    }
}

fn exit_code(told: Told, end: &Ended) -> u8 {
    let session = &end.session;
    match told {
        Told::Nothing => {
            u8::from(session.last_result_failed || session.storage_failure.is_some() || end.unread)
        }
        Told::Interrupted => 0,
        Told::Terminated | Told::BadInput => told.exit_code(),
    }
}
