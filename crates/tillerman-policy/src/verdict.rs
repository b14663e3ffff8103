//! What is decided about a call, and why.

use tillerman_protocol::permission::PermissionUpdate;

/// What is to happen with a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// It may run.
    Allow,
    /// It must not run.
    Deny {
        /// Why, for the model.
        message: String,
        /// What kind of thing decided: `safetyCheck`, `rule` or `mode`.
        by: &'static str,
    },
    /// Somebody has to decide.
    Ask {
        /// Why it is a question.
        reason: String,
        /// The path that made it a question.
        blocked_path: Option<String>,
        /// Updates that would make the question unnecessary.
        suggestions: Vec<PermissionUpdate>,
    },
}

impl Verdict {
    /// `allow`, `ask` or `deny`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny { .. } => "deny",
            Self::Ask { .. } => "ask",
        }
    }
}

/// A verdict with everything that led to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Ruling {
    /// What is to happen.
    pub verdict: Verdict,
    /// The rule or step that decided, in a sentence.
    pub reason: String,
    /// How each part of a shell command was judged.
    pub parts: Vec<Part>,
    /// Variables that the command must be run with for the verdict to hold.
    pub run_with: Vec<(String, String)>,
    /// Where the command runs, in a session that confines its commands.
    pub runs: Runs,
}

/// Where a command runs, in a session that confines its commands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Runs {
    /// Inside the sandbox.
    #[default]
    Confined,
    /// Outside: it is excluded, or it asked to be and gets no approval for being confined.
    Free,
}

/// How a part of a shell command was judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The part as it is written.
    pub text: String,
    /// What it alone would get: `allow`, `ask` or `deny`.
    pub verdict: &'static str,
    /// Why.
    pub reason: String,
    /// The files it would write, as far as that can be told.
    pub writes: Vec<Written>,
}

/// A file that a command would write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The file; as it is written in the command where it cannot be told.
    pub path: String,
    /// Guarded files that it may be under another name, when nobody looked.
    pub may_be: Vec<String>,
}

/// What was said about a call before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Before {
    /// Nothing.
    Nothing,
    /// A hook would allow it.
    HookAllowed,
    /// A hook wants a question.
    HookAsked,
    /// Somebody approved it.
    Approved,
}
