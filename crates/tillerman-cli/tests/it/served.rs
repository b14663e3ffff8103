//! A host as a process, and what clients ask of it.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::harness::{Agent, Launch, World, within};

/// A host that runs.
pub(crate) struct Served {
    pub(crate) process: Agent,
    pub(crate) address: String,
    pub(crate) token: String,
}

impl Served {
    pub(crate) async fn start(world: &World, more: &[&str]) -> Self {
        Self::launch(world, world.tillerman(), more).await
    }

    /// A host that was prepared otherwise.
    pub(crate) async fn launch(world: &World, launch: Launch, more: &[&str]) -> Self {
        let arguments = ["serve", "--port", "0"].into_iter().chain(more.iter().copied());
        let launch = launch.env("TILLERMAN_HOME", world.path("data"));
        let mut process = launch.args(arguments).start_as_is();
        let line = process.line().await.expect("an address");
        let page = line.trim().rsplit("http://").next().unwrap().to_owned();
        let (address, rest) = page.split_once('/').unwrap();
        let token = rest.strip_prefix("?token=").unwrap_or_default().to_owned();
        Self { process, address: address.to_owned(), token }
    }

    /// The same host after a restart: the token is not shown again.
    pub(crate) async fn again(world: &World, token: &str, more: &[&str]) -> Self {
        let served = Self::start(world, more).await;
        assert_eq!(served.token, "", "the token is shown once");
        Self { token: token.to_owned(), ..served }
    }

    pub(crate) async fn ask(&self, method: &str, path: &str, body: Value) -> (u16, Value) {
        let body = if method == "GET" { String::new() } else { body.to_string() };
        let (status, body) = self.exchange(method, &format!("/api/v1{path}"), &body).await;
        (status, serde_json::from_str(&body).unwrap_or_default())
    }

    /// What is there outside of the API.
    pub(crate) async fn text(&self, path: &str) -> String {
        self.exchange("GET", path, "").await.1
    }

    async fn exchange(&self, method: &str, path: &str, body: &str) -> (u16, String) {
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
            self.address,
            self.token,
            body.len()
        );
        let exchange = async {
            let mut stream = TcpStream::connect(&self.address).await.unwrap();
            stream.write_all((head + body).as_bytes()).await.unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await.unwrap();
            answer
        };
        let answer = within("an answer", exchange).await;
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, body.to_owned())
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        let (status, body) = self.ask("GET", path, Value::Null).await;
        assert_eq!(status, 200, "{body}");
        body
    }

    /// A new conversation with a first message.
    pub(crate) async fn say(&self, text: &str) -> String {
        let (_, conversation) = self.ask("POST", "/conversations", json!({})).await;
        let id = conversation["id"].as_str().unwrap().to_owned();
        self.say_to(&id, text).await;
        id
    }

    pub(crate) async fn say_to(&self, id: &str, text: &str) {
        let message = json!({"text": text, "client_id": text});
        let path = format!("/conversations/{id}/messages");
        assert_eq!(self.ask("POST", &path, message).await.0, 202);
    }

    pub(crate) async fn card(&self) -> Value {
        let look = async {
            loop {
                let all = self.get("/approvals").await;
                if let Some(card) = all["approvals"].as_array().unwrap().first() {
                    return card.clone();
                }
                tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            }
        };
        within("a card", look).await
    }

    pub(crate) async fn answer(&self, card: &Value, body: Value) -> Value {
        let path = format!("/approvals/{}/answer", card["id"].as_str().unwrap());
        let (status, answered) = self.ask("POST", &path, body).await;
        assert_eq!(status, 200, "{answered}");
        answered
    }

    pub(crate) async fn reaches(&self, id: &str, state: &str) -> Value {
        let look = async {
            loop {
                let found = self.get(&format!("/conversations/{id}")).await;
                if found["state"] == state {
                    return found;
                }
                tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            }
        };
        within(state, look).await
    }

    pub(crate) async fn events(&self, id: &str) -> String {
        self.get(&format!("/conversations/{id}/events?limit=2000")).await.to_string()
    }
}
