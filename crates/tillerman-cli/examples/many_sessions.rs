//! Runs many sessions in one process against a scripted server and says what they took.
//!
//! `many_sessions --url http://127.0.0.1:PORT --folder DIR --sessions N` prints one JSON object.
//! Every session takes three files, so raise the limit (`ulimit -n`) for large numbers.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};
use tillerman_engine::{Books, CompactionConfig, Echo, Limits, Origin, Restored, SessionConfig};
use tillerman_models::anthropic::{
    Anthropic, AnthropicConfig, CachePolicy, Credential, USER_AGENT,
};
use tillerman_models::catalog::{DEFAULT_MODEL, catalog};
use tillerman_models::secret::Secret;
use tillerman_policy::Policy;
use tillerman_ports::{Clock, Model, PermissionKeeper, Tool};
use tillerman_protocol::catalog::Catalog;
use tillerman_protocol::content::Content;
use tillerman_protocol::frame::{Frame, Init, UserFrame};
use tillerman_protocol::model::Thinking;
use tillerman_protocol::permission::{PermissionMode, PermissionUpdate};
use tillerman_protocol::{Moment, SessionId};
use tillerman_runtime::{HookSetup, Inbound, Ports, Secrets, SessionSetup, SystemPrompt, run};
use tillerman_store::SessionFiles;
use tillerman_tools::{Audience, ToolConfig, ToolLimits, WebConfig, session_tools};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

const FRAMES_IN_FLIGHT: usize = 32;

fn main() -> Result<(), Box<dyn Error>> {
    let order = Order::read(std::env::args().skip(1))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let report = runtime.block_on(measure(order))?;
    use std::io::Write as _;
    writeln!(std::io::stdout(), "{report}")?;
    Ok(())
}

/// What the command line asks for.
struct Order {
    url: String,
    folder: PathBuf,
    sessions: usize,
}

impl Order {
    fn read(mut arguments: impl Iterator<Item = String>) -> Result<Self, Box<dyn Error>> {
        let (mut url, mut folder, mut sessions) = (None, None, None);
        while let Some(name) = arguments.next() {
            let value = arguments.next().ok_or_else(|| format!("{name} wants a value"))?;
            match name.as_str() {
                "--url" => url = Some(value),
                "--folder" => folder = Some(PathBuf::from(value)),
                "--sessions" => sessions = Some(value.parse()?),
                _ => return Err(format!("there is no option {name}").into()),
            }
        }
        Ok(Self {
            url: url.ok_or("--url is missing")?,
            folder: folder.ok_or("--folder is missing")?,
            sessions: sessions.ok_or("--sessions is missing")?,
        })
    }
}

/// What all sessions share.
struct Shared {
    model: Arc<dyn Model>,
    catalog: Arc<Catalog>,
    clock: Arc<dyn Clock>,
    keeper: Arc<dyn PermissionKeeper>,
    work: PathBuf,
    files: SessionFiles,
}

async fn measure(order: Order) -> Result<Value, Box<dyn Error>> {
    let work = order.folder.join("work");
    std::fs::create_dir_all(&work)?;
    let shared = Arc::new(Shared {
        model: Arc::new(Anthropic::new(messages_api(order.url))),
        catalog: Arc::new(catalog()),
        clock: Arc::new(SystemClock),
        keeper: Arc::new(NothingKept),
        files: SessionFiles::new(order.folder.join("config"), &work),
        work,
    });
    let start = Instant::now();
    let mut sessions = JoinSet::new();
    for number in 0..order.sessions {
        let shared = Arc::clone(&shared);
        sessions.spawn(async move { converse(&shared, number).await });
    }
    let (mut succeeded, mut failures) = (0, Vec::new());
    while let Some(ended) = sessions.join_next().await {
        match ended? {
            Ok(()) => succeeded += 1,
            Err(failure) => failures.push(failure),
        }
    }
    failures.truncate(5);
    Ok(json!({
        "sessions": order.sessions,
        "succeeded": succeeded,
        "failures": failures,
        "seconds": start.elapsed().as_secs_f64(),
        "peak_bytes": peak_bytes(),
    }))
}

