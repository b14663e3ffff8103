//! The last stage: builds the inner walls and becomes the command.

use std::os::fd::RawFd;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;

use super::checks;
use super::run::{StageError, close_on_exec, read_plan};
use crate::plan::{ExecPlan, InitPlan};
use crate::walls::{landlock, rlimits, seccomp};

/// Becomes the command; returns only when that was not possible.
pub(crate) fn run(descriptor: RawFd) -> Result<u8, StageError> {
    checks::process(Some(descriptor))?;
    let (plan, memory) = read_plan::<InitPlan>(descriptor)?;
    drop(memory);
    become_command(&plan.exec)
}

/// Becomes the command in a process that has already given up what the host has.
pub(crate) fn become_command(plan: &ExecPlan) -> Result<u8, StageError> {
    close_on_exec(3, u32::MAX)?;
    checks::process(None)?;
    rlimits::apply(plan.limits, plan.seccomp.namespaces)?;
    std::env::set_current_dir(&plan.cwd).map_err(|source| {
        StageError::step(format!("the directory {} cannot be entered", plan.cwd.display()), source)
    })?;
    if let Some(wall) = &plan.landlock {
        landlock::build(wall).map_err(|why| StageError::Wall { wall: "Landlock", why })?;
    }
    #[expect(clippy::disallowed_methods, reason = "this process becomes the command")]
    let mut command = Command::new(&plan.program);
    command
        .args(&plan.arguments)
        .env_clear()
        .envs(plan.environment.iter().map(|(name, value)| (name, value)));
    seccomp::build(plan.seccomp).map_err(|why| StageError::Wall { wall: "seccomp", why })?;
    let source = command.exec();
    Err(StageError::Program { program: PathBuf::from(&plan.program), source })
}
