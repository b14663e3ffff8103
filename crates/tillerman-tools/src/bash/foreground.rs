//! Commands that their call waits for, as long as it may.

use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tillerman_ports::ToolCall;
use tillerman_ports::model::BoxFuture;
use tillerman_protocol::tool::{ToolFailure, ToolOutcome};
use tokio_util::sync::CancellationToken;

use super::background::{self, Departure};
use super::capture::Capture;
use super::directory::{carry_over, starting_directory};
use super::exit::{Exit, Outlet};
use super::lasting::may_go_on;
use super::report::{Circumstances, outcome};
use super::run::{Finished, Job, StartCommandError, run};
use super::tool::{Params, why_not_started};
use super::tree::CallMark;
use crate::blocking::interrupted;
use crate::session::Session;

/// A command that runs, whoever waits for it.
pub(super) type Run = BoxFuture<Result<Finished<Outlet>, StartCommandError>>;

/// Runs a command and waits for it, until its time is over or somebody lets it go.
pub(super) async fn attend(
    session: &Arc<Session>,
    params: &Params,
    call: &ToolCall,
) -> ToolOutcome {
    if call.cancel.is_cancelled() {
        return Err(interrupted());
    }
    let directory = starting_directory(session)?;
    let limits = session.config().limits;
    let timeout = params.timeout.unwrap_or(limits.default_timeout).min(limits.max_timeout);
    let (exit, overdue) = (Exit::default(), CancellationToken::new());
    let mut running = begin(Order {
        session: Arc::clone(session),
        command: params.command.clone(),
        directory: directory.clone(),
        call: call.clone(),
        exit: exit.clone(),
        overdue: overdue.clone(),
    });
    let let_go = call.tasks.let_go();
    let mut stays = let_go.is_none();
    let let_go = let_go.unwrap_or_default();
    let mut patience = pin!(tokio::time::sleep(timeout));
    loop {
        let departure = tokio::select! {
            biased;
            finished = &mut running => {
                return ended(session, params, timeout, &directory, finished).await;
            }
            () = let_go.cancelled(), if !stays => Departure::Wanted,
            () = &mut patience, if !overdue.is_cancelled() => Departure::Overdue(timeout),
        };
        let leaves = match departure {
            Departure::Wanted => true,
            Departure::Overdue(_) => !stays && may_go_on(&params.command),
        };
        // Without a file for its output a command stays where it is.
        if leaves
            && !call.cancel.is_cancelled()
            && let Ok((task, file)) =
                background::open(session, background::about(params), call.cancel.clone())
        {
            exit.open(file);
            return background::take_over(session, call, &task, running, departure);
        }
        stays = true;
        if matches!(departure, Departure::Overdue(_)) {
            overdue.cancel();
        }
    }
}

/// What a command needs to run on its own.
struct Order {
    session: Arc<Session>,
    command: String,
    directory: PathBuf,
    call: ToolCall,
    exit: Exit,
    overdue: CancellationToken,
}

fn begin(order: Order) -> Run {
    Box::pin(async move {
        let config = order.session.config();
        let mark = CallMark::new();
        let output = config.scratch_directory.join(format!("bash-{}.txt", mark.as_str()));
        let outlet = Outlet::new(Capture::new(config.limits, output), order.exit);
        let job = Job {
            mark,
            config,
            command: &order.command,
            directory: &order.directory,
            timeout: config.limits.max_timeout + config.limits.max_background_timeout,
            overdue: &order.overdue,
            cancel: &order.call.cancel,
            environment: &order.call.environment,
            bounds: order.call.bounds,
        };
        run(job, outlet).await
    })
}

async fn ended(
    session: &Session,
    params: &Params,
    timeout: Duration,
    directory: &Path,
    finished: Result<Finished<Outlet>, StartCommandError>,
) -> ToolOutcome {
    let finished = finished.map_err(|error| ToolFailure::new(why_not_started(&error)))?;
    let mut notes = Vec::new();
    if finished.left_processes {
        notes.push(
            "[Processes the command had left running were stopped when it ended.]".to_owned(),
        );
    }
    notes.extend(finished.violations.iter().map(|violation| format!("[The sandbox: {violation}]")));
    notes.extend(carry_over(session, directory, finished.directory.as_deref()));
    let limits = session.config().limits;
    let circumstances = Circumstances { command: &params.command, timeout, limits, notes };
    let Some(capture) = finished.sink.into_capture() else { return Err(interrupted()) };
    outcome(finished.ending, capture, circumstances).await
}
