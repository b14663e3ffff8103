//! The first stage: gives up what the host has before anything else is started.

use std::fs::File;
use std::io::{Seek as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::fs::{FsWord, Gid, MemfdFlags, Uid, memfd_create};

use super::exec;
use super::run::{StageError, close_on_exec};
use super::staging;
use crate::confinement::SandboxUser;
use crate::layout::RUNNER;
use crate::plan::{NamespacedPlan, StartPlan};
use crate::sandbox::STAGE;

/// Goes on to the next stage; returns only when that was not possible.
pub(crate) fn run(plan: &Path) -> Result<u8, StageError> {
    let text = std::fs::read(plan).map_err(StageError::Plan)?;
    // The plan holds the command's environment; it is needed no longer.
    std::fs::remove_file(plan).map_err(StageError::Plan)?;
    let plan: StartPlan =
        serde_json::from_slice(&text).map_err(|error| StageError::Plan(error.into()))?;
    match plan {
        StartPlan::Namespaced(plan) => namespaced(&plan),
        StartPlan::Walled(plan) => {
            join(&plan.groups)?;
            give_up_privileges()?;
            close_on_exec(3, u32::MAX)?;
            exec::become_command(&plan.exec)
        }
    }
}

fn namespaced(plan: &NamespacedPlan) -> Result<u8, StageError> {
    join(&plan.groups)?;
    if let Some(user) = plan.user {
        staging::open(&plan.staged, user)?;
        hand_over_pipes(user)?;
    }
    let memory = memfd_create("plan", MemfdFlags::empty())
        .map_err(|error| StageError::step("the plan could not be passed on", error))?;
    let mut memory = File::from(memory);
    let text = serde_json::to_vec(&plan.init).map_err(|error| StageError::Plan(error.into()))?;
    memory.write_all(&text).and_then(|()| memory.rewind()).map_err(StageError::Plan)?;
    let descriptor = memory.as_raw_fd().cast_unsigned();
    close_on_exec(3, descriptor - 1)?;
    close_on_exec(descriptor + 1, u32::MAX)?;
    give_up_privileges()?;
    let Some((bubblewrap, arguments)) = plan.bubblewrap.split_first() else {
        return Err(StageError::Arguments);
    };
    #[expect(clippy::disallowed_methods, reason = "this process becomes bubblewrap")]
    let mut command = Command::new(bubblewrap);
    command.args(arguments).arg(RUNNER).args([STAGE, "init", &descriptor.to_string()]);
    command.env_clear().current_dir("/");
    if let Some(user) = plan.user {
        // The real, effective and saved user all change, and all groups go.
        command.uid(user.uid).gid(user.gid);
    }
    let source = command.exec();
    Err(StageError::step(format!("{} could not be started", bubblewrap.display()), source))
}

/// Makes pipes on the standard streams the command's own, so that it can open `/dev/stdout`.
fn hand_over_pipes(user: SandboxUser) -> Result<(), StageError> {
    const PIPES: FsWord = 0x5049_5045;
    let (uid, gid) = (Uid::from_raw(user.uid), Gid::from_raw(user.gid));
    for stream in [rustix::stdio::stdin(), rustix::stdio::stdout(), rustix::stdio::stderr()] {
        // A pipe with a name lies on somebody's disk and stays theirs.
        let nameless = rustix::fs::fstatfs(stream).is_ok_and(|fs| fs.f_type == PIPES);
        if nameless {
            rustix::fs::fchown(stream, Some(uid), Some(gid))
                .map_err(|error| StageError::step("a pipe could not be handed over", error))?;
        }
    }
    Ok(())
}

fn join(groups: &[PathBuf]) -> Result<(), StageError> {
    for group in groups {
        std::fs::write(group, "0").map_err(|source| {
            StageError::step(format!("the limits in {} do not apply", group.display()), source)
        })?;
    }
    Ok(())
}

fn give_up_privileges() -> Result<(), StageError> {
    rustix::thread::set_no_new_privs(true)
        .map_err(|error| StageError::step("new privileges could not be given up", error))
}
