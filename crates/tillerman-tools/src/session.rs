//! What the tools of one session share: files they have seen, the shell's directory, tasks.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tillerman_ports::Tool;

use crate::ask::AskUserQuestion;
use crate::bash::{Bash, Monitor};
use crate::config::{Audience, ToolConfig};
use crate::edit::{Edit, MultiEdit};
use crate::files::Fingerprint;
use crate::notebook::NotebookEdit;
use crate::plan::{EnterPlanMode, ExitPlanMode};
use crate::read::Read;
use crate::search::{Glob, Grep};
use crate::tasks::{TaskOutput, TaskStop, Tasks};
use crate::todo::TodoWrite;
use crate::web::{WebFetch, WebSearch};
use crate::write::Write;

/// How many files are remembered; beyond that the one seen longest ago is forgotten.
const REMEMBERED_FILES: usize = 10_000;

/// Makes the built-in tools of one session, in an order that does not change.
///
/// `WebSearch` needs a place to search and `AskUserQuestion` somebody to answer; all others are
/// always there.
#[must_use]
pub fn session_tools(config: ToolConfig) -> Vec<Arc<dyn Tool>> {
    let session = Arc::new(Session::new(config));
    let shared = || Arc::clone(&session);
    let config = session.config();
    let mut tools: Vec<Arc<dyn Tool>> = vec![
        Arc::new(Read::new(shared())),
        Arc::new(Write::new(shared())),
        Arc::new(Edit::new(shared())),
        Arc::new(MultiEdit::new(shared())),
        Arc::new(NotebookEdit::new(shared())),
        Arc::new(Glob::new(shared())),
        Arc::new(Grep::new(shared())),
        Arc::new(Bash::new(shared())),
        Arc::new(TaskOutput::new(shared())),
        Arc::new(TaskStop::new(shared())),
        Arc::new(Monitor::new(shared())),
        Arc::new(TodoWrite::default()),
        Arc::new(WebFetch::new(&config.web)),
    ];
    if let Some(source) = &config.web.search {
        tools.push(Arc::new(WebSearch::new(source.clone())));
    }
    if config.audience == Audience::Present {
        tools.push(Arc::new(AskUserQuestion));
    }
    tools.push(Arc::new(EnterPlanMode));
    tools.push(Arc::new(ExitPlanMode));
    tools
}

/// The shared part of a session's tools.
#[derive(Debug)]
pub(crate) struct Session {
    config: ToolConfig,
    memory: Mutex<Memory>,
    tasks: Tasks,
}

#[derive(Debug)]
struct Memory {
    seen: HashMap<PathBuf, Seen>,
    sightings: u64,
    shell_directory: PathBuf,
}

#[derive(Debug)]
struct Seen {
    fingerprint: Fingerprint,
    sighting: u64,
}

impl Session {
    fn new(config: ToolConfig) -> Self {
        let shell_directory = config.cwd.clone();
        let memory = Memory { seen: HashMap::new(), sightings: 0, shell_directory };
        Self { config, memory: Mutex::new(memory), tasks: Tasks::default() }
    }

    pub(crate) fn config(&self) -> &ToolConfig {
        &self.config
    }

    /// What the session has left running.
    pub(crate) fn tasks(&self) -> &Tasks {
        &self.tasks
    }

    /// Remembers what a file, named without links, held when the model last saw or wrote it.
    pub(crate) fn remember(&self, path: PathBuf, fingerprint: Fingerprint) {
        let mut memory = self.memory();
        memory.sightings += 1;
        let sighting = memory.sightings;
        memory.seen.insert(path, Seen { fingerprint, sighting });
        if memory.seen.len() > REMEMBERED_FILES {
            let oldest = memory.seen.iter().min_by_key(|(_, seen)| seen.sighting);
            if let Some(path) = oldest.map(|(path, _)| path.clone()) {
                memory.seen.remove(&path);
            }
        }
    }

    /// What a file, named without links, held when the model last saw or wrote it.
    pub(crate) fn last_seen(&self, path: &Path) -> Option<Fingerprint> {
        self.memory().seen.get(path).map(|seen| seen.fingerprint)
    }

    /// Where the next command starts.
    pub(crate) fn shell_directory(&self) -> PathBuf {
        self.memory().shell_directory.clone()
    }

    pub(crate) fn set_shell_directory(&self, directory: PathBuf) {
        self.memory().shell_directory = directory;
    }

    /// Whether a directory, named without links, lies inside the working directories.
    pub(crate) fn may_stay_in(&self, directory: &Path) -> bool {
        let roots = std::iter::once(&self.config.cwd).chain(&self.config.working_directories);
        roots.filter_map(|root| root.canonicalize().ok()).any(|root| directory.starts_with(root))
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
