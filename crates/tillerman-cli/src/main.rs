//! The tillerman binary: arguments, environment, wiring.

mod arguments;
mod environment;
mod host_arguments;
mod order;

mod drive;
mod rewind;

mod config_command;
mod doctor;
mod ipc;
mod log;
mod mcp_command;
mod mcp_login;
mod mcp_serve;
mod permission_cases;
mod permissions;
mod serve;
mod traces;
mod trust_command;

mod present;
mod stdin;
mod stdout;

use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;

use clap::Parser as _;
use tillerman_assembly::{PROTOCOL_LEVEL, StartFailure};

use crate::arguments::{Arguments, Command, InputFormat, OutputFormat};
use crate::log::{About, Log, LogLevel};

fn main() -> ExitCode {
    // Before anything else: a stage of a confined command is another program in all but name.
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|first| first == tillerman_sandbox::STAGE) {
        return tillerman_sandbox::run_stage(arguments);
    }
    if let Err(error) = keep_others_out() {
        drop(writeln!(
            std::io::stderr(),
            "warning: credentials are not hidden from tools: {error}"
        ));
    }
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            drop(error.print());
            if error.use_stderr() && std::env::args_os().any(|argument| argument == "stream-json") {
                stdin::hear_the_host_out();
            }
            return ExitCode::from(u8::from(error.use_stderr()));
        }
    };
    if arguments.version {
        let version = env!("CARGO_PKG_VERSION");
        drop(writeln!(std::io::stdout(), "{PROTOCOL_LEVEL} (Tillerman {version})"));
        return ExitCode::SUCCESS;
    }
    let log = begin_log(&arguments);
    if let Some(command) = &arguments.command {
        return carry_out(command, &arguments, log);
    }
    match start(&arguments) {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            log.complain(&failure.message);
            if failure.as_frame && arguments.format.output_format == OutputFormat::StreamJson {
                let frame = failure.to_frame();
                drop(stdout::write_line(&mut std::io::stdout(), &frame, &std::env::temp_dir()));
            }
            if arguments.format.input_format == InputFormat::StreamJson {
                stdin::hear_the_host_out();
            }
            ExitCode::FAILURE
        }
    }
}

/// Children run as the same user and could read the environment of this process, keys included.
fn keep_others_out() -> std::io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable)?;
    Ok(())
}

fn carry_out(command: &Command, arguments: &Arguments, log: Log) -> ExitCode {
    let done = match command {
        Command::Permissions(command) => permissions::run(command),
        Command::Config(command) => config_command::run(command),
        Command::Trust(arguments) => trust_command::run(arguments),
        Command::Doctor(arguments) => doctor::run(arguments),
        Command::Serve(arguments) => serve::run(arguments),
        Command::Reindex { data_dir } => serve::run_reindex(data_dir.clone()),
        Command::DebugBundle { output, data_dir } => serve::run_bundle(output, data_dir.clone()),
        Command::Users(command) => serve::run_users(command),
        Command::Ipc(arguments) => ipc::run(arguments),
        Command::Mcp(command) => mcp_command::run(command, arguments),
    };
    match done {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            log.complain(&failure.message);
            ExitCode::FAILURE
        }
    }
}

fn start(arguments: &Arguments) -> Result<u8, StartFailure> {
    check(arguments)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| StartFailure::usage(format!("Cannot start: {error}")))?;
    let code = runtime.block_on(drive::drive(arguments));
    // A file operation that hangs must not keep the process.
    runtime.shutdown_timeout(std::time::Duration::from_secs(1));
    code
}

/// Combinations that make no sense.
fn check(arguments: &Arguments) -> Result<(), StartFailure> {
    let format = &arguments.format;
    let streams = format.output_format == OutputFormat::StreamJson;
    if streams && !format.verbose {
        return Err(StartFailure::usage("--output-format stream-json needs --verbose"));
    }
    if format.input_format == InputFormat::StreamJson && !streams {
        return Err(StartFailure::usage(
            "--input-format stream-json needs --output-format stream-json",
        ));
    }
    let approver = arguments.permission.permission_prompt_tool.as_deref();
    if let Some(tool) = approver.filter(|it| *it != "stdio" && !it.starts_with("mcp__")) {
        tracing::warn!(
            "{tool} is neither stdio nor a tool of an MCP server (mcp__server__tool), so that \
             permission questions are denied"
        );
    }
    let extension = &arguments.extension;
    extension.host.check()?;
    if !extension.plugin_dir.is_empty() {
        tracing::warn!("plugins are not available in this version and were left out");
    }
    Ok(())
}

/// A host says what it does, to whatever keeps its log; on a terminal, and for everything else, only
/// what is wrong is told.
fn begin_log(arguments: &Arguments) -> Log {
    let (usual, about) = match &arguments.command {
        Some(Command::Serve(_)) if !std::io::stderr().is_terminal() => {
            (LogLevel::Info, About::Many)
        }
        Some(Command::Serve(_)) => (LogLevel::Warn, About::Many),
        Some(Command::Ipc(_)) => (LogLevel::Warn, About::Many),
        _ => (LogLevel::Warn, About::One),
    };
    let file = arguments.extension.host.debug_file.as_deref();
    let is_debug = arguments.format.debug.is_some() || file.is_some();
    let usual = if is_debug { LogLevel::Debug } else { usual };
    Log::begin(&arguments.log, (usual, about), file, &environment::capture())
}
