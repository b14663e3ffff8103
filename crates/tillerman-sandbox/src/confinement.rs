//! What a confined command may do: the one description every backend works from.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tillerman_protocol::sandbox::SandboxSettings;

use crate::egress::LentCredential;

/// What a confined command may do. Everything that is not granted here is refused.
#[derive(Clone, Debug, Default)]
pub struct Confinement {
    /// Directories that may be written, such as the working directories. They must exist.
    pub writable: Vec<PathBuf>,
    /// Directories that are shown read-only although something above them is hidden, such as
    /// toolchains in the home directory. Missing ones are left out.
    pub readable: Vec<PathBuf>,
    /// Files and directories that cannot be read, such as keys.
    pub hidden: Vec<PathBuf>,
    /// Files and directories that cannot be written, created, moved or replaced.
    pub guarded: Vec<Guard>,
    /// The user's home, which the command sees as an empty throwaway directory.
    pub home: Option<PathBuf>,
    /// What the network is to the command.
    pub network: NetworkPolicy,
    /// Which Unix sockets it may use.
    pub unix_sockets: UnixSockets,
    /// Whether it may listen on local ports where it has no loopback of its own, as on macOS.
    pub local_binding: LocalBinding,
    /// How much of the machine it may use.
    pub limits: Limits,
    /// Its whole environment; nothing is inherited.
    pub environment: BTreeMap<OsString, OsString>,
    /// Who runs it when the host is root; by default a user that owns nothing.
    pub user: Option<SandboxUser>,
    /// Credentials that the egress proxy lends.
    pub credentials: Vec<LentCredential>,
}

/// A path that must stay as it is, or stay missing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Guard {
    /// The absolute path.
    pub path: PathBuf,
    /// What it is taken for as long as it does not exist.
    pub kind: GuardKind,
}

/// What a guarded path is taken for as long as it does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum GuardKind {
    /// A file.
    File,
    /// A directory.
    Directory,
}

impl Guard {
    /// Guards a file.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), kind: GuardKind::File }
    }

    /// Guards a directory and everything below it.
    pub fn directory(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), kind: GuardKind::Directory }
    }
}

/// What the network is to a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum NetworkPolicy {
    /// There is none but a loopback of its own.
    #[default]
    None,
    /// Only what the egress proxy lets through.
    Proxied(ProxyRules),
}

/// What the egress proxy lets through.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProxyRules {
    /// Domains that may be reached: `example.com`, `*.example.com`, `*`, with or without `:port`.
    pub allowed: Vec<String>,
    /// Domains that may not, whatever is allowed.
    pub denied: Vec<String>,
    /// Whether names may lead to addresses of this machine and its networks.
    pub private_addresses: PrivateAddresses,
    /// Who carries the traffic.
    pub upstream: Upstream,
}

/// Whether names may lead to addresses of this machine and its networks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PrivateAddresses {
    /// Only when the rule is the address itself.
    #[default]
    Refused,
    /// Also when a name leads there.
    Allowed,
}

/// Who carries the traffic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Upstream {
    /// The built-in proxy, which enforces the rules.
    #[default]
    BuiltIn,
    /// Proxies of the user's own on this machine, which enforce rules of their own.
    Own {
        /// The port of the HTTP proxy.
        http: Option<u16>,
        /// The port of the SOCKS proxy.
        socks: Option<u16>,
    },
}

/// Which Unix sockets a command may use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum UnixSockets {
    /// None; not even creating one.
    #[default]
    None,
    /// Its own and these.
    Only(Vec<PathBuf>),
    /// Every one it can see.
    All,
}

/// Whether a command may listen on local ports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LocalBinding {
    /// It may not.
    #[default]
    Denied,
    /// It may.
    Allowed,
}

/// How much of the machine a command may use, with everything it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Bytes of memory.
    pub memory: Option<u64>,
    /// Processes and threads.
    pub processes: Option<u32>,
}

impl Default for Limits {
    /// Builds may take all memory there is, but a fork bomb ends early.
    fn default() -> Self {
        Self { memory: None, processes: Some(1024) }
    }
}

/// A user that owns nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxUser {
    /// The user's number.
    pub uid: u32,
    /// The group's number.
    pub gid: u32,
}

impl Default for SandboxUser {
    /// Numbers that neither distributions nor systemd give away. They depend on this process, so
    /// that two hosts do not share one user's limits.
    fn default() -> Self {
        const FIRST: u32 = 60_578;
        const COUNT: u32 = 600;
        let id = FIRST + std::process::id() % COUNT;
        Self { uid: id, gid: id }
    }
}

/// Where a session is at home, for [`Confinement::of_session`].
#[derive(Clone, Debug, Default)]
pub struct SessionPlaces {
    /// The working directories; relative settings count from the first.
    pub directories: Vec<PathBuf>,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// What the host guards besides the usual files.
    pub guarded: Vec<Guard>,
    /// The environment for commands, already filtered.
    pub environment: BTreeMap<OsString, OsString>,
    /// Credentials that are lent to commands.
    pub credentials: Vec<LentCredential>,
}

