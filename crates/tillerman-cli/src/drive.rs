//! Running one session between standard input, standard output and signals.

use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::Fuse;
use tillerman_protocol::content::Content;
use tillerman_protocol::frame::{Frame, UserFrame};
use tillerman_runtime::{Inbound, SessionEnd, SessionSetup, run};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::arguments::{Arguments, InputFormat, OutputFormat};
use crate::assemble::assemble;
use crate::environment::Environment;
use crate::failure::StartFailure;
use crate::rewind::{self, Afterwards};
use crate::stdin::{self, StdinError};
use crate::{present, stdout};

const INBOUND_IN_FLIGHT: usize = 64;
const FRAMES_IN_FLIGHT: usize = 256;
/// How long a slow reader may take to read the last frames.
const DRAIN: Duration = Duration::from_secs(600);
/// How long a session that is told to end may take; hosts kill a process that takes 5 s.
const LEAVE: Duration = Duration::from_secs(4);
const ENDED_BY_SIGINT: u8 = 130;
const ENDED_BY_SIGTERM: u8 = 143;

/// Runs the session that the command line asks for and returns the exit code.
pub(crate) async fn drive(arguments: &Arguments) -> Result<u8, StartFailure> {
    let environment = Environment::capture();
    if rewind::stands_alone(arguments)?
        && let Afterwards::Exit(code) = rewind::rewind(arguments, &environment).await?
    {
        return Ok(code);
    }
    let prompt = match arguments.format.input_format {
        _ if arguments.extension.preparation.init_only => Some(String::new()),
        InputFormat::Text => Some(text_prompt(arguments)?),
        InputFormat::StreamJson => None,
    };
    let shutdown = CancellationToken::new();
    let setup = assemble(arguments, &environment, shutdown.clone()).await?;
    // The session is open by now, so that files change only for a conversation that can go on.
    rewind::rewind(arguments, &environment).await?;
    let spill = spill_directory(&setup);
    let env_file = setup.hooks.env_file.clone();
    let (inbound, messages) = mpsc::channel(INBOUND_IN_FLIGHT);
    let (frames, shown) = mpsc::channel(FRAMES_IN_FLIGHT);
    let printed = match arguments.format.output_format {
        OutputFormat::Text => present::print_text(shown),
        OutputFormat::Json => present::print_json(shown, arguments.format.verbose),
        OutputFormat::StreamJson => stdout::print_frames(shown, spill.clone()),
    };
    let (broken, fatal) = oneshot::channel();
    match prompt {
        Some(prompt) => say(&inbound, prompt).await,
        None => stdin::read_frames(inbound.clone(), broken),
    }
    let wires = Wires { inbound, shutdown, fatal: fatal.fuse() };
    let session = Box::pin(run(setup, messages, frames));
    let code = wires.attend(run_and_print(session, printed)).await;
    // What hooks left for the commands of this session is of no use to another.
    drop(env_file.map(std::fs::remove_file));
    // Files that frames have named stay; a directory that holds none is of no use to anybody.
    drop(std::fs::remove_dir(&spill));
    code
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

async fn say(inbound: &mpsc::Sender<Inbound>, prompt: String) {
    if !prompt.is_empty() {
        let frame = Frame::User(Box::new(UserFrame::new(Content::Text(prompt))));
        drop(inbound.send(Inbound::Frame(Box::new(frame))).await);
    }
    drop(inbound.send(Inbound::Closed).await);
}

fn spill_directory(setup: &SessionSetup) -> PathBuf {
    let transcript = setup.ports.transcript.path();
    if transcript.is_empty() {
        std::env::temp_dir().join(format!("tillerman-{}", setup.engine.session_id))
    } else {
        tillerman_store::tool_results_dir(Path::new(&transcript))
    }
}

/// Everything that can reach a session from outside while it runs.
struct Wires {
    inbound: mpsc::Sender<Inbound>,
    shutdown: CancellationToken,
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
                    self.tell(Inbound::Interrupt);
                    self.tell(Inbound::Closed);
                }
                () = next(&mut terminations) => {
                    if told.is_final() {
                        return Ok(told.exit_code());
                    }
                    told = Told::Terminated;
                    patience.as_mut().reset(tokio::time::Instant::now() + LEAVE);
                    self.shut_down();
                }
                // Whoever was at the other end is gone; what was begun is finished.
                () = next(&mut hang_ups) => self.tell(Inbound::Closed),
                Ok(error) = &mut self.fatal, if !told.is_final() => {
                    drop(writeln!(std::io::stderr(), "{error}"));
                    told = Told::BadInput;
                    patience.as_mut().reset(tokio::time::Instant::now() + LEAVE);
                    self.shut_down();
                }
            }
        }
    }

    fn shut_down(&self) {
        self.shutdown.cancel();
        self.tell(Inbound::ShutDown);
    }

    fn tell(&self, message: Inbound) {
        if self.inbound.try_send(message).is_err() {
            tracing::warn!("the session is too busy to hear a signal");
        }
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
