//! Copies of transcript entries on their way to a session store.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tillerman_protocol::SessionId;
use tillerman_protocol::frame::{MirrorKey, SystemDetail, SystemFrame, TranscriptMirror};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use crate::error::{Error, ErrorKind};
use crate::message::Message;
use crate::sessions::{SessionKey, SessionStore};

const WAITING: usize = 1024;
/// Pauses before an append that failed is tried again.
const PAUSES: [Duration; 2] = [Duration::from_millis(200), Duration::from_millis(800)];
/// How long a store may take to keep up before the session goes on without it.
const PATIENCE: Duration = Duration::from_secs(60);

/// Keeps a store up to date, in order, from a task of its own.
#[derive(Debug)]
pub(crate) struct Mirror {
    copies: mpsc::Sender<Work>,
    _writer: JoinSet<()>,
}

#[derive(Debug)]
enum Work {
    Keep(TranscriptMirror),
    Flush(oneshot::Sender<Vec<Message>>),
}

impl Mirror {
    pub(crate) fn new(store: Arc<dyn SessionStore>) -> Self {
        let (copies, work) = mpsc::channel(WAITING);
        let mut writer = JoinSet::new();
        writer.spawn(write(store, work));
        Self { copies, _writer: writer }
    }

    /// Takes entries; without room for them the next flush fails, since the writer is stuck.
    pub(crate) fn keep(&self, copy: TranscriptMirror) {
        if self.copies.try_send(Work::Keep(copy)).is_err() {
            tracing::error!("the session store is too slow; entries of a transcript are lost");
        }
    }

    /// Waits until everything taken so far is stored, and returns what could not be.
    pub(crate) async fn flush(&mut self) -> Vec<Message> {
        let (done, flushed) = oneshot::channel();
        let flushing = async {
            self.copies.send(Work::Flush(done)).await.ok()?;
            flushed.await.ok()
        };
        match tokio::time::timeout(PATIENCE, flushing).await {
            Ok(failures) => failures.unwrap_or_default(),
            Err(_) => vec![failure(None, "the store did not answer for a minute")],
        }
    }
}

async fn write(store: Arc<dyn SessionStore>, mut work: mpsc::Receiver<Work>) {
    let mut failures = Vec::new();
    while let Some(work) = work.recv().await {
        match work {
            Work::Keep(copy) => failures.extend(append(&store, copy).await),
            // A flush that nobody waits for any more has told nobody.
            Work::Flush(done) => {
                if let Err(untold) = done.send(std::mem::take(&mut failures)) {
                    failures = untold;
                }
            }
        }
    }
}

async fn append(store: &Arc<dyn SessionStore>, copy: TranscriptMirror) -> Option<Message> {
    let Some(key) = SessionKey::of_path(Path::new(&copy.file_path)) else {
        return Some(failure(None, &format!("{} is no transcript", copy.file_path)));
    };
    let mut last = Error::new(ErrorKind::Store, "the store was not asked");
    for pause in PAUSES.iter().map(Some).chain([None]) {
        match store.append(key.clone(), copy.entries.clone()).await {
            Ok(()) => return None,
            Err(error) => last = error,
        }
        if let Some(pause) = pause {
            tokio::time::sleep(*pause).await;
        }
    }
    Some(failure(Some(key), &last.to_string()))
}

fn failure(key: Option<SessionKey>, error: &str) -> Message {
    let session = key.as_ref().map_or_else(|| SessionId::new(""), |key| key.session_id.clone());
    let key = key.map(|key| MirrorKey {
        project_key: key.project_key,
        session_id: key.session_id,
        subpath: key.subpath,
    });
    let detail = SystemDetail::MirrorError { error: error.to_owned(), key };
    let uuid = tillerman_protocol::EntryId::new(crate::random::uuid());
    Message::System(Box::new(SystemFrame { detail, session_id: session, uuid }))
}
