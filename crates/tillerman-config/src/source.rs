//! Where settings come from: the sources by strength and the files they lie in.

use std::fmt;
use std::path::PathBuf;

use tillerman_protocol::permission::UpdateDestination;

#[cfg(target_os = "macos")]
const MANAGED: &str = "/Library/Application Support/ClaudeCode";
#[cfg(not(target_os = "macos"))]
const MANAGED: &str = "/etc/claude-code";

/// Where a layer comes from, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// The user's own file.
    User,
    /// The project's shared file.
    Project,
    /// The project's local file.
    Local,
    /// The command line and the host.
    Flag,
    /// The files of whoever administers the machine.
    Managed,
}

impl Source {
    /// The sources that are read when nobody chooses.
    pub const USUAL: [Self; 3] = [Self::User, Self::Project, Self::Local];

    /// Reads the name that `--setting-sources` uses.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "user" => Some(Self::User),
            "project" => Some(Self::Project),
            "local" => Some(Self::Local),
            _ => None,
        }
    }

    /// The name as hosts read it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Local => "local",
            Self::Flag => "flag",
            Self::Managed => "managed",
        }
    }

    /// Whether it lies in the working copy, where whoever wrote the repository can have written it.
    #[must_use]
    pub const fn is_in_repository(self) -> bool {
        matches!(self, Self::Project | Self::Local)
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Where settings files lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// The user's configuration directory.
    pub config_dir: PathBuf,
    /// The working directory.
    pub cwd: PathBuf,
    /// Directories with `managed-settings.json` and `managed-settings.d`, weakest first.
    pub managed: Vec<PathBuf>,
}

impl Places {
    /// The usual places for a user and a working directory, with those of this platform's
    /// administrators.
    #[must_use]
    pub fn new(config_dir: PathBuf, cwd: PathBuf) -> Self {
        Self { config_dir, cwd, managed: vec![PathBuf::from(MANAGED)] }
    }

    /// Adds a directory of managed settings. It adds to the platform's own and never replaces
    /// them, so that nobody escapes them by naming another.
    #[must_use]
    pub fn also_managed_by(mut self, directory: Option<PathBuf>) -> Self {
        self.managed.extend(directory);
        self
    }

    /// The file that keeps updates for a destination; none for the session's own.
    pub(crate) fn file(&self, destination: UpdateDestination) -> Option<PathBuf> {
        match destination {
            UpdateDestination::UserSettings => self.of(Source::User),
            UpdateDestination::ProjectSettings => self.of(Source::Project),
            UpdateDestination::LocalSettings => self.of(Source::Local),
            UpdateDestination::Session | UpdateDestination::CliArg => None,
        }
    }

    /// The file of a source that has exactly one.
    pub(crate) fn of(&self, source: Source) -> Option<PathBuf> {
        match source {
            Source::User => Some(self.config_dir.join("settings.json")),
            Source::Project => Some(self.cwd.join(".claude/settings.json")),
            Source::Local => Some(self.cwd.join(".claude/settings.local.json")),
            Source::Flag | Source::Managed => None,
        }
    }

    /// All files of the given sources, weakest first; managed ones are always among them.
    pub(crate) fn files(&self, sources: &[Source]) -> Vec<(Source, PathBuf)> {
        let chosen = Source::USUAL.into_iter().filter(|source| sources.contains(source));
        let mut files: Vec<_> =
            chosen.filter_map(|source| Some((source, self.of(source)?))).collect();
        if self.is_at_home() {
            // The project's file would be the user's own, read a second time.
            files.retain(|(source, _)| {
                *source != Source::Project || !sources.contains(&Source::User)
            });
        }
        for directory in &self.managed {
            files.push((Source::Managed, directory.join("managed-settings.json")));
            files.extend(drop_ins(directory).into_iter().map(|path| (Source::Managed, path)));
        }
        files
    }

    /// Whether the project's configuration directory is the user's own.
    pub(crate) fn is_at_home(&self) -> bool {
        let project = self.cwd.join(".claude").canonicalize();
        project.is_ok_and(|project| self.config_dir.canonicalize().is_ok_and(|own| own == project))
    }
}

/// The drop-ins of a managed directory in the order of their names; hidden files are none.
fn drop_ins(directory: &std::path::Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(directory.join("managed-settings.d")) else {
        return Vec::new();
    };
    let is_drop_in = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        !name.starts_with('.') && name.ends_with(".json")
    };
    let mut paths: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(is_drop_in).collect();
    paths.sort();
    paths
}
