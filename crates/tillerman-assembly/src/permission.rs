//! What the agent of a session may do: mode, working directories and rules.

use std::path::{Path, PathBuf};

use tillerman_config::Layers;
use tillerman_policy::{Guard, Guarded, Policy, split_rules};
use tillerman_protocol::permission::PermissionMode;

use crate::environment::Environment;
use crate::failure::StartFailure;
use crate::order::SessionOrder;
use crate::owners::MemoryPlaces;
use crate::{confine, rules, settings};

/// The mode a session begins in.
pub(crate) fn permission_mode(
    order: &SessionOrder,
    environment: &Environment,
    layers: &Layers,
) -> Result<PermissionMode, StartFailure> {
    let flags = &order.permission;
    let mode = flags.mode.or_else(|| layers.default_mode()).unwrap_or_default();
    let bypasses = mode == PermissionMode::BypassPermissions || flags.may_bypass;
    if bypasses && layers.forbids_bypass() {
        return Err(StartFailure::usage(
            "The settings forbid to bypass permissions (permissions.disableBypassPermissionsMode), \
             so nothing was started. Choose another permission mode.",
        ));
    }
    if bypasses && rustix::process::geteuid().is_root() && !environment.is_on("IS_SANDBOX") {
        return Err(StartFailure::usage(
            "Permissions cannot be bypassed as root: one wrong command would have the whole machine. \
             Run as another user, or set IS_SANDBOX=1 where the machine itself is the sandbox.",
        ));
    }
    Ok(mode)
}

/// The working directory, then those that the order adds, then those of settings.
pub(crate) fn working_directories(
    order: &SessionOrder,
    layers: &Layers,
    cwd: &Path,
) -> Vec<PathBuf> {
    let mut directories = vec![cwd.to_path_buf()];
    for name in &order.session.directories {
        match cwd.join(name).canonicalize() {
            Ok(path) if path.is_dir() => directories.push(path),
            // Nothing can be done there, so nothing is lost by going on without it.
            _ => tracing::warn!("--add-dir {}: there is no such directory", name.display()),
        }
    }
    directories.extend(settings::directories(layers, cwd));
    directories
}

/// Where agents of the session remember things.
pub(crate) fn memory_places(
    order: &SessionOrder,
    environment: &Environment,
    cwd: &Path,
) -> MemoryPlaces {
    let owner = order.owner.clone().filter(|owner| !owner.is_empty());
    MemoryPlaces { owner, config: environment.config_dir(), cwd: cwd.to_owned() }
}

/// The rules of a session.
pub(crate) fn policy(
    order: &SessionOrder,
    environment: &Environment,
    layers: &Layers,
    directories: Vec<PathBuf>,
) -> Result<Policy, StartFailure> {
    let from_flags =
        |lists: &[String]| lists.iter().flat_map(|list| split_rules(list)).collect::<Vec<_>>();
    let together = |lists: &[String], more: Vec<String>| [from_flags(lists), more].concat();
    let guarded = order.permission.guard.iter();
    let mut deny = rules::restricting(&together(&order.permission.deny, layers.deny()));
    deny.extend(memory_places(order, environment, &directories[0]).fences());
    Ok(Policy {
        allow: rules::allowing(&together(&order.permission.allow, layers.allow())),
        deny,
        ask: rules::restricting(&layers.ask()),
        directories,
        keeps: Vec::new(),
        home: environment.get("HOME").map(PathBuf::from),
        guard: Guard { guarded: guarded.map(|text| Guarded::read(text)).collect() },
        sandbox: confine::settings(layers)?,
    })
}
