//! The way out of the foreground for the output of a command that runs.

use std::sync::{Arc, Mutex, PoisonError};

use tokio_util::sync::CancellationToken;

use super::background::Output;
use super::capture::Capture;
use super::run::Sink;

/// Has a command that runs write into the file of a task from now on.
#[derive(Clone, Default)]
pub(super) struct Exit(Arc<Door>);

#[derive(Default)]
struct Door {
    opened: CancellationToken,
    file: Mutex<Option<Output>>,
}

impl Exit {
    /// Shows the way out, which leads to this file.
    pub(super) fn open(&self, file: Output) {
        *self.0.file.lock().unwrap_or_else(PoisonError::into_inner) = Some(file);
        self.0.opened.cancel();
    }

    fn take(&self) -> Option<Output> {
        self.0.file.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Output that is kept in memory until its command leaves the foreground.
pub(super) struct Outlet {
    capture: Option<Capture>,
    file: Option<Output>,
    exit: Exit,
}

impl Outlet {
    pub(super) fn new(capture: Capture, exit: Exit) -> Self {
        Self { capture: Some(capture), file: None, exit }
    }

    /// What a command said that stayed.
    pub(super) fn into_capture(self) -> Option<Capture> {
        self.capture
    }

    /// The file of a command that has left, even if it ended on its way out.
    pub(super) async fn into_file(mut self) -> Option<Output> {
        self.leave().await;
        self.file
    }
}

impl Sink for Outlet {
    async fn push(&mut self, piece: &[u8]) {
        match (&mut self.file, &mut self.capture) {
            (Some(file), _) => file.push(piece).await,
            (None, Some(capture)) => capture.push(piece).await,
            (None, None) => {}
        }
    }

    async fn is_called_away(&self) {
        match self.file {
            Some(_) => std::future::pending().await,
            None => self.exit.0.opened.cancelled().await,
        }
    }

    async fn leave(&mut self) {
        let Some(mut file) = self.exit.take() else { return };
        if let Some(capture) = self.capture.take() {
            capture.pour(&mut file).await;
        }
        self.file = Some(file);
    }

    fn is_over_limit(&self) -> bool {
        match (&self.file, &self.capture) {
            (Some(file), _) => file.is_over_limit(),
            (None, Some(capture)) => capture.is_over_limit(),
            (None, None) => false,
        }
    }
}
