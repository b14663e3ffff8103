//! What stored transcripts are called.

use std::path::{Component, Path};

use tillerman_protocol::SessionId;

/// Names one transcript: a session's, or that of one of its subagents.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub struct SessionKey {
    /// The project, as [`project_key`] makes it of a working directory.
    pub project_key: String,
    /// The session.
    pub session_id: SessionId,
    /// The part of the session, such as `subagents/agent-a1b2`; nothing for the session itself.
    pub subpath: Option<String>,
}

impl SessionKey {
    /// The transcript of a session.
    pub fn new(project_key: impl Into<String>, session_id: SessionId) -> Self {
        Self { project_key: project_key.into(), session_id, subpath: None }
    }

    /// A part of the same session.
    #[must_use]
    pub fn part(self, subpath: &str) -> Self {
        Self { subpath: Some(subpath.to_owned()), ..self }
    }

    /// Reads a path of the layout that engines use.
    #[must_use]
    pub fn of_path(path: &Path) -> Option<Self> {
        let path = path.with_extension("");
        let names: Vec<&str> = path
            .components()
            .filter_map(|part| match part {
                Component::Normal(name) => name.to_str(),
                _ => None,
            })
            .collect();
        let projects = names.iter().rposition(|name| *name == "projects")?;
        let [project, session, rest @ ..] = names.get(projects + 1..)? else { return None };
        let key = Self::new(*project, SessionId::new(*session));
        Some(if rest.is_empty() { key } else { key.part(&rest.join("/")) })
    }
}

/// The name of a working directory among projects.
#[must_use]
pub fn project_key(cwd: &Path) -> String {
    let whole = cwd.canonicalize().or_else(|_| std::path::absolute(cwd));
    let whole = whole.unwrap_or_else(|_| cwd.to_owned());
    tillerman_store::project_name(&whole.to_string_lossy())
}
