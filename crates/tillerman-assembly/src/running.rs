//! A session that runs: frames in, frames out, and a future that ends with it.

use std::path::{Path, PathBuf};

use serde::Deserialize as _;
use serde_json::{Map, Value};
use tillerman_ports::BoxFuture;
use tillerman_protocol::SessionId;
use tillerman_protocol::content::Content;
use tillerman_protocol::control::ControlRequest;
use tillerman_protocol::frame::{Frame, UserFrame};
use tillerman_runtime::{Inbound, SessionEnd, SessionSetup};
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

const INBOUND_IN_FLIGHT: usize = 64;
const FRAMES_IN_FLIGHT: usize = 256;

/// A session that has been started and is carried on by whoever polls [`Session::ended`].
pub struct Session {
    /// Its id.
    pub id: SessionId,
    /// What reaches it from outside.
    pub handle: SessionHandle,
    /// What it says. A session whose frames nobody takes comes to rest; when the receiver is
    /// dropped it goes on, unheard.
    pub frames: mpsc::Receiver<Frame>,
    /// The session at work. It ends when the input is closed and nothing is left to do; the frames
    /// that were said until then stay readable.
    ///
    /// # Cancel safety
    /// Dropping it ends everything the session started; the transcript stays whole.
    pub ended: BoxFuture<SessionEnd>,
    /// Where texts belong that are too long for a transport; the directory is made when needed.
    pub scratch: Option<PathBuf>,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Session").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Starts a session. Nothing happens before [`Session::ended`] is polled, and nothing of it
/// outlives that future.
#[must_use]
pub fn run(setup: SessionSetup) -> Session {
    let (inbound, messages) = mpsc::channel(INBOUND_IN_FLIGHT);
    let (out, frames) = mpsc::channel(FRAMES_IN_FLIGHT);
    let id = setup.engine.session_id.clone();
    let env_file = setup.hooks.env_file.clone();
    // Hooks leave their variables where the large outputs of tools go.
    let scratch = env_file.as_deref().and_then(Path::parent).map(Path::to_path_buf);
    let handle = SessionHandle { inbound, shutdown: setup.shutdown.clone() };
    let leftovers = Leftovers { env_file, scratch: scratch.clone() };
    let session = Box::pin(tillerman_runtime::run(setup, messages, out));
    // Whatever is said meanwhile is said about this session.
    let span = tracing::error_span!("session", session = %id);
    let working = async move {
        let _leftovers = leftovers;
        session.await
    };
    let ended = Box::pin(working.instrument(span));
    Session { id, handle, frames, ended, scratch }
}

/// What is of no use to anybody once a session is over, however it ended.
#[derive(Debug)]
struct Leftovers {
    /// What hooks left for the commands of the session.
    env_file: Option<PathBuf>,
    /// Files that frames have named stay, and with them the directory.
    scratch: Option<PathBuf>,
}

impl Drop for Leftovers {
    fn drop(&mut self) {
        drop(self.env_file.as_deref().map(std::fs::remove_file));
        drop(self.scratch.as_deref().map(std::fs::remove_dir));
    }
}

/// Why something did not reach a session.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    /// It is over.
    #[error("the session has ended")]
    Ended,
    /// It has not yet taken up what it was told before, and waiting was not wished for.
    #[error("the session is too busy to hear that now")]
    Busy,
    /// What was said is not JSON, or a prompt or request of a shape that nobody can read.
    #[error("it is not a frame: {0}")]
    NotAFrame(#[from] serde_json::Error),
}

/// What reaches a session from outside. When the last handle is dropped, its input is closed.
#[derive(Clone, Debug)]
pub struct SessionHandle {
    inbound: mpsc::Sender<Inbound>,
    shutdown: CancellationToken,
}

impl SessionHandle {
    /// Hands over a frame: a prompt, a control request, or the answer to one.
    ///
    /// # Errors
    /// When the session has ended.
    ///
    /// # Cancel safety
    /// A frame whose future is dropped has not been handed over.
    pub async fn send(&self, frame: Frame) -> Result<(), SendError> {
        self.tell(Inbound::Frame(Box::new(frame))).await
    }

