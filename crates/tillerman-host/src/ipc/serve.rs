//! Serving one shell from `ready` to the end.

use std::sync::Arc;
use std::time::Duration;

use tillerman_protocol::ipc::{IPC_VERSION, IpcBody};
use tokio::io::{AsyncBufRead, AsyncWrite};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::host::Host;
use crate::ipc::desk::Desk;
use crate::ipc::lines::{self, Line};
use crate::ipc::outlet::Outlet;
use crate::ipc::settings::IpcSettings;
use crate::live::Directory;

/// Lines that are read ahead; each may be large.
const READ_AHEAD: usize = 2;
/// How long rounds may still take when the shell has closed its end.
const LAST_ROUND: Duration = Duration::from_secs(600);
/// How long the last responses may take to be read.
const LAST_LINES: Duration = Duration::from_secs(2);
const GOODBYE: Duration = Duration::from_secs(1);

/// Why serving a shell ended. None of it is a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IpcEnd {
    /// The shell has closed its end, and everything it asked for is done.
    Closed,
    /// The shell reads no more.
    Broken,
    /// Somebody told this program to end.
    ToldToEnd,
}

impl Host {
    /// Serves a shell: requests in, responses out, one JSON object a line.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends every session at once. Transcripts and cards stay whole.
    pub async fn serve_ipc<R, W>(
        self,
        settings: IpcSettings,
        streams: (R, W),
        shutdown: CancellationToken,
    ) -> IpcEnd
    where
        R: AsyncBufRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let shared = self.shared;
        let (mut reader, writer) = streams;
        let gone = CancellationToken::new();
        let scratch = settings.scratch.clone();
        // A process that was killed may have left some.
        drop(std::fs::remove_dir_all(&scratch));
        let now = Arc::clone(&shared.now);
        let (outlet, writing) = Outlet::new(writer, scratch.clone(), now, gone.clone());
        let (directory, keeping) = Directory::new(Arc::clone(&shared));
        let (heard, mut requests) = mpsc::channel(READ_AHEAD);
        let mut work = JoinSet::new();
        let mut writers = JoinSet::new();
        writers.spawn(writing);
        work.spawn(keeping);
        work.spawn(async move {
            loop {
                let line = lines::next(&mut reader).await;
                let is_last = line == Line::End;
                if heard.send(line).await.is_err() || is_last {
                    return;
                }
            }
        });
        let version = shared.settings.version.clone();
        outlet.say("", IpcBody::Ready { protocol: IPC_VERSION, version }).await;
        let longest = shared.settings.timeouts.drain + GOODBYE;
        let mut desk = Desk::new(shared, directory.clone(), outlet, settings);
        let end = attend(&mut desk, &mut requests, &gone, &shutdown).await;
        directory.drain(longest).await;
        drop(desk);
        work.shutdown().await;
        // What a shell does not read in time it does not want.
        drop(tokio::time::timeout(LAST_LINES, writers.join_next()).await);
        drop(std::fs::remove_dir_all(scratch));
        end
    }
}

async fn attend(
    desk: &mut Desk,
    requests: &mut mpsc::Receiver<Line>,
    gone: &CancellationToken,
    shutdown: &CancellationToken,
) -> IpcEnd {
    loop {
        tokio::select! {
            biased;
            () = shutdown.cancelled() => return IpcEnd::ToldToEnd,
            () = gone.cancelled() => return IpcEnd::Broken,
            line = requests.recv() => match line {
                Some(Line::End) | None => break,
                Some(line) => desk.take(line).await,
            },
            () = desk.round_over() => {}
        }
    }
    desk.unanswerable.cancel();
    let deadline = Instant::now() + LAST_ROUND;
    while desk.is_busy() {
        tokio::select! {
            () = shutdown.cancelled() => return IpcEnd::ToldToEnd,
            () = gone.cancelled() => return IpcEnd::Broken,
            () = tokio::time::sleep_until(deadline) => return IpcEnd::Closed,
            () = desk.round_over() => {}
        }
    }
    drop(tokio::time::timeout(LAST_LINES, desk.errands_over()).await);
    IpcEnd::Closed
}
