//! Providers that share connections ask over the same ones.

use futures_util::StreamExt as _;
use tillerman_models::anthropic::Anthropic;
use tillerman_models::connections::Connections;
use tillerman_models::openai::OpenAiCompatible;
use tillerman_ports::Model;
use tillerman_protocol::model::ModelEvent;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::asking::{RECORDED, config, request};
use crate::openai_asking;

/// Serves connections one after the other, each as long as the client keeps it, and tells of every
/// request on which connection it came.
async fn serve(listener: TcpListener, asked: mpsc::Sender<usize>) {
    let mut answering = JoinSet::new();
    for number in 0.. {
        let (mut socket, _) = listener.accept().await.unwrap();
        let asked = asked.clone();
        answering.spawn(async move {
            let mut bytes = Vec::new();
            while let Ok(1..) = socket.read_buf(&mut bytes).await {
                if !bytes.ends_with(b"}") {
                    continue;
                }
                bytes.clear();
                asked.send(number).await.unwrap();
                let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length:";
                let answer = format!("{head} {}\r\n\r\n{RECORDED}", RECORDED.len());
                socket.write_all(answer.as_bytes()).await.unwrap();
            }
        });
    }
}

/// Asks, and reads the answer to its end, so that the connection is free again.
async fn ask(model: &dyn Model) {
    let events: Vec<ModelEvent> = model.respond(request()).collect().await;
    assert!(!events.is_empty());
}

#[tokio::test]
async fn sessions_that_share_connections_open_one() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (asked, mut connections) = mpsc::channel(16);
    let mut serving = JoinSet::new();
    serving.spawn(serve(listener, asked));
    let shared = Connections::default();
    for _ in 0..3 {
        ask(&Anthropic::sharing(config(&url), shared.clone())).await;
        assert_eq!(connections.recv().await, Some(0));
    }
    // A provider of another kind on the same server is no exception.
    ask(&OpenAiCompatible::sharing(openai_asking::config(&url), shared)).await;
    assert_eq!(connections.recv().await, Some(0));
    ask(&Anthropic::new(config(&url))).await;
    assert_eq!(connections.recv().await, Some(1), "who does not share has its own");
}
