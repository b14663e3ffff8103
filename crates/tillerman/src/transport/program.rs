//! Starts the program of a subprocess with what it understands.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tillerman_assembly::AGENT_VARIABLES;
use tokio::process::{Child, Command};

use crate::error::{Error, ErrorKind, Result};
use crate::transport::find;
use crate::transport::kind::{Kind, ask};
use crate::transport::launch::{Launch, OtherEngines, Runtime};

/// Starts the named program, or the first candidate that exists.
pub(crate) async fn start(named: Option<PathBuf>, launch: &Launch) -> Result<Child> {
    if let Some(cwd) = launch.cwd.as_ref().filter(|cwd| !cwd.is_dir()) {
        let text = format!(
            "the working directory {} does not exist; nothing was started; create it or choose \
             another with `cwd`",
            cwd.display()
        );
        return Err(Error::new(ErrorKind::NotFound, text));
    }
    let is_named = named.is_some();
    let home = std::env::home_dir();
    let programs = named.map_or_else(|| find::candidates(home.as_deref()), |program| vec![program]);
    for program in &programs {
        let started = match fitting(program, launch).await? {
            Some(mut command) => command.spawn(),
            None => continue,
        };
        match started {
            Ok(child) => return Ok(child),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(cannot_start(program, error)),
        }
    }
    let tried = programs.first().map(|program| program.display().to_string()).unwrap_or_default();
    let text = if is_named {
        format!("there is no program {tried}; nothing was started; check `path_to_executable`")
    } else {
        "neither tillerman nor claude was found in PATH or the usual places; nothing was started; \
         install one, name it with `path_to_executable`, or leave the transport in process"
            .to_owned()
    };
    Err(Error::new(ErrorKind::NotFound, text))
}

fn cannot_start(program: &Path, error: io::Error) -> Error {
    let text = format!(
        "{} cannot be started; check that it is a program for this machine and may be executed",
        program.display()
    );
    Error::new(ErrorKind::Connection, text).because(error)
}

/// The command that fits a program; nothing where there is no such program.
///
/// A program is only asked what it is where that matters, since asking costs a start.
async fn fitting(program: &Path, launch: &Launch) -> Result<Option<Command>> {
    if launch.other_engines == OtherEngines::Same {
        return Ok(Some(command(program, launch, &launch.arguments)));
    }
    let mut question = bare(program, launch);
    question.arg("--version");
    let kind = match ask(question).await {
        Ok(kind) => kind,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(cannot_start(program, error)),
    };
    match (kind, &launch.other_engines) {
        (Kind::Tillerman, _) | (_, OtherEngines::Same) => {
            Ok(Some(command(program, launch, &launch.arguments)))
        }
        (Kind::Other(_), OtherEngines::StrictProcess { arguments }) => {
            let mut command = command(program, launch, arguments);
            leave_agent_variables(&mut command, launch);
            Ok(Some(command))
        }
        (Kind::Other(version), OtherEngines::Refuse { options }) => {
            Err(refusal(program, &version, options))
        }
    }
}

fn refusal(program: &Path, version: &str, options: &[&str]) -> Error {
    let names: Vec<String> = options.iter().map(|name| format!("`{name}`")).collect();
    let text = format!(
        "{} is not Tillerman (its version is {version:?}) and cannot honour {}; nothing was \
         started; leave that out, or name a `tillerman` program with `path_to_executable`",
        program.display(),
        names.join(" and "),
    );
    Error::new(ErrorKind::Unsupported, text)
}

/// Takes everything out of the environment but what agents need and what the launch sets.
fn leave_agent_variables(command: &mut Command, launch: &Launch) {
    // The working directory is no secret, and the command says it anew.
    let stays = |name: &str| {
        AGENT_VARIABLES.contains(&name) || launch.environment.contains_key(name) || name == "PWD"
    };
    let others = std::env::vars_os().map(|(name, _)| name);
    let others = others.filter(|name| name.to_str().is_none_or(|name| !stays(name)));
    for name in others {
        command.env_remove(name);
    }
}

/// The program with these arguments, connected by pipes.
fn command(program: &Path, launch: &Launch, arguments: &[String]) -> Command {
    let mut command = bare(program, launch);
    command
        .args(arguments.iter().map(OsString::from))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// The program in its surroundings, without arguments.
fn bare(program: &Path, launch: &Launch) -> Command {
    let runtime = launch.runtime.or_else(|| find::is_script(program).then_some(Runtime::Node));
    let mut command = match runtime {
        Some(runtime) => {
            let mut command = Command::new(runtime.program());
            if runtime == Runtime::Deno {
                command.args(["run", "--allow-all"]);
            }
            command.arg(program);
            command
        }
        None => Command::new(program),
    };
    if launch.bare_environment {
        command.env_clear();
    }
    command
        .env_remove("CLAUDECODE")
        .envs(&launch.environment)
        // The last resort: a runtime that ends takes its children with it.
        .kill_on_drop(true);
    if let Some(cwd) = &launch.cwd {
        command.current_dir(cwd).env("PWD", cwd);
    }
    command
}
