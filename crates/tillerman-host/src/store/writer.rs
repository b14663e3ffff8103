//! The thread that owns the writing connection and commits what waits together.

use std::fs::File;
use std::thread::Builder;

use rusqlite::{Connection, Transaction};
use tokio::sync::mpsc;

/// Changes that may wait before whoever brings another has to.
const IN_FLIGHT: usize = 1_024;
/// Changes that share one commit at most.
const TOGETHER: usize = 128;

/// A change: it runs inside the transaction and returns what to do once that is committed.
pub(crate) type Job = Box<dyn FnOnce(&mut Transaction<'_>) -> Finish + Send>;
/// Tells whoever waits how the change and its commit went.
pub(crate) type Finish = Box<dyn FnOnce(Result<(), &rusqlite::Error>) + Send>;

/// Starts the thread. It ends when nobody can send changes any more, and lets go of the lock then:
/// whoever opens the directory next must find every change that was begun.
pub(crate) fn start(
    connection: Connection,
    lock: Option<File>,
) -> std::io::Result<mpsc::Sender<Job>> {
    let (jobs, waiting) = mpsc::channel(IN_FLIGHT);
    let work = move || {
        write(connection, waiting);
        drop(lock);
    };
    Builder::new().name("host-store".to_owned()).spawn(work)?;
    Ok(jobs)
}

fn write(mut connection: Connection, mut waiting: mpsc::Receiver<Job>) {
    let mut batch = Vec::with_capacity(TOGETHER);
    while waiting.blocking_recv_many(&mut batch, TOGETHER) > 0 {
        let mut finishes = Vec::with_capacity(batch.len());
        let committed = commit(&mut connection, batch.drain(..), &mut finishes);
        for finish in finishes {
            finish(committed.as_ref().copied());
        }
        batch.clear();
    }
}

fn commit(
    connection: &mut Connection,
    jobs: impl Iterator<Item = Job>,
    finishes: &mut Vec<Finish>,
) -> Result<(), rusqlite::Error> {
    let mut transaction = connection.transaction()?;
    for job in jobs {
        finishes.push(job(&mut transaction));
    }
    transaction.commit()
}
