//! A transcript in memory that fails on demand.

use std::io::{Error, ErrorKind};
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tillerman_ports::{AppendError, BoxFuture, Transcript};
use tillerman_protocol::transcript::Entry;

use crate::model::Gate;

/// What is wrong with the disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Fault {
    #[default]
    Nothing,
    /// There is no room; there may be later.
    Full,
    /// Nothing can be written any more.
    Broken,
    /// Entries can be written but not made to last.
    BrokenSync,
}

/// The stored entries; clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shelf(Arc<Mutex<Contents>>);

#[derive(Debug, Default)]
struct Contents {
    entries: Vec<Value>,
    fault: Fault,
    refused: usize,
    syncs: usize,
    /// Holds the next sync back.
    gate: Option<Gate>,
}

impl Shelf {
    pub(crate) fn entries(&self) -> Vec<Value> {
        self.0.lock().unwrap().entries.clone()
    }

    /// The types of the stored entries.
    pub(crate) fn kinds(&self) -> Vec<String> {
        self.entries().iter().map(|entry| entry["type"].as_str().unwrap().to_owned()).collect()
    }

    pub(crate) fn suffer(&self, fault: Fault) {
        self.0.lock().unwrap().fault = fault;
    }

    /// How often an entry was refused.
    pub(crate) fn refused(&self) -> usize {
        self.0.lock().unwrap().refused
    }

    pub(crate) fn syncs(&self) -> usize {
        self.0.lock().unwrap().syncs
    }

    /// Has the next sync wait until the gate is opened.
    pub(crate) fn hold_sync(&self, gate: &Gate) {
        self.0.lock().unwrap().gate = Some(gate.clone());
    }

    /// Everything stored, as text to search in.
    pub(crate) fn text(&self) -> String {
        serde_json::to_string(&self.entries()).unwrap()
    }
}

fn failure(kind: ErrorKind, may_pass: bool) -> AppendError {
    AppendError { path: "memory".to_owned(), may_pass, source: Error::from(kind) }
}

impl Transcript for Shelf {
    fn append(&mut self, entry: &Entry) -> Result<(), AppendError> {
        let mut contents = self.0.lock().unwrap();
        let refused = match contents.fault {
            Fault::Nothing | Fault::BrokenSync => {
                contents.entries.push(serde_json::to_value(entry).unwrap());
                return Ok(());
            }
            Fault::Full => failure(ErrorKind::StorageFull, true),
            Fault::Broken => failure(ErrorKind::Other, false),
        };
        contents.refused += 1;
        Err(refused)
    }

    fn sync(&mut self) -> BoxFuture<Result<(), AppendError>> {
        let mut contents = self.0.lock().unwrap();
        contents.syncs += 1;
        let broken = contents.fault == Fault::BrokenSync;
        let gate = contents.gate.take();
        Box::pin(async move {
            if let Some(gate) = gate {
                gate.pass().await;
            }
            if broken { Err(failure(ErrorKind::Other, false)) } else { Ok(()) }
        })
    }

    fn path(&self) -> String {
        "/sessions/session.jsonl".to_owned()
    }
}
