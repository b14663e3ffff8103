//! What a query in this process costs over the server's own time, and whether anything is left of it.
//!
//! `cargo run --release -p tillerman --example overhead -- [QUERIES]`
//!
//! Each query is one text turn against the scripted server. Before it, the very same request is sent
//! over a bare socket, which is as fast as that server answers; what a query takes longer is the
//! engine's and the SDK's. The program exits with 1 when it is out of budget; times are judged in a
//! release build only, and memory once there were a thousand queries.

#![expect(clippy::print_stdout, reason = "an example talks to its terminal")]

use std::process::ExitCode;
use std::time::{Duration, Instant};

use tillerman::testing::{Script, ScriptedServer, response};
use tillerman::{Options, prompt};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

type Result<T, E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

/// What a query may take longer than the bare request, at the median.
const ADDED: Duration = Duration::from_millis(2);
/// What the process may grow by once it is warm: caches fill up, queries must leave nothing.
const GROWTH_KB: u64 = 1024;
/// A pool of threads may have one more of them at work, and a socket or two may be closing.
const THREADS: usize = 1;
const FILES: usize = 2;
/// Growth says little about fewer queries.
const ENOUGH: usize = 1000;

/// What this process takes up.
#[derive(Clone, Copy, Default)]
struct Footprint {
    kilobytes: u64,
    threads: usize,
    files: usize,
}

impl Footprint {
    fn now() -> Self {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
        let count = |path: &str| std::fs::read_dir(path).map_or(0, Iterator::count);
        Self {
            kilobytes: kilobytes.unwrap_or_default(),
            threads: count("/proc/self/task"),
            files: count("/proc/self/fd"),
        }
    }
}

fn options(server: &ScriptedServer, folder: &std::path::Path) -> Options {
    Options::new()
        .model("claude-sonnet-4-5")
        .cwd(folder)
        .no_session_persistence()
        .env("HOME", folder.to_string_lossy())
        .env("ANTHROPIC_BASE_URL", server.url())
        .env("ANTHROPIC_API_KEY", "not-a-key")
}

/// The request of a query, as bytes that can be sent again to another server.
async fn recorded(folder: &std::path::Path, address: &str) -> Result<Vec<u8>> {
    let server =
        ScriptedServer::start(tillerman::testing::script().reply(response().text("hi"))).await;
    prompt("hello", options(&server, folder)).await?;
    let request = server.single_request();
    let body = request.body.to_string();
    let mut head =
        format!("POST /v1/messages HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n");
    for name in ["anthropic-version", "anthropic-beta", "content-type", "x-api-key"] {
        if let Some(value) = request.header(name) {
            head += &format!("{name}: {value}\r\n");
        }
    }
    Ok(format!("{head}content-length: {}\r\n\r\n{body}", body.len()).into_bytes())
}

/// Sends a request and reads its answer to the end.
async fn exchange(address: &str, request: &[u8]) -> Result<Duration> {
    let begun = Instant::now();
    let mut socket = TcpStream::connect(address).await?;
    socket.set_nodelay(true)?;
    socket.write_all(request).await?;
    let mut answer = Vec::new();
    socket.read_to_end(&mut answer).await?;
    let took = begun.elapsed();
    let is_whole = answer.starts_with(b"HTTP/1.1 200")
        && answer.windows(12).any(|part| part == b"message_stop");
    if is_whole { Ok(took) } else { Err(String::from_utf8_lossy(&answer).into()) }
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// Prints a line of the comparison. Whether it is within its budget.
fn judge(what: &str, budget: &str, is_within: bool, is_judged: bool) -> bool {
    let verdict = match (is_judged, is_within) {
        (false, _) => "not judged here",
        (true, true) => "ok",
        (true, false) => "OVER BUDGET",
    };
    println!("{what}, budget {budget}: {verdict}");
    is_within || !is_judged
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<ExitCode> {
    let queries = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(200_usize);
    let script = Script::from_fn(|_| response().text("hi").into()).forgetting();
    let server = ScriptedServer::start(script).await;
    let url = server.url();
    let address = url.trim_start_matches("http://");
    let folder = tempfile::tempdir()?;
    let request = recorded(folder.path(), address).await?;
    let options = options(&server, folder.path());
    let (mut bare, mut whole) = (Vec::with_capacity(queries), Vec::with_capacity(queries));
    let mut warm = Footprint::default();
    for number in 0..queries {
        bare.push(exchange(address, &request).await?);
        let begun = Instant::now();
        prompt("hello", options.clone()).await?;
        whole.push(begun.elapsed());
        if number == queries / 5 {
            warm = Footprint::now();
        }
    }
    let end = Footprint::now();

    let milliseconds = |time: Duration| time.as_secs_f64() * 1000.0;
    let (bare, whole) = (median(&mut bare), median(&mut whole));
    let added = whole.saturating_sub(bare);
    println!(
        "{queries} queries: {:.2} ms each at the median, the bare request {:.2} ms",
        milliseconds(whole),
        milliseconds(bare)
    );
    let time = format!("added {:.2} ms", milliseconds(added));
    let memory = format!("memory {} -> {} kB", warm.kilobytes, end.kilobytes);
    let counts = format!(
        "threads {} -> {}, open files {} -> {}",
        warm.threads, end.threads, warm.files, end.files
    );
    let is_flat = end.threads <= warm.threads + THREADS && end.files <= warm.files + FILES;
    let growth = end.kilobytes.saturating_sub(warm.kilobytes);
    let verdicts = [
        judge(
            &time,
            &format!("{:.2} ms", milliseconds(ADDED)),
            added <= ADDED,
            !cfg!(debug_assertions),
        ),
        judge(
            &memory,
            &format!("{GROWTH_KB} kB more"),
            growth <= GROWTH_KB,
            queries >= ENOUGH && warm.kilobytes > 0,
        ),
        judge(&counts, &format!("{THREADS} and {FILES} more"), is_flat, warm.threads > 0),
    ];
    Ok(if verdicts.iter().all(|is_good| *is_good) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
