//! A confined command: what to start, and what must be held until it has ended.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use crate::allowlist;
use crate::bubblewrap;
use crate::confinement::{SandboxUser, UnixSockets};
use crate::egress::Violation;
use crate::groups::ControlGroups;
use crate::layout::{Access, Fixtures, Layout, LayoutError, Mount, TEMP};
use crate::placeholder::{Placeholder, PlaceholderError};
use crate::plan::{
    ExecPlan, InitPlan, LandlockPlan, NamespacedPlan, Namespaces, SeccompPlan, Sockets, Staged,
    StartPlan, WalledPlan,
};
use crate::probe::Installed;
use crate::sandbox::{Prepared, STAGE};
use crate::watch::GuardWatch;

/// The port of the command's own loopback that leads to the egress proxy.
const EGRESS_PORT: u16 = 17_391;

/// What to start, and what must be held until it has ended.
///
/// Start `program` with exactly these arguments and this environment, from a thread that lives as
/// long as the command: the kernel ends the command together with that thread. Killing the process
/// ends everything the command has started. Exit code [`REFUSED`](crate::REFUSED) means that the
/// confinement failed; standard error says how.
#[derive(Debug)]
pub struct ConfinedCommand {
    /// The program to start.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Its whole environment; clear what would be inherited.
    pub environment: BTreeMap<OsString, OsString>,
    hold: Hold,
}

