//! Requests wait for a place when a process may open few files.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::StreamExt as _;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tillerman_models::anthropic::Anthropic;
use tillerman_ports::Model as _;
use tillerman_protocol::model::ModelEvent;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::asking::{RECORDED, config, request};
use crate::loopback::streamed;

const CHILD: &str = "TILLERMAN_TEST_FEW_FILES";
const FILES: u64 = 80;
const PLACES: usize = 20;

#[tokio::test]
async fn more_requests_than_files_all_get_their_answer() {
    if std::env::var_os(CHILD).is_none() {
        // The limit is the process's, so it takes one of its own.
        #[expect(clippy::disallowed_methods, reason = "the test starts itself, with a limit")]
        let mut child = std::process::Command::new(std::env::current_exe().unwrap());
        let name = "places::more_requests_than_files_all_get_their_answer";
        let output = child.args(["--exact", name, "--nocapture"]).env(CHILD, "1").output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        return;
    }
    let few = Rlimit { current: Some(FILES), maximum: getrlimit(Resource::Nofile).maximum };
    setrlimit(Resource::Nofile, few).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let model = Anthropic::new(config(&format!("http://{}", listener.local_addr().unwrap())));
    let most = Arc::new(AtomicUsize::new(0));
    let mut serving = JoinSet::new();
    serving.spawn(serve(listener, Arc::clone(&most)));
    let mut asking = JoinSet::new();
    for _ in 0..200 {
        let model = model.clone();
        asking.spawn(async move { model.respond(request()).collect::<Vec<_>>().await });
    }
    while let Some(events) = asking.join_next().await {
        let last = events.unwrap().pop().unwrap();
        assert!(!matches!(last, ModelEvent::Failed(_)), "{last:?}");
    }
    assert_eq!(most.load(Ordering::Relaxed), PLACES, "a quarter of {FILES} files");
}

/// Answers every connection after a moment, and counts how many there were at once.
async fn serve(listener: TcpListener, most: Arc<AtomicUsize>) {
    let open = Arc::new(AtomicUsize::new(0));
    let mut answering = JoinSet::new();
    loop {
        let (socket, _) = listener.accept().await.unwrap();
        let now = open.fetch_add(1, Ordering::Relaxed) + 1;
        most.fetch_max(now, Ordering::Relaxed);
        let open = Arc::clone(&open);
        answering.spawn(async move {
            answer(socket).await;
            open.fetch_sub(1, Ordering::Relaxed);
        });
    }
}

async fn answer(mut socket: TcpStream) {
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"}") && socket.read_buf(&mut bytes).await.unwrap() > 0 {}
    tokio::time::sleep(Duration::from_millis(20)).await;
    socket.write_all(&streamed(RECORDED)).await.unwrap();
}