    /// Hands over a frame as one line of JSON.
    ///
    /// # Errors
    /// When the line is no frame, or the session has ended.
    ///
    /// # Cancel safety
    /// A line whose future is dropped has not been handed over.
    pub async fn send_line(&self, line: &[u8]) -> Result<(), SendError> {
        self.send(read_frame(line)?).await
    }

    /// Hands over a frame from a thread that may wait; it panics inside of an async task.
    ///
    /// # Errors
    /// When the session has ended.
    pub fn blocking_send(&self, frame: Frame) -> Result<(), SendError> {
        let sent = self.inbound.blocking_send(Inbound::Frame(Box::new(frame)));
        sent.map_err(|_| SendError::Ended)
    }

    /// Hands over a prompt.
    ///
    /// # Errors
    /// When the session has ended.
    ///
    /// # Cancel safety
    /// A prompt whose future is dropped has not been handed over.
    pub async fn prompt(&self, content: Content) -> Result<(), SendError> {
        self.send(Frame::User(Box::new(UserFrame::new(content)))).await
    }

    /// Says that no further frames will come. What was begun is finished; then the session ends.
    ///
    /// # Errors
    /// When the session has ended.
    ///
    /// # Cancel safety
    /// If the future is dropped, the input is still open.
    pub async fn close(&self) -> Result<(), SendError> {
        self.tell(Inbound::Closed).await
    }

    /// [`SessionHandle::close`] from a thread that may wait; it panics inside of an async task.
    ///
    /// # Errors
    /// When the session has ended.
    pub fn blocking_close(&self) -> Result<(), SendError> {
        self.inbound.blocking_send(Inbound::Closed).map_err(|_| SendError::Ended)
    }

    /// [`SessionHandle::close`] for those who cannot wait, such as whoever hears a signal.
    ///
    /// # Errors
    /// When the session is busy or has ended.
    pub fn try_close(&self) -> Result<(), SendError> {
        self.try_tell(Inbound::Closed)
    }

    /// Ends the round that is under way, without a control request and its answer.
    ///
    /// # Errors
    /// When the session is busy or has ended.
    pub fn try_interrupt(&self) -> Result<(), SendError> {
        self.try_tell(Inbound::Interrupt)
    }

    /// Has the session end at once, without a result. It still ends its children and its hooks, so
    /// wait for [`Session::ended`] as long as you can afford before you drop it.
    ///
    /// # Errors
    /// When the session is busy or has ended; what runs is cancelled all the same.
    pub fn shut_down(&self) -> Result<(), SendError> {
        self.shutdown.cancel();
        self.try_tell(Inbound::ShutDown)
    }

    async fn tell(&self, message: Inbound) -> Result<(), SendError> {
        self.inbound.send(message).await.map_err(|_| SendError::Ended)
    }

    fn try_tell(&self, message: Inbound) -> Result<(), SendError> {
        self.inbound.try_send(message).map_err(|error| match error {
            TrySendError::Full(_) => SendError::Busy,
            TrySendError::Closed(_) => SendError::Ended,
        })
    }
}

/// Reads a frame from one line. Frames of unknown types are passed over later; prompts and requests
/// must not vanish without a word.
///
/// # Errors
/// When the line is not JSON, or a prompt or request of a shape that nobody can read.
pub fn read_frame(line: &[u8]) -> Result<Frame, serde_json::Error> {
    let frame = serde_json::from_slice(line)?;
    if let Frame::Unknown(value) = &frame {
        let fields = Map::<String, Value>::deserialize(value)?;
        match fields.get("type").and_then(Value::as_str) {
            Some("user") => drop(UserFrame::deserialize(value)?),
            Some("control_request") => drop(ControlRequest::deserialize(value)?),
            _ => {}
        }
    }
    Ok(frame)
}
