//! Following a command: telling it what happened, taking in what it prints, ending it in time.

use std::fmt;
use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use serde_json::Value;
use tillerman_ports::{BoxFuture, HookJob};
use tillerman_protocol::frame::HookPrinted;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Child;
use tokio::time::{Instant, sleep_until, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::capture::{Capture, Channel, FirstLine};
use crate::tree::Tree;

const CHUNK: usize = 64 * 1024;
/// How long output may still arrive once the command has ended.
const PIPE_GRACE: Duration = Duration::from_millis(100);
const REAP_WAIT: Duration = Duration::from_secs(2);
/// How often hosts hear what was printed.
const NEWS: Duration = Duration::from_secs(1);

/// A command under way.
pub(crate) struct Following {
    child: Child,
    tree: Tree,
    telling: Option<BoxFuture<()>>,
    stdout: Pipe,
    stderr: Pipe,
    pub(crate) capture: Capture,
    deadline: Instant,
    cancel: CancellationToken,
    news: News,
    /// Whether its first line sent it into the background.
    pub(crate) went_async: bool,
}

impl fmt::Debug for Following {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Following").field("tree", &self.tree).finish_non_exhaustive()
    }
}

/// How a command came to its end.
#[derive(Debug)]
pub(crate) enum Ending {
    Exited(ExitStatus),
    TimedOut,
    Cancelled,
    Flood,
    Lost(io::Error),
}

/// Why following stopped.
#[derive(Debug)]
pub(crate) enum Followed {
    Ended(Ending),
    /// The command wants to go on in the background, for this long.
    WentAsync {
        seconds: Option<f64>,
    },
}

/// Tells a listener from time to time what was printed.
struct News {
    listener: Option<Box<dyn Fn(HookPrinted) + Send + Sync>>,
    due: Instant,
    told: u64,
}

impl Following {
    pub(crate) fn new(mut child: Child, tree: Tree, told: Vec<u8>, job: HookJob) -> Self {
        let telling = child.stdin.take().map(|mut stdin| -> BoxFuture<()> {
            Box::pin(async move {
                // A command that does not listen is no failure.
                stdin.write_all(&told).await.ok();
                stdin.shutdown().await.ok();
            })
        });
        let stdout = Pipe::new(child.stdout.take().map(|it| Box::new(it) as Reader));
        let stderr = Pipe::new(child.stderr.take().map(|it| Box::new(it) as Reader));
        let now = Instant::now();
        Self {
            child,
            tree,
            telling,
            stdout,
            stderr,
            capture: Capture::default(),
            deadline: now + job.timeout,
            cancel: job.cancel,
            news: News { listener: job.progress, due: now + NEWS, told: 0 },
            went_async: false,
        }
    }

    /// Gives the command this long from now on.
    pub(crate) fn extend(&mut self, time: Duration) {
        self.deadline = Instant::now() + time;
    }

    /// Follows to the end.
    pub(crate) async fn until_end(&mut self) -> Ending {
        loop {
            if let Some(ending) = self.advance().await {
                return ending;
            }
        }
    }

    /// Follows to the end, or to a first line that says the rest is for the background.
    pub(crate) async fn until_end_or_async(&mut self) -> Followed {
        let mut looked = false;
        loop {
            if let Some(ending) = self.advance().await {
                return Followed::Ended(ending);
            }
            if looked {
                continue;
            }
            let line = self.capture.first_line();
            looked = line != FirstLine::Coming;
            if let FirstLine::Whole(line) = line {
                let said: Value = serde_json::from_slice(line).unwrap_or_default();
                if said.get("async") == Some(&Value::Bool(true)) {
                    self.went_async = true;
                    let seconds = said.get("asyncTimeout").and_then(Value::as_f64);
                    return Followed::WentAsync { seconds };
                }
            }
        }
    }

    /// Takes in the next thing that happens.
    async fn advance(&mut self) -> Option<Ending> {
        let has_news = self.news.listener.is_some();
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => return Some(Ending::Cancelled),
            () = sleep_until(self.deadline) => return Some(Ending::TimedOut),
            () = self.news.wait(), if has_news => self.news.tell(&self.capture),
            () = tell(&mut self.telling), if self.telling.is_some() => self.telling = None,
            piece = self.stdout.read(), if self.stdout.is_open() => {
                self.capture.push(Channel::Stdout, piece);
            }
            piece = self.stderr.read(), if self.stderr.is_open() => {
                self.capture.push(Channel::Stderr, piece);
            }
            status = self.child.wait() => {
                return Some(status.map_or_else(Ending::Lost, Ending::Exited));
            }
        }
        self.capture.is_flood().then_some(Ending::Flood)
    }

    /// Takes in what is left, and ends what did not end by itself.
    pub(crate) async fn wind_up(&mut self, ending: &Ending) {
        if matches!(ending, Ending::Exited(_)) {
            // What a command leaves running on purpose is its own affair.
            self.tree.release();
        } else {
            self.tree.stop().await;
            timeout(REAP_WAIT, self.child.wait()).await.ok();
        }
        let deadline = Instant::now() + PIPE_GRACE;
        while !self.capture.is_flood() && self.drained(deadline).await {}
    }

    /// Takes in one more piece; says whether there may be another.
    async fn drained(&mut self, deadline: Instant) -> bool {
        if self.stdout.is_open() {
            let Ok(piece) = timeout_at(deadline, self.stdout.read()).await else { return false };
            self.capture.push(Channel::Stdout, piece);
        } else if self.stderr.is_open() {
            let Ok(piece) = timeout_at(deadline, self.stderr.read()).await else { return false };
            self.capture.push(Channel::Stderr, piece);
        }
        self.stdout.is_open() || self.stderr.is_open()
    }
}

async fn tell(telling: &mut Option<BoxFuture<()>>) {
    if let Some(telling) = telling {
        telling.await;
    }
}

impl News {
    async fn wait(&self) {
        sleep_until(self.due).await;
    }

    fn tell(&mut self, capture: &Capture) {
        self.due = Instant::now() + NEWS;
        if let Some(listener) = self.listener.as_ref().filter(|_| capture.total() > self.told) {
            self.told = capture.total();
            listener(capture.printed());
        }
    }
}

type Reader = Box<dyn AsyncRead + Send + Unpin>;

/// The reading end of one of the command's channels.
struct Pipe {
    reader: Option<Reader>,
    buffer: Vec<u8>,
}

impl Pipe {
    fn new(reader: Option<Reader>) -> Self {
        Self { reader, buffer: vec![0; CHUNK] }
    }

    const fn is_open(&self) -> bool {
        self.reader.is_some()
    }

    /// The next piece; an empty one is the last.
    ///
    /// # Cancel safety
    /// Nothing is lost when the future is dropped.
    async fn read(&mut self) -> &[u8] {
        let Some(reader) = &mut self.reader else { return &[] };
        let filled = reader.read(&mut self.buffer).await.unwrap_or(0);
        if filled == 0 {
            self.reader = None;
        }
        &self.buffer[..filled]
    }
}
