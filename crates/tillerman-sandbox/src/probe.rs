//! Finding out what this machine can enforce, by trying it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::bubblewrap::Version;
use crate::capabilities::{Backend, Capabilities};
use crate::confinement::Limits;
use crate::groups::ControlGroups;

/// Where programs of the system are. Never the working directory, and never a path from outside.
const DIRECTORIES: [&str; 4] = ["/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin"];

/// Bubblewrap as it is installed.
#[derive(Clone, Debug)]
pub(crate) struct Installed {
    /// The program.
    pub(crate) program: PathBuf,
    /// Its version.
    pub(crate) version: Version,
    /// The version as it says it.
    pub(crate) name: String,
}

/// Looks for bubblewrap.
pub(crate) fn bubblewrap() -> Result<Installed, String> {
    let candidates = DIRECTORIES.iter().map(|directory| Path::new(directory).join("bwrap"));
    let Some(program) = candidates.into_iter().find(|path| path.is_file()) else {
        return Err("bubblewrap is not installed".to_owned());
    };
    #[expect(clippy::disallowed_methods, reason = "a program of the system, with no environment")]
    let output = Command::new(&program)
        .arg("--version")
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{} does not start: {error}", program.display()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let version = Version::parse(&text)
        .ok_or_else(|| format!("{} does not tell its version", program.display()))?;
    if version < Version::OLDEST {
        return Err(format!("{} is too old; version 0.4 or newer is needed", text.trim()));
    }
    let name = text.trim().rsplit(' ').next().unwrap_or_default().to_owned();
    Ok(Installed { program, version, name })
}

/// What this machine can enforce, given whether a command could be run with bubblewrap.
pub(crate) fn capabilities(bubblewrap: Result<String, String>) -> Capabilities {
    let landlock = landlock_version();
    let seccomp = Path::new("/proc/sys/kernel/seccomp/actions_avail").exists();
    let root = rustix::process::geteuid().is_root();
    let backend = match bubblewrap {
        Ok(version) => Backend::Bubblewrap { version },
        Err(reason) if !root && landlock >= OLDEST_ALONE && seccomp => Backend::Walls { reason },
        Err(reason) if root => Backend::None {
            reason: format!("{reason}, and the host is root, for which Landlock alone is too weak"),
        },
        Err(reason) => Backend::None {
            reason: format!("{reason}, and the kernel's Landlock (version {landlock}) is too old"),
        },
    };
    let probe = Limits { memory: Some(1 << 30), processes: Some(64) };
    let groups = ControlGroups::make(probe).enforced;
    Capabilities { backend, landlock, seccomp, groups, root }
}

/// The first version of Landlock that also keeps signals in; without namespaces nothing else does.
const OLDEST_ALONE: u8 = 6;

fn landlock_version() -> u8 {
    const VERSION: libc::c_uint = 1;
    #[expect(unsafe_code, reason = "asking for the version has no safe interface")]
    // SAFETY: with this flag the kernel reads no memory and makes nothing.
    let version = unsafe {
        libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0_usize, VERSION)
    };
    u8::try_from(version).unwrap_or(0)
}