/// Why a command cannot be confined as the disk is now. It was not run.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// The disk does not allow it.
    #[error("the command was not run, because it could not be confined")]
    Layout(#[from] LayoutError),
    /// A missing guarded path could not be covered.
    #[error("the command was not run, because it could not be confined")]
    Placeholder(#[from] PlaceholderError),
    /// The plan could not be written.
    #[error("the command was not run, because its plan could not be written")]
    Plan(#[source] io::Error),
    /// A tree could not be looked at.
    #[error("the command was not run, because {} could not be looked at", path.display())]
    Unreachable {
        /// The tree.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// What goes away after the command.
#[derive(Debug, Default)]
struct Hold {
    watch: GuardWatch,
    placeholders: Vec<Placeholder>,
    groups: ControlGroups,
    plan: Option<PathBuf>,
    stage: Option<PathBuf>,
}

impl ConfinedCommand {
    /// Takes away what was held for the command, and tells which guarded paths are not as they were.
    /// Call it when the process has ended.
    #[must_use]
    pub fn finish(self) -> Vec<Violation> {
        let mut violations = self.hold.watch.compare();
        let tampered = self.hold.placeholders.iter().filter(|it| !it.is_untouched());
        violations.extend(tampered.map(|it| GuardWatch::violation(it.path())));
        violations
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        if let Some(plan) = &self.plan {
            // The first stage has removed it, unless it never ran.
            drop(std::fs::remove_file(plan));
        }
        if let Some(stage) = &self.stage {
            remove_stage(stage);
        }
    }
}

/// Removes the mount points of a stage. Never what could be mounted there: an entry that is not
/// empty stays.
fn remove_stage(stage: &Path) {
    for entry in std::fs::read_dir(stage).into_iter().flatten().flatten() {
        let path = entry.path();
        if std::fs::remove_dir(&path).is_err() && entry.metadata().is_ok_and(|it| it.len() == 0) {
            drop(std::fs::remove_file(&path));
        }
    }
    drop(std::fs::remove_dir(stage));
}

/// Puts a command together.
pub(crate) fn assemble(
    prepared: &Prepared,
    program: &OsStr,
    arguments: &[OsString],
    cwd: &Path,
    further: &[(OsString, OsString)],
) -> Result<ConfinedCommand, CommandError> {
    let limits = prepared.confinement.limits;
    let mut variables = environment(prepared);
    variables.extend(further.iter().cloned());
    if let Some(proxy) = &prepared.proxy {
        // Last, so that no variable of the session is left in the place of what stands for it.
        proxy.lend(&mut variables);
    }
    let groups = ControlGroups::make(limits);
    let exec = ExecPlan {
        landlock: None,
        seccomp: seccomp(prepared),
        limits: groups.remaining(limits),
        program: program.to_owned(),
        arguments: arguments.to_vec(),
        environment: variables.into_iter().collect(),
        cwd: cwd.canonicalize().unwrap_or_else(|_| cwd.to_path_buf()),
    };
    let mut hold = Hold::default();
    hold.groups = groups;
    let plan = match &prepared.bubblewrap {
        Some(installed) => StartPlan::Namespaced(namespaced(prepared, installed, exec, &mut hold)?),
        None => StartPlan::Walled(walled(prepared, exec, &hold)),
    };
    let path = prepared.private.fresh("plan");
    write_plan(&path, &plan).map_err(CommandError::Plan)?;
    hold.plan = Some(path.clone());
    Ok(ConfinedCommand {
        program: prepared.runner.clone(),
        arguments: vec![STAGE.into(), "start".into(), path.into()],
        environment: BTreeMap::new(),
        hold,
    })
}

fn namespaced(
    prepared: &Prepared,
    installed: &Installed,
    mut exec: ExecPlan,
    hold: &mut Hold,
) -> Result<NamespacedPlan, CommandError> {
    let fixtures = Fixtures {
        temp: prepared.private.temp().to_path_buf(),
        runner: resolved(&prepared.runner)?,
        egress: prepared.proxy.as_ref().map(|proxy| proxy.socket().to_path_buf()),
        accounts: prepared.accounts.clone(),
        user: prepared.user,
    };
    let layout = Layout::plan(&prepared.confinement, &fixtures)?;
    for guard in &layout.placeholders {
        hold.placeholders.push(Placeholder::make(guard)?);
    }
    hold.watch = GuardWatch::begin(&layout);
    let staged = match prepared.user {
        Some(user) => stage(prepared, &layout, user, hold)?,
        None => Vec::new(),
    };
    exec.landlock = (prepared.capabilities.landlock > 0)
        .then(|| wall_around(&layout, prepared.capabilities.landlock));
    let (program, version) = (&installed.program, installed.version);
    Ok(NamespacedPlan {
        user: prepared.user,
        groups: hold.groups.entrances(),
        bubblewrap: bubblewrap::command_line(program, version, &layout, &staged),
        staged,
        init: InitPlan {
            mounts: layout.mounts.iter().map(|(at, mount)| (at.clone(), access(mount))).collect(),
            egress_port: fixtures.egress.map(|_| EGRESS_PORT),
            exec,
        },
    })
}

fn walled(prepared: &Prepared, mut exec: ExecPlan, hold: &Hold) -> WalledPlan {
    let confinement = &prepared.confinement;
    let temp = prepared.private.temp().to_path_buf();
    exec.landlock = Some(LandlockPlan {
        abi: prepared.capabilities.landlock,
        readable: allowlist::readable(confinement),
        writable: allowlist::writable(confinement, temp),
    });
    WalledPlan { groups: hold.groups.entrances(), exec }
}

/// The runner without links, as it is mounted inside.
fn resolved(runner: &Path) -> Result<PathBuf, CommandError> {
    let unreachable = |source| CommandError::Unreachable { path: runner.to_path_buf(), source };
    runner.canonicalize().map_err(unreachable)
}

fn access(mount: &Mount) -> Access {
    match mount {
        Mount::Bind { access, .. } | Mount::Empty(access) => *access,
        Mount::Blocked => Access::ReadOnly,
    }
}

fn wall_around(layout: &Layout, abi: u8) -> LandlockPlan {
    let writable = layout.mounts.iter().filter(|(_, mount)| access(mount) == Access::Writable);
    let mut writable: Vec<PathBuf> = writable.map(|(at, _)| at.clone()).collect();
    writable.extend(["/dev", "/proc"].map(PathBuf::from));
    LandlockPlan { abi, readable: vec![PathBuf::from("/")], writable }
}

/// Makes mount points for the trees that root opens to the command's user.
fn stage(
    prepared: &Prepared,
    layout: &Layout,
    user: SandboxUser,
    hold: &mut Hold,
) -> Result<Vec<Staged>, CommandError> {
    let directory = prepared.private.fresh("stage");
    let make = |path: &Path| std::fs::DirBuilder::new().mode(0o711).create(path);
    make(&directory).map_err(CommandError::Plan)?;
    hold.stage = Some(directory.clone());
    let mut staged = Vec::new();
    for (source, at, access) in bubblewrap::stage(layout, &directory) {
        let metadata = std::fs::metadata(&source)
            .map_err(|error| CommandError::Unreachable { path: source.clone(), source: error })?;
        let made = if metadata.is_dir() { make(&at) } else { std::fs::write(&at, "") };
        made.map_err(CommandError::Plan)?;
        let owner = SandboxUser { uid: metadata.uid(), gid: metadata.gid() };
        let lends = access == Access::Writable && owner != user;
        staged.push(Staged { source, at, owner: lends.then_some(owner) });
    }
    Ok(staged)
}

fn seccomp(prepared: &Prepared) -> SeccompPlan {
    if prepared.bubblewrap.is_none() {
        return SeccompPlan { sockets: Sockets::None, namespaces: Namespaces::Shared };
    }
    let sockets = match prepared.confinement.unix_sockets {
        UnixSockets::None => Sockets::Internet,
        UnixSockets::Only(_) | UnixSockets::All => Sockets::InternetAndUnix,
    };
    SeccompPlan { sockets, namespaces: Namespaces::Own }
}

fn environment(prepared: &Prepared) -> BTreeMap<OsString, OsString> {
    let mut environment = prepared.confinement.environment.clone();
    let mut set = |name: &str, value: &OsStr| {
        environment.insert(name.into(), value.to_owned());
    };
    let temp =
        if prepared.bubblewrap.is_some() { Path::new(TEMP) } else { prepared.private.temp() };
    set("TMPDIR", temp.as_os_str());
    if prepared.proxy.is_some() {
        let http = format!("http://127.0.0.1:{EGRESS_PORT}");
        let socks = format!("socks5h://127.0.0.1:{EGRESS_PORT}");
        for name in ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"] {
            set(name, http.as_ref());
        }
        for name in ["ALL_PROXY", "all_proxy"] {
            set(name, socks.as_ref());
        }
        for name in ["NO_PROXY", "no_proxy"] {
            set(name, "localhost,127.0.0.1,::1".as_ref());
        }
    }
    environment
}

/// Writes the plan where only this user can read it: the command's environment is in it.
fn write_plan(path: &Path, plan: &StartPlan) -> io::Result<()> {
    let text = serde_json::to_vec(plan)?;
    let mut file =
        std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(&text)
}
