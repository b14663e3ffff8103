//! The place of the measurements: contenders, folders, scripted servers.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use serde_json::json;
use tempfile::TempDir;

use crate::bench::session::Session;
use crate::workspace::release_binary;

/// How many tool turns the long run has.
pub(crate) const TOOL_TURNS: u32 = 20;
/// How many tool turns each session of a crowd has.
pub(crate) const CROWD_TURNS: u32 = 10;

const CROWD_FILES: u64 = 65_536;

/// A program under measurement.
#[derive(Clone, Debug)]
pub(crate) struct Contender {
    /// The name in the report.
    pub(crate) name: &'static str,
    /// The executable.
    pub(crate) binary: PathBuf,
}

/// Temporary folders and servers on loopback: one that answers at once, others that ask for tools
/// first. Everything ends with this value.
#[derive(Debug)]
pub(crate) struct Arena {
    folder: TempDir,
    text_server: Server,
    tool_server: Server,
    crowd_server: Server,
}

/// What the scripted model will do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Talk {
    /// Answer with text.
    Text,
    /// Call a tool in [`TOOL_TURNS`] turns, then answer with text.
    Tools,
}

#[derive(Debug)]
struct Server {
    url: String,
    _process: Session,
}

impl Arena {
    /// Makes the folders and starts the servers.
    pub(crate) fn open() -> Result<Self> {
        raise_file_limit();
        let folder = TempDir::new().context("cannot make a temporary folder")?;
        let work = folder.path().join("work");
        std::fs::create_dir(&work)?;
        let small = work.join("small.txt");
        std::fs::write(&small, "one small file\n")?;
        let input = json!({ "file_path": small }).to_string();
        let text_server = Server::start(folder.path(), "text", &["--loop", "0"])?;
        let turns = TOOL_TURNS.to_string();
        let tools = ["--loop", turns.as_str(), "--tool", "Read", "--input", input.as_str()];
        let tool_server = Server::start(folder.path(), "tools", &tools)?;
        let turns = CROWD_TURNS.to_string();
        let tools = ["--loop", turns.as_str(), "--tool", "Read", "--input", input.as_str()];
        let crowd_server = Server::start(folder.path(), "crowd", &tools)?;
        Ok(Self { folder, text_server, tool_server, crowd_server })
    }

    /// The server that answers crowds.
    pub(crate) fn crowd_url(&self) -> &str {
        &self.crowd_server.url
    }

    /// Starts a contender the way the official SDKs do.
    pub(crate) fn spawn(&self, contender: &Contender, talk: Talk) -> Result<Session> {
        let server = match talk {
            Talk::Text => &self.text_server,
            Talk::Tools => &self.tool_server,
        };
        let mut command = self.command(contender)?;
        command
            .args(["--output-format", "stream-json", "--verbose"])
            .args(["--input-format", "stream-json"])
            .args(["--permission-mode", "bypassPermissions"])
            .env("ANTHROPIC_BASE_URL", &server.url);
        Session::start(&mut command, &self.home(contender).join("stderr.txt"))
    }

    /// What a contender says about its version.
    pub(crate) fn version(&self, contender: &Contender) -> Result<String> {
        let mut command = self.command(contender)?;
        let log = self.home(contender).join("stderr.txt");
        Session::start(command.arg("--version"), &log)?.line()
    }

    /// A command in an environment that holds nothing of the caller's.
    fn command(&self, contender: &Contender) -> Result<Command> {
        let home = self.home(contender);
        std::fs::create_dir_all(&home)?;
        let mut command = Command::new(&contender.binary);
        command
            .current_dir(self.folder.path().join("work"))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("CLAUDE_CONFIG_DIR", home.join(".claude"))
            .env("HOME", home)
            .env("ANTHROPIC_API_KEY", "dummy")
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            .env("DISABLE_TELEMETRY", "1")
            .env("DISABLE_AUTOUPDATER", "1")
            .env("IS_SANDBOX", "1");
        Ok(command)
    }

    fn home(&self, contender: &Contender) -> PathBuf {
        self.folder.path().join(contender.name)
    }
}

/// Every session of a crowd has files and a connection, and children inherit the limit.
fn raise_file_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let to = |limit| setrlimit(Resource::Nofile, Rlimit { current: limit, maximum: limit });
    // Only root can go beyond the maximum; where neither works, large crowds fail and say so.
    to(Some(CROWD_FILES)).or_else(|_| to(getrlimit(Resource::Nofile).maximum)).ok();
}

impl Server {
    fn start(folder: &Path, name: &str, arguments: &[&str]) -> Result<Self> {
        let mut command = Command::new(release_binary("scripted-messages"));
        let process =
            Session::start(command.args(arguments), &folder.join(format!("{name}-server.txt")))?;
        let url = process.line().context("the scripted server did not start")?;
        if !url.starts_with("http://127.0.0.1:") {
            bail!("the scripted server printed {url:?} instead of its address");
        }
        Ok(Self { url, _process: process })
    }
}

/// The official CLI: as named, else from the environment, else from one of our caches, where the
/// official Python package has brought it.
pub(crate) fn find_official(named: Option<&Path>) -> Result<Option<PathBuf>> {
    let named = named.map(Path::to_path_buf);
    if let Some(path) = named.or_else(|| Some(std::env::var_os("TILLERMAN_OFFICIAL_CLI")?.into())) {
        if !path.is_file() {
            bail!("there is no official CLI at {}: nothing was run", path.display());
        }
        return Ok(Some(path));
    }
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache"));
    Ok(cache.or_else(home).and_then(|cache| official_in(&cache)))
}

/// Looks through a cache folder: for what conformance has set aside, then for virtual environments.
pub(crate) fn official_in(cache: &Path) -> Option<PathBuf> {
    let folders = entries(cache, "tillerman-");
    let set_aside = folders.iter().flat_map(|path| entries(path, "python-"));
    let set_aside = set_aside.map(|environment| environment.join("official/claude"));
    let libraries = folders.iter().flat_map(|path| entries(&path.join("venv/lib"), "python3"));
    let bundled =
        libraries.map(|library| library.join("site-packages/claude_agent_sdk/_bundled/claude"));
    set_aside.chain(bundled).find(|binary| binary.is_file())
}

/// The entries of a folder whose names begin so, in order.
fn entries(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let matching = |entry: &std::fs::DirEntry| {
        entry.file_name().to_str().is_some_and(|name| name.starts_with(prefix))
    };
    let mut paths: Vec<PathBuf> =
        entries.flatten().filter(matching).map(|entry| entry.path()).collect();
    paths.sort();
    paths
}