impl Confinement {
    /// The confinement that settings ask for in a session.
    #[must_use]
    pub fn of_session(settings: &SandboxSettings, places: SessionPlaces) -> Self {
        let SessionPlaces { directories, home, guarded, environment, credentials } = places;
        let cwd = directories.first().cloned().unwrap_or_else(|| PathBuf::from("/"));
        let resolve = |paths: &[String]| -> Vec<PathBuf> {
            paths.iter().map(|path| absolute(path, &cwd, home.as_deref())).collect()
        };
        let files = &settings.filesystem;
        let mut writable = directories.clone();
        writable.extend(resolve(&files.allow_write));
        let mut guards = guarded;
        guards.extend(writable.iter().flat_map(|root| usual_guards(root)));
        guards.extend(resolve(&files.deny_write).into_iter().map(Guard::file));
        let mut hidden = resolve(&files.deny_read);
        let mut readable = resolve(&files.allow_read);
        if let Some(home) = &home {
            hidden.extend(SECRETS.iter().map(|name| home.join(name)));
            readable.extend(TOOLCHAINS.iter().map(|name| home.join(name)));
        }
        let network = &settings.network;
        let unix_sockets = if network.allow_all_unix_sockets == Some(true) {
            UnixSockets::All
        } else if network.allow_unix_sockets.is_empty() {
            UnixSockets::None
        } else {
            UnixSockets::Only(resolve(&network.allow_unix_sockets))
        };
        Self {
            writable,
            readable,
            hidden,
            guarded: guards,
            home,
            network: network_policy(settings),
            unix_sockets,
            local_binding: match network.allow_local_binding {
                Some(true) => LocalBinding::Allowed,
                Some(false) | None => LocalBinding::Denied,
            },
            limits: Limits::default(),
            environment,
            user: None,
            credentials,
        }
    }
}

/// What decides how the next session or the next command of this user behaves.
fn usual_guards(root: &Path) -> Vec<Guard> {
    const FILES: [&str; 6] =
        [".mcp.json", ".git/config", ".bashrc", ".zshrc", ".profile", ".gitconfig"];
    const DIRECTORIES: [&str; 2] = [".claude", ".git/hooks"];
    // A `.git` that does not exist may be made by `git init`; its parts are guarded once it does.
    let applies = |name: &&str| !name.starts_with(".git/") || root.join(".git").is_dir();
    let files = FILES.iter().filter(|name| applies(name)).map(|name| Guard::file(root.join(name)));
    let directories = DIRECTORIES
        .iter()
        .filter(|name| applies(name))
        .map(|name| Guard::directory(root.join(name)));
    // In a worktree `.git` is a file that says where the repository is.
    let pointer = root.join(".git").is_file().then(|| Guard::file(root.join(".git")));
    // Dot files of shells matter only where a shell looks for them.
    files
        .filter(|guard| is_project_file(guard) || guard.path.exists())
        .chain(directories)
        .chain(pointer)
        .collect()
}

fn is_project_file(guard: &Guard) -> bool {
    guard.path.ends_with(".mcp.json") || guard.path.ends_with(".git/config")
}

/// What nobody wants a command to read, relative to the home directory.
const SECRETS: [&str; 20] = [
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".config/gcloud",
    ".config/gh",
    ".kube",
    ".docker",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".git-credentials",
    ".config/git/credentials",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".claude",
    ".claude.json",
    ".password-store",
    ".local/share/keyrings",
];

/// Where programs are installed below the home directory.
const TOOLCHAINS: [&str; 14] = [
    ".cargo",
    ".rustup",
    ".pyenv",
    ".nvm",
    ".volta",
    ".bun",
    ".deno",
    ".sdkman",
    ".rbenv",
    ".local/bin",
    ".local/lib",
    ".local/share/uv",
    "go",
    ".gitconfig",
];

fn network_policy(settings: &SandboxSettings) -> NetworkPolicy {
    let network = &settings.network;
    let own = network.http_proxy_port.is_some() || network.socks_proxy_port.is_some();
    if network.allowed_domains.is_empty() && !own {
        return NetworkPolicy::None;
    }
    NetworkPolicy::Proxied(ProxyRules {
        allowed: network.allowed_domains.clone(),
        denied: network.denied_domains.clone(),
        private_addresses: PrivateAddresses::Refused,
        upstream: if own {
            Upstream::Own { http: network.http_proxy_port, socks: network.socks_proxy_port }
        } else {
            Upstream::BuiltIn
        },
    })
}

fn absolute(path: &str, cwd: &Path, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        // Settings write `//etc` for the root of the disk.
        _ => cwd.join(path.strip_prefix('/').filter(|rest| rest.starts_with('/')).unwrap_or(path)),
    }
}
