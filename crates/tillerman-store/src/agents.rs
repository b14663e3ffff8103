//! The transcripts of agents, beside the one of the session they belong to.

use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use serde_json::Value;
use tillerman_ports::{AgentFiles, Reopened, Transcript};
use tillerman_protocol::transcript::Entry;

use crate::disk::{self, Disk as _, Lock, Purpose};
use crate::line;
use crate::names::subagents_dir;
use crate::transcript::{FileTranscript, NoTranscript};

/// Keeps the transcripts of agents in the directory that belongs to a session.
#[derive(Clone, Debug)]
pub struct AgentDirectory {
    directory: PathBuf,
}

impl AgentDirectory {
    /// The directory of the session with this transcript. Nothing is created.
    #[must_use]
    pub fn beside(transcript: &Path) -> Self {
        Self { directory: subagents_dir(transcript) }
    }

    fn transcript(&self, agent: &str) -> PathBuf {
        self.directory.join(format!("agent-{agent}.jsonl"))
    }

    fn note(&self, agent: &str) -> PathBuf {
        self.directory.join(format!("agent-{agent}.meta.json"))
    }

    fn keep_note(&self, agent: &str, note: &Value) -> io::Result<()> {
        use std::io::Write as _;
        let mut file = disk::create(&self.note(agent))?;
        file.write_all(note.to_string().as_bytes())
    }
}

impl AgentFiles for AgentDirectory {
    fn begin(&self, agent: &str, note: &Value) -> Box<dyn Transcript> {
        // The transcript tells more, and says so itself when it cannot be written either.
        drop(self.keep_note(agent, note));
        Box::new(FileTranscript::planned(self.transcript(agent)))
    }

    fn reopen(&self, agent: &str) -> Result<Reopened, String> {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if agent.is_empty() || !agent.chars().all(is_name) {
            return Err(format!("{agent} is not the id of an agent"));
        }
        let path = self.transcript(agent);
        let explain = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => format!("there is no agent {agent} in this session"),
            _ => format!("the transcript of the agent {agent} cannot be opened: {error}"),
        };
        let file = disk::open(&path, Purpose::Append).map_err(explain)?;
        if disk::lock(&file).map_err(explain)? == Lock::Busy {
            return Err(format!("the agent {agent} is at work already"));
        }
        let (entries, is_torn) = read(&path).map_err(explain)?;
        if is_torn {
            file.append(b"\n").map_err(explain)?;
        }
        let note = std::fs::read(self.note(agent)).ok();
        let note = note.and_then(|note| serde_json::from_slice(&note).ok()).unwrap_or_default();
        let transcript = Box::new(FileTranscript::opened(path, file));
        Ok(Reopened { transcript, entries, note })
    }
}

/// Every line that can be read, for an agent has one chain, and whether the last one is torn.
fn read(path: &Path) -> io::Result<(Vec<Entry>, bool)> {
    let mut reader = BufReader::new(disk::open(path, Purpose::Read)?);
    let mut entries = Vec::new();
    let mut text = Vec::new();
    let mut is_torn = false;
    while reader.read_until(b'\n', &mut text)? > 0 {
        is_torn = !text.ends_with(b"\n");
        if let Ok(mut entry) = serde_json::from_slice(text.trim_ascii_end()) {
            line::drop_own_fields(&mut entry);
            entries.push(entry);
        }
        text.clear();
    }
    Ok((entries, is_torn))
}

/// Keeps nothing, for sessions that are not to be stored.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoAgentFiles;

impl AgentFiles for NoAgentFiles {
    fn begin(&self, _: &str, _: &Value) -> Box<dyn Transcript> {
        Box::new(NoTranscript)
    }

    fn reopen(&self, agent: &str) -> Result<Reopened, String> {
        Err(format!("the agent {agent} has ended and this session keeps no transcripts"))
    }
}
