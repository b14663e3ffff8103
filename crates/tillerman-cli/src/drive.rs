//! Running one session between standard input, standard output and signals.

use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

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
use crate::stdin::{self, StdinError};
use crate::{present, stdout};

const INBOUND_IN_FLIGHT: usize = 64;
const FRAMES_IN_FLIGHT: usize = 256;
/// How long a slow reader may take to read the last frames.
const DRAIN: Duration = Duration::from_secs(30);
const ENDED_BY_SIGTERM: u8 = 143;

/// Runs the session that the command line asks for and returns the exit code.
pub(crate) async fn drive(arguments: &Arguments) -> Result<u8, StartFailure> {
    let environment = Environment::capture();
    let prompt = match arguments.format.input_format {
        InputFormat::Text => Some(text_prompt(arguments)?),
        InputFormat::StreamJson => None,
    };
    let shutdown = CancellationToken::new();
    let setup = assemble(arguments, &environment, shutdown.clone())?;
    let (inbound, messages) = mpsc::channel(INBOUND_IN_FLIGHT);
    let (frames, shown) = mpsc::channel(FRAMES_IN_FLIGHT);
    let printed = match arguments.format.output_format {
        OutputFormat::Text => present::print_text(shown),
        OutputFormat::Json => present::print_json(shown, arguments.format.verbose),
        OutputFormat::StreamJson => stdout::print_frames(shown, spill_directory(&setup)),
    };
    let (broken, fatal) = oneshot::channel();
    match prompt {
        Some(prompt) => say(&inbound, prompt).await,
        None => stdin::read_frames(inbound.clone(), broken),
    }
    let wires = Wires { inbound, shutdown, fatal };
    let outcome = wires.attend(run(setup, messages, frames)).await?;
    drop(tokio::time::timeout(DRAIN, printed).await);
    Ok(outcome)
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
    let frame = Frame::User(Box::new(UserFrame::new(Content::Text(prompt))));
    for message in [Inbound::Frame(Box::new(frame)), Inbound::Closed] {
        drop(inbound.send(message).await);
    }
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
    fatal: oneshot::Receiver<StdinError>,
}

/// Why a session was told to end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Told {
    Nothing,
    Interrupted,
    Terminated,
    BadInput,
}

impl Wires {
    /// Waits for the session to end, passing signals on to it.
    async fn attend(
        mut self,
        session: impl Future<Output = SessionEnd>,
    ) -> Result<u8, StartFailure> {
        let catch = |kind| {
            signal(kind).map_err(|error| StartFailure::usage(format!("Cannot start: {error}")))
        };
        let mut interrupts = catch(SignalKind::interrupt())?;
        let mut terminations = catch(SignalKind::terminate())?;
        let mut hang_ups = catch(SignalKind::hangup())?;
        let mut told = Told::Nothing;
        tokio::pin!(session);
        loop {
            tokio::select! {
                end = &mut session => return Ok(exit_code(told, &end)),
                () = next(&mut interrupts) => {
                    told = self.interrupt(told);
                }
                () = next(&mut terminations) => {
                    told = Told::Terminated;
                    self.shut_down();
                }
                // Whoever was at the other end is gone; what was begun is finished.
                () = next(&mut hang_ups) => self.tell(Inbound::Closed),
                Ok(error) = &mut self.fatal, if told != Told::BadInput => {
                    drop(writeln!(std::io::stderr(), "{error}"));
                    told = Told::BadInput;
                    self.shut_down();
                }
            }
        }
    }

    /// The first interrupt ends the round and then the session; a second one ends it at once.
    fn interrupt(&self, told: Told) -> Told {
        if told == Told::Nothing {
            self.tell(Inbound::Interrupt);
            self.tell(Inbound::Closed);
        } else {
            self.shut_down();
        }
        Told::Interrupted
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

fn exit_code(told: Told, end: &SessionEnd) -> u8 {
    match told {
        Told::Terminated => ENDED_BY_SIGTERM,
        Told::BadInput => 1,
        Told::Interrupted => 0,
        Told::Nothing => u8::from(end.last_result_failed || end.storage_failure.is_some()),
    }
}
