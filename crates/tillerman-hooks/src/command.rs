//! Handlers that run a command: JSON on its standard input, an answer on its standard output.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use rustix::process::Pid;
use tillerman_ports::{HookEnd, HookJob, HookReport};
use tillerman_protocol::hook::{CommandHook, HookEvent};
use tokio::process::{Child, Command};

use crate::config::HookConfig;
use crate::following::{Ending, Followed, Following};
use crate::meaning::{Left, of_command, quoted};
use crate::runner::has_env_file;
use crate::shorten::{make_private, shorten};
use crate::tree::{MARK, Tree, new_mark};

const SHELL: &str = "/bin/sh";
/// The longest a command may go on in the background when it asks for a time itself.
const LONGEST: Duration = Duration::from_secs(86_400);

/// Why a command could not be started.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartHookError {
    /// There is no place for the variables it may leave.
    #[error("the directory {directory} could not be made: {source}")]
    EnvFile { directory: String, source: std::io::Error },
    /// The program did not start.
    #[error("{program} could not be started: {source}")]
    Program { program: String, source: std::io::Error },
    /// It was gone before anybody could look.
    #[error("it ended before it could be told anything")]
    Gone,
}

/// What a run of a command is judged by once it has ended.
#[derive(Clone, Debug)]
pub(crate) struct Judge {
    config: Arc<HookConfig>,
    event: HookEvent,
    wakes: bool,
}

/// Runs a command to its end, or until it goes on in the background.
///
/// # Cancel safety
/// Dropping the future kills every process of the command.
pub(crate) async fn run(
    config: Arc<HookConfig>,
    job: HookJob,
    hook: &CommandHook,
    event: HookEvent,
) -> HookReport {
    let judge = Judge { config: Arc::clone(&config), event, wakes: hook.async_rewake };
    let mut told = serde_json::to_vec(&*job.input).unwrap_or_default();
    told.push(b'\n');
    let started = start(&config, &job, hook, event);
    let mut following = match started {
        Ok((child, tree)) => Following::new(child, tree, told, job),
        Err(error) => return HookReport::new(HookEnd::Failed(error.to_string())),
    };
    if hook.in_background || hook.async_rewake {
        return detached(judge, following);
    }
    match following.until_end_or_async().await {
        Followed::Ended(ending) => judge.report(following, ending).await,
        Followed::WentAsync { seconds } => {
            let wanted = seconds.and_then(|it| Duration::try_from_secs_f64(it).ok());
            if let Some(time) = wanted.filter(|time| !time.is_zero()) {
                following.extend(time.min(LONGEST));
            }
            detached(judge, following)
        }
    }
}

/// A report that hands over the rest of a run.
fn detached(judge: Judge, mut following: Following) -> HookReport {
    let printed = following.capture.printed();
    let rest = Box::pin(async move {
        let ending = following.until_end().await;
        judge.report(following, ending).await
    });
    HookReport { printed, ..HookReport::new(HookEnd::Detached(rest)) }
}

fn start(
    config: &HookConfig,
    job: &HookJob,
    hook: &CommandHook,
    event: HookEvent,
) -> Result<(Child, Tree), StartHookError> {
    let mut command = match &hook.args {
        Some(args) => {
            let mut command = Command::new(&hook.command);
            command.args(args);
            command
        }
        None => shell_command(hook),
    };
    let mark = new_mark();
    let outer = config.variable(MARK).map_or_else(String::new, |outer| format!("{outer}:"));
    let is_telemetry = |name: &OsStr| name.to_str().is_some_and(|it| it.starts_with("OTEL_"));
    let kept = config.environment.iter().filter(|(name, _)| !is_telemetry(name));
    command
        .current_dir(&config.project_dir)
        .env_clear()
        .envs(kept.map(|(name, value)| (name, value)))
        .env("CLAUDE_PROJECT_DIR", &config.project_dir)
        .envs(job.variables.iter().map(|(name, value)| (name, value)))
        .env(MARK, format!("{outer}{mark}"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    if let Some(effort) = &job.input.base.effort {
        command.env("CLAUDE_EFFORT", &effort.level);
    }
    match job.env_file.as_deref().filter(|_| has_env_file(event)) {
        Some(file) => command.env("CLAUDE_ENV_FILE", ready_env_file(file)?),
        None => command.env_remove("CLAUDE_ENV_FILE"),
    };
    let child = command.spawn().map_err(|source| {
        let program = command.as_std().get_program().to_string_lossy().into_owned();
        StartHookError::Program { program, source }
    })?;
    let leader = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
    let leader = leader.ok_or(StartHookError::Gone)?;
    Ok((child, Tree::new(leader, mark)))
}

fn shell_command(hook: &CommandHook) -> Command {
    let (shell, flag) = match hook.shell.as_deref() {
        Some("bash") => ("bash", "-c"),
        Some("powershell" | "pwsh") => ("pwsh", "-Command"),
        _ => (SHELL, "-c"),
    };
    let mut command = Command::new(shell);
    command.args([flag, &hook.command]);
    command
}

fn ready_env_file(file: &Path) -> Result<&Path, StartHookError> {
    let directory = file.parent().unwrap_or(file);
    make_private(directory).map_err(|source| StartHookError::EnvFile {
        directory: directory.display().to_string(),
        source,
    })?;
    Ok(file)
}

impl Judge {
    /// Ends what has to end and says what the run meant.
    async fn report(&self, mut following: Following, ending: Ending) -> HookReport {
        following.wind_up(&ending).await;
        let capture = &following.capture;
        let mut report = HookReport::new(HookEnd::TimedOut);
        report.printed = capture.printed();
        match ending {
            Ending::TimedOut => {}
            Ending::Cancelled => report.end = HookEnd::Cancelled,
            Ending::Flood => {
                let why = "it printed more than 64 MiB and was ended";
                report.end = HookEnd::Failed(why.to_owned());
            }
            Ending::Lost(error) => {
                let why = format!("how it ended could not be found out: {error}");
                report.end = HookEnd::Failed(why);
            }
            Ending::Exited(status) => match status.code() {
                Some(exit_code) => {
                    report.exit_code = Some(exit_code);
                    self.judge(&following, exit_code, &mut report);
                }
                None => {
                    let stderr = quoted(&capture.stderr());
                    report.end = HookEnd::Failed(format!("a signal ended it ({status}) {stderr}"));
                }
            },
        }
        report
    }

    fn judge(&self, following: &Following, exit_code: i32, report: &mut HookReport) {
        let capture = &following.capture;
        let (stdout, stderr) = (capture.stdout(), capture.stderr());
        // A line that only sent the command into the background is no part of its answer.
        let stdout = match (following.went_async, stdout.split_once('\n')) {
            (true, Some((_, rest))) => rest,
            _ => &stdout,
        };
        let (event, wakes) = (self.event, self.wakes);
        let left = Left { event, exit_code, stdout, stderr: &stderr, wakes };
        let meaning = of_command(left);
        report.end = meaning.end;
        report.remark = meaning.remark;
        if capture.is_cut() {
            report.remark = Some("it printed more than 8 MiB; the rest was left out".to_owned());
        }
        if let HookEnd::Answered(output) = &mut report.end {
            report.remark = shorten(&self.config, output).or(report.remark.take());
        }
    }
}
