//! Puts load on a host: many sessions that talk, many sockets that listen, and the delays between.
//!
//! `cargo run --release -p tillerman-cli --example host_load -- target/release/tillerman 200 500 300`
//! starts the binary against a scripted server, keeps 200 conversations busy with 500 sockets on
//! them for 300 seconds, and prints delays from event to socket, errors and memory. The model takes
//! its time, so that most sessions run at any moment. A conversation has to be in memory while it
//! is held, so each is cleared after 10 messages (or as many as a fourth number says): what grows
//! then is a leak.

use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, bail};
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tillerman_testkit::{CapturedRequest, Reply, Script, ScriptedServer, response};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;

/// How long a conversation rests between two messages.
const REST: Duration = Duration::from_millis(500);
/// How long the model thinks about each request: without it nothing would ever wait, and the delays
/// would tell how long the queues of a machine are that cannot keep up.
const THINKING: Duration = Duration::from_millis(1_500);

/// Where the host is and how to get in.
#[derive(Clone, Debug)]
struct Place {
    address: String,
    token: String,
}

/// What was measured.
#[derive(Debug, Default)]
struct Tally {
    events: AtomicU64,
    rounds: AtomicU64,
    errors: AtomicU64,
    /// Events by delay in milliseconds; the last place is for all longer ones.
    delays: Vec<AtomicU64>,
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> anyhow::Result<()> {
    let mut words = std::env::args().skip(1);
    let program = words.next().context("the path of the binary is missing")?;
    let mut number = |default: u64| words.next().map_or(Ok(default), |word| word.parse());
    let (sessions, sockets, seconds) = (number(200)?, number(500)?, number(300)?);
    let clear_after = number(10)?;
    let server = ScriptedServer::start(Script::from_fn(respond).forgetting()).await;
    let root = tempfile::tempdir()?;
    std::fs::create_dir(root.path().join("work"))?;
    std::fs::write(root.path().join("work/note.txt"), "a note\n")?;
    let (mut host, place) = start(&program, root.path(), &server.url()).await?;
    let tally = Arc::new(Tally {
        delays: (0..=1_000).map(|_| AtomicU64::new(0)).collect(),
        ..Tally::default()
    });
    let mut conversations = Vec::new();
    for _ in 0..sessions {
        let (_, made) = ask(&place, "POST", "/conversations", &json!({})).await?;
        conversations.push(made["id"].as_str().context("no conversation")?.to_owned());
    }
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut work = JoinSet::new();
    for number in 0..sockets {
        let id = conversations[usize::try_from(number % sessions)?].clone();
        work.spawn(listen(place.clone(), id, Arc::clone(&tally), end));
    }
    for id in conversations {
        work.spawn(talk(place.clone(), id, Arc::clone(&tally), end, clear_after));
    }
    let id = host.id().context("the host has ended")?;
    let mut next = Instant::now();
    while Instant::now() < end {
        next += Duration::from_secs(10).min(end.saturating_duration_since(next));
        tokio::time::sleep_until(next.into()).await;
        let left = end.saturating_duration_since(next).as_secs();
        say(&format!("{:>5} s  {}  {}", seconds - left, memory(id), tally.line()))?;
    }
    while let Some(done) = work.join_next().await {
        if let Ok(Err(error)) = done {
            tally.errors.fetch_add(1, Ordering::Relaxed);
            say(&format!("{error:#}"))?;
        }
    }
    say(&format!("end      {}  {}", memory(id), tally.line()))?;
    host.kill().await?;
    Ok(())
}

/// A call, and then an answer.
fn respond(request: &CapturedRequest) -> Reply {
    let asked = request.messages().last().map(|message| message["content"].to_string());
    let has_result = asked.is_some_and(|content| content.contains("tool_result"));
    let reply = match has_result {
        true => response().text("It says that it is a note."),
        false => response().tool_call("Read", json!({"file_path": "note.txt"})),
    };
    reply.pause_after_events(1, THINKING).into()
}

fn say(line: &str) -> std::io::Result<()> {
    use std::io::Write as _;
    writeln!(std::io::stdout(), "{line}")
}

async fn start(
    program: &str,
    root: &Path,
    model: &str,
) -> anyhow::Result<(tokio::process::Child, Place)> {
    let mut host = tokio::process::Command::new(Path::new(program).canonicalize()?)
        .args(["serve", "--port", "0", "--default-model", "claude-sonnet-4-5"])
        .env("TILLERMAN_HOME", root.join("data"))
        .env("CLAUDE_CONFIG_DIR", root.join("config"))
        .env("HOME", root)
        .env("IS_SANDBOX", "1")
        .env("ANTHROPIC_BASE_URL", model)
        .env("ANTHROPIC_API_KEY", "sk-ant-load-0123456789")
        .current_dir(root.join("work"))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()?;
    let stdout = host.stdout.take().context("no output")?;
    let mut lines = BufReader::new(stdout).lines();
    let line = lines.next_line().await?.context("no address")?;
    let page = line.rsplit("http://").next().context("no address")?;
    let (address, token) = page.split_once("/?token=").context("no token")?;
    Ok((host, Place { address: address.to_owned(), token: token.to_owned() }))
}

/// Sends a message, waits until it is answered, rests, and sends the next.
async fn talk(
    place: Place,
    id: String,
    tally: Arc<Tally>,
    end: Instant,
    clear_after: u64,
) -> anyhow::Result<()> {
    let path = format!("/conversations/{id}");
    for number in 0_u64.. {
        if Instant::now() >= end {
            break;
        }
        let text = match (number + 1) % (clear_after + 1) {
            0 => "/clear".to_owned(),
            _ => format!("read {number}"),
        };
        let message = json!({"text": text, "client_id": number.to_string()});
        let (status, body) = ask(&place, "POST", &format!("{path}/messages"), &message).await?;
        if status != 202 {
            bail!("a message was refused with {status}: {body}");
        }
        loop {
            tokio::time::sleep(REST).await;
            let (_, shown) = ask(&place, "GET", &path, &Value::Null).await?;
            match shown["state"].as_str() {
                Some("idle") => break,
                Some("running") => {}
                other => bail!("the conversation is {other:?}: {shown}"),
            }
        }
        tally.rounds.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}

/// Follows a conversation; numbers must have no gap.
async fn listen(place: Place, id: String, tally: Arc<Tally>, end: Instant) -> anyhow::Result<()> {
    let mut request = format!("ws://{}/api/v1/socket", place.address).into_client_request()?;
    let bearer = format!("Bearer {}", place.token).parse()?;
    request.headers_mut().insert("authorization", bearer);
    let stream = TcpStream::connect(&place.address).await?;
    let (mut socket, _) = tokio_tungstenite::client_async(request, stream).await?;
    let wish = json!({"type": "subscribe", "conversation_id": id, "after": 0});
    socket.send(Message::text(wish.to_string())).await?;
    let mut last = 0;
    let mut is_live = false;
    loop {
        let message = match tokio::time::timeout_at(end.into(), socket.next()).await {
            Err(_) => return Ok(()),
            Ok(None) => bail!("the host closed a socket"),
            Ok(Some(message)) => message?,
        };
        let Message::Text(text) = message else {
            if message.is_close() {
                bail!("the host closed a socket: {message:?}");
            }
            continue;
        };
        let message: Value = serde_json::from_str(&text)?;
        is_live |= message["type"] == "caught_up";
        if let Some(seq) = message["seq"].as_u64().filter(|_| message["type"] == "event") {
            if seq != last + 1 {
                bail!("event {seq} followed {last}");
            }
            last = seq;
        }
        if is_live && message["type"] == "event" {
            let at: tillerman_protocol::Moment = serde_json::from_value(message["at"].clone())?;
            tally.note(now().saturating_sub(at.as_millis()));
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "delays are measured against the host's clock")]
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

impl Tally {
    fn note(&self, millis: i64) {
        let place = usize::try_from(millis).unwrap_or(0).min(self.delays.len() - 1);
        self.delays[place].fetch_add(1, Ordering::Relaxed);
        self.events.fetch_add(1, Ordering::Relaxed);
    }

    /// The delay that this share of all events stays below, in milliseconds.
    fn percentile(&self, share: f64) -> usize {
        let counts: Vec<u64> = self.delays.iter().map(|it| it.load(Ordering::Relaxed)).collect();
        let all: u64 = counts.iter().sum();
        let mut seen = 0;
        for (millis, count) in counts.iter().enumerate() {
            seen += count;
            if seen as f64 >= all as f64 * share {
                return millis;
            }
        }
        counts.len()
    }

    fn line(&self) -> String {
        format!(
            "{} rounds, {} deliveries, p50 {} ms, p99 {} ms, {} errors",
            self.rounds.load(Ordering::Relaxed),
            self.events.load(Ordering::Relaxed),
            self.percentile(0.5),
            self.percentile(0.99),
            self.errors.load(Ordering::Relaxed)
        )
    }
}

/// What the host has in memory.
fn memory(process: u32) -> String {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.map_or_else(String::new, |line| line.trim().to_owned())
}

async fn ask(
    place: &Place,
    method: &str,
    path: &str,
    body: &Value,
) -> anyhow::Result<(u16, Value)> {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let head = format!(
        "{method} /api/v1{path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        place.address,
        place.token,
        body.len()
    );
    let mut stream = TcpStream::connect(&place.address).await?;
    stream.write_all(head.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    let (head, body) = answer.split_once("\r\n\r\n").context("no answer")?;
    let status = head.split(' ').nth(1).context("no status")?.parse()?;
    Ok((status, serde_json::from_str(body).unwrap_or_default()))
}