/// Holds one conversation and checks how it ended.
async fn converse(shared: &Shared, number: usize) -> Result<(), String> {
    let setup = setup(shared, number).map_err(|error| format!("session {number}: {error}"))?;
    let (inbound, messages) = mpsc::channel(4);
    let (frames, mut shown) = mpsc::channel(FRAMES_IN_FLIGHT);
    let prompt = Frame::User(Box::new(UserFrame::new(Content::Text("work".to_owned()))));
    for message in [Inbound::Frame(Box::new(prompt)), Inbound::Closed] {
        drop(inbound.send(message).await);
    }
    let mut result = None;
    let watching = async {
        while let Some(frame) = shown.recv().await {
            if let Frame::Result(frame) = frame {
                result = Some(json!(frame));
            }
        }
    };
    tokio::join!(Box::pin(run(setup, messages, frames)), watching);
    match result.as_ref().map(|result| &result["result"]) {
        Some(text) if text == "done" => Ok(()),
        _ => Err(format!("session {number} ended with {result:?}")),
    }
}

fn setup(shared: &Shared, number: usize) -> Result<SessionSetup, Box<dyn Error>> {
    let id = SessionId::new(uuid::Uuid::from_u128(number as u128 + 1).to_string());
    let transcript = shared.files.create(&id)?;
    let tools = session_tools(tool_config(&shared.work, number));
    let cwd = shared.work.display().to_string();
    let prompt = SystemPrompt { base: "You work.".to_owned(), ..SystemPrompt::default() };
    let specs: Vec<_> = tools.iter().map(|tool: &Arc<dyn Tool>| tool.spec()).collect();
    Ok(SessionSetup {
        engine: SessionConfig {
            session_id: id,
            seed: [number as u64, 1],
            model: DEFAULT_MODEL.to_owned(),
            fallback_models: Vec::new(),
            catalog: Arc::clone(&shared.catalog),
            system: prompt.blocks(),
            tools: specs.into(),
            mode: PermissionMode::BypassPermissions,
            has_approver: false,
            thinking: Thinking::Unset,
            effort: None,
            betas: Vec::new(),
            extra_body: Map::new(),
            limits: Limits::unlimited(),
            echo: Echo::default(),
            origin: Origin { cwd, ..Origin::default() },
            init: Init::default(),
            hooked: Vec::new(),
            checkpoints: false,
            agent: None,
            books: Books::Own,
            compaction: CompactionConfig::automatic(),
            structured_output: None,
        },
        restored: Restored::default(),
        copied: Vec::new(),
        prompt,
        policy: Policy { directories: vec![shared.work.clone()], ..Policy::default() },
        may_bypass: true,
        ports: Ports {
            model: Arc::clone(&shared.model),
            tools,
            transcript: Box::new(transcript),
            clock: Arc::clone(&shared.clock),
            checkpoints: None,
            keeper: Arc::clone(&shared.keeper),
            library: None,
        },
        mirror: false,
        greeting: Map::new(),
        settings: Box::new(Value::Null),
        mcp: None,
        secrets: Secrets::default(),
        shutdown: CancellationToken::new(),
        agents: None,
        observer: None,
        hooks: HookSetup::default(),
        output_retries: 5,
    })
}

fn tool_config(work: &Path, number: usize) -> ToolConfig {
    ToolConfig {
        cwd: work.to_path_buf(),
        working_directories: vec![work.to_path_buf()],
        scratch_directory: work.join(format!("scratch-{number}")),
        environment: Vec::new(),
        shell: "/bin/sh".into(),
        limits: ToolLimits::default(),
        audience: Audience::Absent,
        web: WebConfig::default(),
        confiner: None,
    }
}

fn messages_api(base_url: String) -> AnthropicConfig {
    AnthropicConfig {
        base_url,
        credential: Credential::ApiKey(Secret::new("dummy")),
        custom_headers: Vec::new(),
        betas: Vec::new(),
        extra_body: Map::new(),
        user_agent: USER_AGENT.to_owned(),
        cache: CachePolicy::FiveMinutes,
        connect_timeout: Duration::from_secs(60),
        request_timeout: Duration::from_secs(600),
        idle_timeout: Duration::from_secs(300),
    }
}

/// The most memory this process had at any time.
fn peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or_default() * 1024
}

#[derive(Debug)]
struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is where time comes from")]
    fn now(&self) -> Moment {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Moment::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }
}

#[derive(Debug)]
struct NothingKept;

impl PermissionKeeper for NothingKept {
    fn keep(&self, _: &PermissionUpdate) -> Result<(), String> {
        Ok(())
    }
}
