//! The tillerman binary: arguments, environment, wiring.

mod arguments;
mod environment;

mod assemble;
mod engine_setup;
mod extensions;
mod greeting;
mod library;
mod opening;
mod provider;
mod rewind;
mod toolbox;
mod web_access;

mod drive;

mod permission_cases;
mod permissions;

mod present;
mod stdin;
mod stdout;

mod clock;
mod credentials;
mod failure;
mod git;
mod instructions;
mod keeper;
mod mcp;
mod rules;
mod seed;
mod suggestion;

use std::io::Write as _;
use std::process::ExitCode;

use clap::Parser as _;

use crate::arguments::{Arguments, Command, InputFormat, OutputFormat};
use crate::failure::StartFailure;

/// The level of the stream-json protocol that is spoken.
pub(crate) const PROTOCOL_LEVEL: &str = "2.1.325";

fn main() -> ExitCode {
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
    log_to_stderr(arguments.format.debug.is_some());
    if let Some(Command::Permissions(command)) = &arguments.command {
        return explain(command);
    }
    match start(&arguments) {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            drop(writeln!(std::io::stderr(), "{}", failure.message));
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

fn explain(command: &permissions::PermissionsCommand) -> ExitCode {
    match permissions::run(command) {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            drop(writeln!(std::io::stderr(), "{}", failure.message));
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
    if format.json_schema.is_some() {
        return Err(StartFailure::usage(
            "--json-schema is not available in this version of Tillerman",
        ));
    }
    if let Some(tool) =
        arguments.permission.permission_prompt_tool.as_deref().filter(|tool| *tool != "stdio")
    {
        tracing::warn!(
            "{tool} cannot answer permission questions in this version; they are denied"
        );
    }
    let extension = &arguments.extension;
    if !extension.plugin_dir.is_empty() || extension.agents.is_some() {
        tracing::warn!("plugins and --agents are not available in this version and were left out");
    }
    if arguments.model.task_budget.is_some() {
        tracing::warn!("--task-budget is not available in this version and was left out");
    }
    Ok(())
}

impl Arguments {
    /// Raw events are also what makes text appear as it is written.
    pub(crate) fn wants_partial_messages(&self) -> bool {
        use std::io::IsTerminal as _;
        let live =
            self.format.output_format == OutputFormat::Text && std::io::stdout().is_terminal();
        self.format.include_partial_messages || live
    }
}

fn log_to_stderr(debug: bool) {
    let level = if debug { tracing::Level::DEBUG } else { tracing::Level::WARN };
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_max_level(level)
        .with_target(false)
        .without_time()
        .with_ansi(false)
        // Reporting a failure to report would panic when nobody reads standard error.
        .log_internal_errors(false)
        .init();
}
