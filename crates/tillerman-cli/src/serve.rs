//! `tillerman serve`: agents in the browser, on this machine.

mod bundle;
mod in_process;
mod place;
mod reindex;
mod users;

use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use tillerman_assembly::{
    Environment, ModelOrder, PROTOCOL_LEVEL, SessionOrder, StartFailure, SystemClock,
    WithoutCredentials, assemble,
};
use tillerman_host::{Host, HostSettings, Launcher, Page, Store, Subprocess};
use tillerman_ports::Clock as _;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::environment;
use crate::traces::{Traces, traced};

pub(crate) use bundle::run as run_bundle;
pub(crate) use in_process::{Extras, InProcess};
pub(crate) use place::{check_user, data_directory};
pub(crate) use reindex::run as run_reindex;
pub(crate) use users::{UsersCommand, run as run_users};

/// The port that the host uses when it is told no other.
pub(crate) const PORT: u16 = 7_717;
const REHEARSAL: &str = "rehearsal";
const WORKERS: usize = 2;
/// Sessions go deep; their tasks need more than a thread's usual stack in debug builds.
const STACK: usize = 8 * 1024 * 1024;

/// How the host is started.
#[derive(Debug, clap::Args)]
pub(crate) struct ServeArguments {
    /// The port on the loopback address; 0 takes any that is free
    #[arg(long, default_value_t = PORT)]
    port: u16,
    /// Where conversations and cards are kept
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// The model of conversations that name no other
    #[arg(long = "default-model", value_name = "MODEL")]
    default_model: Option<String>,
    /// Open the page in a browser
    #[arg(long)]
    open: bool,
    /// Make a new token for the owner; the old one and its cookies end
    #[arg(long)]
    new_token: bool,
    #[command(flatten)]
    sessions: SessionPlace,
    /// A further name under which browsers reach the host, with its port where that is not 80 or 443
    #[arg(long, value_name = "NAME")]
    allow_host: Vec<String>,
    /// Dollars all conversations together may spend in a day
    #[arg(long, value_name = "DOLLARS")]
    daily_budget_usd: Option<f64>,
    /// A program that is told of every card: it gets the card's title and the conversation's
    #[arg(long, value_name = "PROGRAM")]
    notify: Option<String>,
}

/// Where and how sessions run.
#[derive(Debug, clap::Args)]
struct SessionPlace {
    /// Run every session as a process of its own
    #[arg(long)]
    isolate: bool,
    /// Run sessions as this user (needs root, implies --isolate)
    #[arg(long, value_name = "USER")]
    run_as: Option<String>,
    /// Let people choose the mode that asks nothing
    #[arg(long)]
    allow_bypass: bool,
}

/// Serves until a signal ends it.
pub(crate) fn run(arguments: &ServeArguments) -> Result<u8, StartFailure> {
    place::raise_file_limit();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .thread_stack_size(STACK)
        .enable_all()
        .build()
        .map_err(|error| StartFailure::usage(format!("Cannot start: {error}")))?;
    let code = runtime
        .block_on(traced(async |environment, traces| serve(arguments, environment, traces).await));
    // A file operation that hangs must not keep the process.
    runtime.shutdown_timeout(std::time::Duration::from_secs(1));
    code
}

async fn serve(
    arguments: &ServeArguments,
    environment: Environment,
    traces: Option<&Traces>,
) -> Result<u8, StartFailure> {
    let run_as = place::check_user(arguments.sessions.run_as.as_deref(), &environment)?;
    let data = place::data_directory(arguments.data_dir.clone(), &environment)?;
    let store = Store::open(&data).map_err(|error| sentence(&error))?;
    let mut settings = settings(arguments, &environment).await?;
    settings.further_counters = traces.map(Traces::counters);
    let launcher: Arc<dyn Launcher> = if arguments.sessions.isolate || run_as.is_some() {
        let scratch = place::scratch(&data, &environment, run_as.as_ref())?;
        Arc::new(Subprocess {
            program: std::env::current_exe()
                .map_err(|error| StartFailure::usage(format!("Cannot start: {error}")))?,
            environment: std::env::vars_os().collect(),
            scratch,
            run_as,
            probe_address: in_process::provider_address(&environment),
        })
    } else {
        let launcher = InProcess::new(std::env::vars_os(), settings.rehearsal);
        Arc::new(launcher.watched(traces))
    };
    let token = match arguments.new_token {
        true => Some(store.renew_token(SystemClock.now()).await.map_err(|error| sentence(&error))?),
        false => None,
    };
    let now = Arc::new(|| SystemClock.now());
    let host = Host::prepare(settings, store, launcher, now).await;
    let host = host.map_err(|error| sentence(&error))?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, arguments.port));
    let listener = TcpListener::bind(address).await.map_err(|error| {
        StartFailure::usage(format!(
            "{address} cannot be used: {error}. Choose another port with --port, or 0 for any."
        ))
    })?;
    let bound = listener.local_addr().unwrap_or(address);
    let token = token.as_ref().or(host.first_token());
    greet(bound, token.map(tillerman_host::Token::reveal), arguments.open);
    let shutdown = CancellationToken::new();
    let serving = host.serve(listener, shutdown.clone());
    tokio::pin!(serving);
    let mut interrupts = catch(SignalKind::interrupt())?;
    let mut terminations = catch(SignalKind::terminate())?;
    for told in 0..2 {
        tokio::select! {
            served = &mut serving => {
                return served.map(|_| 0).map_err(|error| sentence(&error));
            }
            _ = interrupts.recv() => {}
            _ = terminations.recv() => {}
        }
        if told == 0 {
            tracing::info!("ending; runs go on after the next start");
            shutdown.cancel();
        }
    }
    // A second signal: whoever sent it does not want to wait.
    Ok(1)
}

