//! `tillerman ipc`: the host for a desktop shell, on standard input and output.

mod agents;

use std::path::PathBuf;
use std::sync::Arc;

use tillerman_assembly::{Environment, StartFailure, SystemClock};
use tillerman_desktop::{DesktopConfig, desktop_tools, looking_tools};
use tillerman_host::{Host, IpcSettings, Memory, Store};
use tillerman_ports::{Clock as _, Tool};
use tillerman_protocol::permission::PermissionMode;
use tokio::io::BufReader;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::arguments::permission_mode;
use crate::environment;
use crate::serve::{Extras, InProcess, check_user, data_directory, model_settings};
use crate::traces::{Traces, traced};

const WORKERS: usize = 2;
/// Sessions go deep; their tasks need more than a thread's usual stack in debug builds.
const STACK: usize = 8 * 1024 * 1024;
/// Requests to the model in one round; somebody at a desktop looks after that.
const TURNS: u32 = 10;
const READ_AT_ONCE: usize = 256 * 1024;

/// How the host of a shell is started.
#[derive(Debug, clap::Args)]
pub(crate) struct IpcArguments {
    /// The workspace: where the agent works, and what the desktop tools never leave
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
    /// Where conversations are kept
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// The model
    #[arg(long = "default-model", value_name = "MODEL")]
    default_model: Option<String>,
    /// default, acceptEdits, plan, dontAsk or auto
    #[arg(long, value_name = "MODE", value_parser = permission_mode)]
    permission_mode: Option<PermissionMode>,
    /// Requests to the model in one round
    #[arg(long, value_name = "N", default_value_t = TURNS)]
    max_turns: u32,
    #[command(flatten)]
    tools: ToolArguments,
    /// Remind the agent of other conversations
    #[arg(long)]
    memory: bool,
}

/// Which desktop tools there are.
#[derive(Debug, clap::Args)]
struct ToolArguments {
    /// A command that run_shell_command may run, in place of the usual ones (repeatable)
    #[arg(long = "command", value_name = "NAME")]
    commands: Vec<String>,
    /// Leave out the desktop tools
    #[arg(long)]
    no_desktop_tools: bool,
}

/// Serves a shell until it goes or a signal ends it.
pub(crate) fn run(arguments: &IpcArguments) -> Result<u8, StartFailure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .thread_stack_size(STACK)
        .enable_all()
        .build()
        .map_err(|error| StartFailure::usage(format!("Cannot start: {error}")))?;
    let code = runtime
        .block_on(traced(async |environment, traces| serve(arguments, environment, traces).await));
    // Standard input is read by a thread that waits for as long as the shell says nothing.
    runtime.shutdown_timeout(std::time::Duration::from_millis(100));
    code
}

async fn serve(
    arguments: &IpcArguments,
    environment: Environment,
    traces: Option<&Traces>,
) -> Result<u8, StartFailure> {
    check_user(None, &environment)?;
    let root = root(arguments)?;
    let data = match &arguments.data_dir {
        Some(data) => data.clone(),
        None => data_directory(None, &environment)?.join("desktop"),
    };
    let store = Store::open(&data).map_err(|error| sentence(&error))?;
    let mode = arguments.permission_mode.unwrap_or_default();
    let mut settings =
        model_settings(root.clone(), arguments.default_model.clone(), &environment).await?;
    settings.may_bypass = mode == PermissionMode::BypassPermissions;
    let tools = tools(arguments, &root)?;
    let extras = Extras {
        allow: if tools.is_empty() { Vec::new() } else { looking_tools() },
        tools,
        agents: agents::find(&environment.config_dir()),
        max_turns: Some(arguments.max_turns),
    };
    let launcher = InProcess::new(std::env::vars_os(), settings.rehearsal);
    let launcher = launcher.with(extras).watched(traces);
    let now = Arc::new(|| SystemClock.now());
    let host = Host::prepare(settings, store, Arc::new(launcher), now).await;
    let host = host.map_err(|error| sentence(&error))?;
    let settings = IpcSettings {
        permission_mode: mode.as_str().to_owned(),
        memory: if arguments.memory { Memory::On } else { Memory::Off },
        prepare_image,
        // Nobody else can put anything into this directory, under any name.
        scratch: data.join("long"),
    };
    let shutdown = CancellationToken::new();
    let mut interrupts = catch(SignalKind::interrupt())?;
    let mut terminations = catch(SignalKind::terminate())?;
    let streams = (BufReader::with_capacity(READ_AT_ONCE, tokio::io::stdin()), tokio::io::stdout());
    let serving = host.serve_ipc(settings, streams, shutdown.clone());
    tokio::pin!(serving);
    tokio::select! {
        end = &mut serving => {
            tracing::debug!(?end, "the shell is gone");
            return Ok(0);
        }
        _ = interrupts.recv() => {}
        _ = terminations.recv() => {}
    }
    shutdown.cancel();
    serving.await;
    Ok(0)
}

fn root(arguments: &IpcArguments) -> Result<PathBuf, StartFailure> {
    let told = match &arguments.root {
        Some(root) => root.clone(),
        None => environment::working_directory()?,
    };
    told.canonicalize().ok().filter(|root| root.is_dir()).ok_or_else(|| {
        let told = told.display();
        StartFailure::usage(format!("--root {told}: there is no such directory. Make it first."))
    })
}

fn tools(
    arguments: &IpcArguments,
    root: &std::path::Path,
) -> Result<Vec<Arc<dyn Tool>>, StartFailure> {
    if arguments.tools.no_desktop_tools {
        return Ok(Vec::new());
    }
    let config = DesktopConfig::new(root, std::env::vars_os())
        .map_err(|error| StartFailure::usage(format!("--root {}: {error}", root.display())))?;
    let commands = &arguments.tools.commands;
    let config = if commands.is_empty() { config } else { config.with_commands(commands.clone()) };
    Ok(desktop_tools(config))
}

/// Pictures as models take them: decoded once, and made small where needed.
fn prepare_image(bytes: &[u8]) -> Result<(String, String), String> {
    let picture = tillerman_tools::show_picture(bytes).map_err(|error| error.to_string())?;
    Ok((picture.media_type.to_owned(), picture.base64))
}

fn catch(kind: SignalKind) -> Result<tokio::signal::unix::Signal, StartFailure> {
    signal(kind).map_err(|error| StartFailure::usage(format!("Cannot start: {error}")))
}

fn sentence(error: &dyn std::error::Error) -> StartFailure {
    StartFailure::usage(format!("The host cannot start: {error}."))
}
