//! A shell of a desktop application, played by tests over two pipes.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tillerman_host::{Host, HostSettings, IpcEnd, IpcSettings, Memory, OpenStoreError, Store};
use tillerman_protocol::Moment;
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::{Puppet, Puppeteer, within};

/// A shell, the host it started, and the sessions of that host.
pub(crate) struct Shell {
    pub(crate) data: Arc<TempDir>,
    pub(crate) tell: Option<WriteHalf<DuplexStream>>,
    pub(crate) told: Option<Lines<BufReader<ReadHalf<DuplexStream>>>>,
    pub(crate) puppets: mpsc::Receiver<Puppet>,
    serving: JoinSet<IpcEnd>,
    pub(crate) shutdown: CancellationToken,
    memory: Memory,
}

impl Shell {
    pub(crate) async fn start() -> Self {
        Self::open(Arc::new(tempfile::tempdir().unwrap()), Memory::Off).await
    }

    pub(crate) async fn open(data: Arc<TempDir>, memory: Memory) -> Self {
        let opening = async {
            loop {
                match Store::open(&data.path().join("data")) {
                    Ok(store) => return store,
                    // The host before may still be letting go of the directory.
                    Err(OpenStoreError::Busy { .. }) => tokio::task::yield_now().await,
                    Err(error) => panic!("{error}"),
                }
            }
        };
        let store = within("the data directory", opening).await;
        let (puppeteer, puppets) = Puppeteer::new();
        let now = Arc::new(|| Moment::from_millis(1_794_744_000_000));
        let mut settings = HostSettings::new(data.path().to_path_buf());
        settings.timeouts.restart = Duration::from_millis(5);
        let host = Host::prepare(settings, store, Arc::new(puppeteer), now).await.unwrap();
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let (from, to) = tokio::io::split(theirs);
        let settings = IpcSettings {
            permission_mode: "default".to_owned(),
            memory,
            prepare_image: |bytes| Ok(("image/png".to_owned(), "A".repeat(4 * bytes.len()))),
            scratch: data.path().join("long"),
        };
        let shutdown = CancellationToken::new();
        let mut serving = JoinSet::new();
        serving.spawn(host.serve_ipc(settings, (BufReader::new(from), to), shutdown.clone()));
        let (told, tell) = tokio::io::split(ours);
        let told = Some(BufReader::new(told).lines());
        let mut shell = Self { data, tell: Some(tell), told, puppets, serving, shutdown, memory };
        let ready = shell.hear().await;
        assert_eq!(ready["type"], "ready");
        assert_eq!(ready["protocol"], 1);
        shell
    }

    /// The same data under a new host.
    pub(crate) async fn again(mut self) -> Self {
        self.tell = None;
        self.told = None;
        within("the end", self.serving.join_next()).await.unwrap().unwrap();
        Self::open(self.data, self.memory).await
    }

    pub(crate) async fn line(&mut self, line: &str) {
        let tell = self.tell.as_mut().unwrap();
        tell.write_all(line.as_bytes()).await.unwrap();
        tell.write_all(b"\n").await.unwrap();
    }

    pub(crate) async fn ask(&mut self, request: Value) {
        self.line(&request.to_string()).await;
    }

    pub(crate) async fn hear(&mut self) -> Value {
        let line = within("a line", self.told.as_mut().unwrap().next_line()).await.unwrap();
        let line = line.expect("the host says more");
        assert!(line.len() <= 1024 * 1024, "a line has {} bytes", line.len());
        serde_json::from_str(&line).unwrap()
    }

    /// Asks and returns the one response.
    pub(crate) async fn answer(&mut self, request: Value) -> Value {
        let id = request["id"].clone();
        self.ask(request).await;
        let answer = self.hear().await;
        assert_eq!(answer["id"], id, "{answer}");
        assert!(answer["timestamp"].is_i64(), "{answer}");
        answer
    }

    pub(crate) async fn say(&mut self, id: &str, message: &str) {
        self.ask(json!({"id": id, "kind": "user_message", "message": message})).await;
    }

    /// The next session after its handshake, with the prompt it has taken up.
    pub(crate) async fn prompted(&mut self) -> (Puppet, Value) {
        let mut puppet = within("a session", self.puppets.recv()).await.unwrap();
        puppet.greet().await;
        let prompt = puppet.prompt().await;
        (puppet, prompt)
    }

    /// Says something and has it answered.
    pub(crate) async fn round(&mut self, id: &str, message: &str, answer: &str) -> Puppet {
        self.say(id, message).await;
        let (puppet, _) = self.prompted().await;
        puppet.text(answer).await;
        puppet.result(0.01).await;
        assert_eq!(self.hear().await["token"], answer);
        assert_eq!(self.hear().await["type"], "done");
        puppet
    }

    pub(crate) async fn end(&mut self) -> IpcEnd {
        within("the end", self.serving.join_next()).await.unwrap().unwrap()
    }
}
