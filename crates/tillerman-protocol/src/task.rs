//! Work that goes on in the background of a session.

use crate::frame::{PermissionDenial, TaskUsage};

/// What kind of work it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskKind {
    /// A shell command.
    LocalBash,
    /// A shell command that is watched until its deadline, and waited for like an agent.
    Watch,
    /// A subagent.
    LocalAgent,
}

impl TaskKind {
    /// The name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::LocalBash | Self::Watch => "local_bash",
            Self::LocalAgent => "local_agent",
        }
    }
}

/// How a task ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskStatus {
    /// It did what it was started for.
    Completed,
    /// It failed.
    Failed,
    /// Somebody stopped it.
    Stopped,
}

impl TaskStatus {
    /// The name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
        }
    }
}

/// How a task ended.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskEnd {
    /// How it ended.
    pub status: TaskStatus,
    /// One line about it, for people and the model.
    pub summary: String,
    /// What came of it beyond that line; commands have their output file instead.
    pub report: Option<Box<TaskReport>>,
}

/// What an agent brings back, or what a command that is watched said last.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TaskReport {
    /// What it said last.
    pub text: String,
    /// What it used.
    pub usage: TaskUsage,
    /// Calls of it that were denied, and of agents below it.
    pub denials: Vec<PermissionDenial>,
}

impl TaskEnd {
    /// An end about which one line says everything.
    pub fn new(status: TaskStatus, summary: impl Into<String>) -> Self {
        Self { status, summary: summary.into(), report: None }
    }
}
