//! The second stage: the first process inside, which checks the confinement and watches over it.

use std::fs::File;
use std::io::Write as _;
use std::os::fd::RawFd;
use std::process::Command;
use std::thread::Builder;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{DumpableBehavior, WaitOptions, set_dumpable_behavior};

use super::run::{StageError, read_plan};
use super::{bridge, checks};
use crate::layout::RUNNER;
use crate::plan::InitPlan;
use crate::sandbox::{REFUSED, STAGE};

/// Runs the command to its end and returns its exit code.
pub(crate) fn run(descriptor: RawFd) -> Result<u8, StageError> {
    // Processes of the command have the same user; none may look into this one.
    set_dumpable_behavior(DumpableBehavior::NotDumpable)
        .map_err(|error| StageError::step("the watching process could not be closed off", error))?;
    checks::process(Some(descriptor))?;
    let (plan, memory) = read_plan::<InitPlan>(descriptor)?;
    // Opened before the mounts are checked, so that no change goes unseen in between.
    let table = File::open("/proc/self/mountinfo")
        .map_err(|source| StageError::step("/proc/self/mountinfo cannot be read", source))?;
    checks::mounts(&plan.mounts)?;
    let listener = plan.egress_port.map(bridge::listen).transpose()?;
    #[expect(clippy::disallowed_methods, reason = "the next stage is started here only")]
    let mut command = Command::new(RUNNER);
    command.args([STAGE, "exec", &descriptor.to_string()]).env_clear();
    let child = command
        .spawn()
        .map_err(|source| StageError::step("the last stage could not be started", source))?;
    drop(memory);
    let threads = |source| StageError::step("no thread could be started", source);
    if let Some(listener) = listener {
        bridge::serve(listener).map_err(threads)?;
    }
    Builder::new().spawn(move || watch(&table, &plan)).map_err(threads)?;
    wait_for(child.id().cast_signed())
}

/// Reaps everything that ends until the command itself has.
fn wait_for(command: i32) -> Result<u8, StageError> {
    loop {
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid.as_raw_pid() == command => {
                let code =
                    status.exit_status().or_else(|| Some(128 + status.terminating_signal()?));
                if let Some(code) = code {
                    return Ok(u8::try_from(code).unwrap_or(u8::MAX));
                }
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(StageError::step("the command was lost", error)),
        }
    }
}

/// Ends everything as soon as a mount is no longer as planned. The host can detach one without
/// knowing: replacing a file from outside takes away what covers it in here.
fn watch(table: &File, plan: &InitPlan) {
    loop {
        let mut changed = [PollFd::new(table, PollFlags::PRI)];
        match poll(&mut changed, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => break,
        }
        if let Err(error) = checks::mounts(&plan.mounts) {
            let message = format!(
                "tillerman sandbox: {error}; something guarded was replaced from outside while the \
                 command ran, so the command was stopped"
            );
            drop(writeln!(std::io::stderr(), "{message}"));
            break;
        }
    }
    #[expect(clippy::exit, reason = "the end of the first process is the end of all inside")]
    std::process::exit(i32::from(REFUSED));
}
