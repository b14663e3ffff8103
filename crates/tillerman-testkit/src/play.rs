//! Plays the steps of a delivery onto a connection and notes how it ended.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use futures_util::stream;
use tokio::sync::watch;

use crate::gate::Gate;
use crate::journal::{Journal, Outcome};
use crate::plan::Step;

/// Fires when the server goes away, so that held replies do not outlive it.
pub(crate) type Closing = watch::Receiver<bool>;

/// Notes the outcome of a reply when it is dropped, whoever drops it.
#[derive(Debug)]
pub(crate) struct OutcomeNote {
    journal: Arc<Journal>,
    number: usize,
    outcome: Outcome,
}

impl OutcomeNote {
    /// Until it is told otherwise, the note says that the client went away.
    pub(crate) fn new(journal: Arc<Journal>, number: usize) -> Self {
        Self { journal, number, outcome: Outcome::ClientGone }
    }

    /// Says how the reply ended.
    pub(crate) fn set(&mut self, outcome: Outcome) {
        self.outcome = outcome;
    }
}

impl Drop for OutcomeNote {
    fn drop(&mut self) {
        self.journal.close(self.number, self.outcome);
    }
}

/// Waits for the gate. False when the server went away first.
pub(crate) async fn pass(gate: &Gate, closing: &mut Closing) -> bool {
    tokio::select! {
        () = gate.pass() => true,
        () = closed(closing) => false,
    }
}

async fn closed(closing: &mut Closing) {
    // An error means that the sender is gone, which is closing as well.
    drop(closing.wait_for(|closing| *closing).await);
}

/// A body that plays the steps while the connection asks for more.
pub(crate) fn body(steps: Vec<Step>, note: OutcomeNote, closing: Closing) -> Body {
    let player = Player { steps: steps.into(), note, closing };
    Body::from_stream(stream::unfold(player, Player::next))
}

struct Player {
    steps: VecDeque<Step>,
    note: OutcomeNote,
    closing: Closing,
}

impl Player {
    async fn next(mut self) -> Option<(Result<Bytes, BrokenOff>, Self)> {
        loop {
            match self.steps.pop_front() {
                Some(Step::Send(chunk)) if chunk.is_empty() => {}
                Some(Step::Send(chunk)) => return Some((Ok(chunk), self)),
                Some(Step::Pause(pause)) => tokio::time::sleep(pause).await,
                Some(Step::Hold(gate)) => {
                    if !pass(&gate, &mut self.closing).await {
                        return self.break_off().await;
                    }
                }
                Some(Step::Cut) => return self.break_off().await,
                Some(Step::Hang) => {
                    closed(&mut self.closing).await;
                    return self.break_off().await;
                }
                None => {
                    self.note.set(Outcome::Complete);
                    return None;
                }
            }
        }
    }

    async fn break_off(mut self) -> Option<(Result<Bytes, BrokenOff>, Self)> {
        // Yielding lets the connection flush what was sent before the error closes it.
        tokio::task::yield_now().await;
        self.note.set(Outcome::Broken);
        self.steps.clear();
        Some((Err(BrokenOff), self))
    }
}

/// The error that makes the connection close without a proper end.
#[derive(Debug)]
struct BrokenOff;

impl fmt::Display for BrokenOff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the script breaks the connection here")
    }
}

impl std::error::Error for BrokenOff {}