fn catch(kind: SignalKind) -> Result<tokio::signal::unix::Signal, StartFailure> {
    signal(kind).map_err(|error| StartFailure::usage(format!("Cannot start: {error}")))
}

fn sentence(error: &dyn std::error::Error) -> StartFailure {
    StartFailure::usage(format!("The host cannot start: {error}."))
}

/// What the host goes by.
async fn settings(
    arguments: &ServeArguments,
    environment: &Environment,
) -> Result<HostSettings, StartFailure> {
    let cwd = environment::working_directory()?;
    let mut settings = model_settings(cwd, arguments.default_model.clone(), environment).await?;
    settings.may_bypass = arguments.sessions.allow_bypass;
    settings.allowed_hosts.clone_from(&arguments.allow_host);
    settings.daily_budget_usd = arguments.daily_budget_usd;
    settings.notify = arguments.notify.clone().into_iter().collect();
    Ok(settings)
}

/// What every host in a directory goes by, with the model that an assembly would choose.
pub(crate) async fn model_settings(
    cwd: PathBuf,
    model: Option<String>,
    environment: &Environment,
) -> Result<HostSettings, StartFailure> {
    let mut order = SessionOrder {
        cwd: cwd.clone(),
        environment: environment.clone(),
        model: ModelOrder {
            model,
            without_credentials: WithoutCredentials::Rehearse,
            ..ModelOrder::default()
        },
        ..SessionOrder::default()
    };
    order.session.no_persistence = true;
    order.extension.strict_mcp_config = true;
    let setup = assemble(&order, CancellationToken::new()).await?;
    let model = setup.engine.model.clone();
    let known = setup.greeting.get("models").and_then(serde_json::Value::as_array);
    let text = |value: &serde_json::Value, name: &str| {
        value.get(name).and_then(serde_json::Value::as_str).unwrap_or_default().to_owned()
    };
    let mut models: Vec<(String, String)> = Vec::new();
    for model in known.into_iter().flatten() {
        // Several aliases may stand for one model.
        let choice = (text(model, "resolvedModel"), text(model, "displayName"));
        if !models.iter().any(|(id, _)| *id == choice.0) {
            models.push(choice);
        }
    }
    models.push((REHEARSAL.to_owned(), "Rehearsal (offline, no language model)".to_owned()));
    if !models.iter().any(|(id, _)| *id == model) {
        models.insert(0, (model.clone(), model.clone()));
    }
    let mut settings = HostSettings::new(cwd);
    settings.rehearsal = model == REHEARSAL;
    settings.model = model;
    settings.models = models;
    settings.protocol_level = PROTOCOL_LEVEL.to_owned();
    settings.assets = page;
    Ok(settings)
}

/// A file of the page.
fn page(path: &str) -> Option<Page> {
    let asset = tillerman_web::asset(path)?;
    let (content_type, etag) = (asset.content_type.to_owned(), asset.etag.to_owned());
    let bytes = asset.bytes.into();
    Some(Page { bytes, content_type, etag, immutable: asset.immutable })
}

/// Tells where the page is. The token is shown when it is new, and never again.
fn greet(address: SocketAddr, token: Option<&str>, open: bool) {
    let page = match token {
        Some(token) => format!("http://{address}/?token={token}"),
        None => format!("http://{address}/"),
    };
    let note = match token {
        Some(_) => "The token is shown this once; your browser keeps a cookie instead.",
        None => "Signed in browsers stay so. For a new token: tillerman serve --new-token",
    };
    // Nobody may be reading; the host serves all the same.
    drop(writeln!(std::io::stdout(), "Tillerman is at {page}\n{note}"));
    if open {
        place::open_browser(&page);
    }
}
