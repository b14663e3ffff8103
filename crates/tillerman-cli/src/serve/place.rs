//! Where a host keeps its data, as whom it runs, and how many files it may open.

use std::path::{Path, PathBuf};

use rustix::process::{Resource, Rlimit, geteuid, getrlimit, setrlimit};
use tillerman_assembly::{Environment, StartFailure};
use tillerman_host::RunAs;

/// As many files as the packaged units allow.
const FILES: u64 = 65_536;

/// Every session and every client of a host takes files, more than a login shell usually allows.
pub(crate) fn raise_file_limit() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let wanted = maximum.map_or(FILES, |maximum| maximum.min(FILES));
    // Without a limit, or with a higher one, there is nothing to do.
    if current.is_some_and(|current| current < wanted) {
        let raised = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum });
        if let Err(error) = raised {
            tracing::warn!("the limit of open files stays at {current:?}: {error}");
        }
    }
}

/// Where conversations and cards are kept: as told, `TILLERMAN_HOME`, or the user's data directory.
pub(crate) fn data_directory(
    told: Option<PathBuf>,
    environment: &Environment,
) -> Result<PathBuf, StartFailure> {
    let from_home = || {
        let data = environment.get("XDG_DATA_HOME").map(PathBuf::from);
        let data = data.filter(|path| path.is_absolute());
        let home = || Some(PathBuf::from(environment.get("HOME")?).join(".local/share"));
        Some(data.or_else(home)?.join("tillerman"))
    };
    let found = told.or_else(|| environment.get("TILLERMAN_HOME").map(PathBuf::from));
    found.or_else(from_home).ok_or_else(|| {
        StartFailure::usage("There is no home directory. Say where to keep data with --data-dir.")
    })
}

/// Refuses to run agents as root.
pub(crate) fn check_user(
    run_as: Option<&str>,
    environment: &Environment,
) -> Result<Option<RunAs>, StartFailure> {
    let is_root = geteuid().is_root();
    match run_as {
        Some(_) if !is_root => {
            Err(StartFailure::usage("Only root can run sessions as another user (--run-as)."))
        }
        Some(name) => find_user(name).map(Some),
        None if is_root && !environment.is_on("IS_SANDBOX") => Err(StartFailure::usage(
            "The host does not run agents as root. Start it as another user, name one for its \
             sessions with --run-as, or set IS_SANDBOX=1 on a machine that you can afford to lose.",
        )),
        None => Ok(None),
    }
}

fn find_user(name: &str) -> Result<RunAs, StartFailure> {
    let unusable = |why: &str| StartFailure::usage(format!("--run-as {name}: {why}."));
    let users = std::fs::read_to_string("/etc/passwd")
        .map_err(|error| unusable(&format!("users cannot be read: {error}")))?;
    let line = users.lines().find(|line| line.split(':').next() == Some(name));
    let fields: Vec<&str> =
        line.ok_or_else(|| unusable("there is no such user"))?.split(':').collect();
    let number = |place: usize| fields.get(place).and_then(|text| text.parse().ok());
    let (Some(uid), Some(gid), Some(home)) = (number(2), number(3), fields.get(5)) else {
        return Err(unusable("the user is not described as it should be"));
    };
    if uid == 0 {
        return Err(unusable("that is root"));
    }
    Ok(RunAs { uid, gid, home: PathBuf::from(home) })
}

/// Where files lie that sessions read once at their start. Another user must reach them.
pub(crate) fn scratch(
    data: &Path,
    environment: &Environment,
    run_as: Option<&RunAs>,
) -> Result<PathBuf, StartFailure> {
    use std::os::unix::fs::DirBuilderExt as _;
    let Some(_) = run_as else { return Ok(data.join("run")) };
    let path = environment.temp_dir().join(format!("tillerman-host-{}", std::process::id()));
    let made = std::fs::DirBuilder::new().mode(0o711).create(&path);
    made.map_err(|error| StartFailure::usage(format!("{}: {error}", path.display())))?;
    Ok(path)
}

/// Opens the page in a browser, if there is one.
#[expect(clippy::disallowed_methods, reason = "a browser is the user's own program")]
pub(crate) fn open_browser(page: &str) {
    use std::process::{Command, Stdio};
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut command = Command::new(program);
    command.arg(page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Err(error) = command.spawn() {
        tracing::warn!("no browser could be opened ({error}); open the address yourself");
    }
}
