//! What a transport is told about the session it is to open.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// The session to open, in the terms of the command line that every engine understands.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Launch {
    /// The arguments, without the program.
    pub arguments: Vec<String>,
    /// The working directory; nothing means the present one.
    pub cwd: Option<PathBuf>,
    /// Variables to set on top of the present environment.
    pub environment: BTreeMap<String, String>,
    /// Whether the present environment is left out altogether.
    pub bare_environment: bool,
    /// The program, where the options name one.
    pub program: Option<PathBuf>,
    /// The JavaScript runtime that the program needs, where it is a script.
    pub runtime: Option<Runtime>,
    /// The longest line that is read, in bytes.
    pub max_line_bytes: usize,
    /// How long an engine may take to leave before it is made to.
    pub grace: Duration,
    /// Whether somebody listens to standard error.
    pub wants_stderr: bool,
}

/// A JavaScript runtime for programs that are scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runtime {
    /// Node.js.
    Node,
    /// Bun.
    Bun,
    /// Deno.
    Deno,
}

impl Runtime {
    /// The name of its program.
    #[must_use]
    pub const fn program(self) -> &'static str {
        match self {
            Self::Node => "node",
            Self::Bun => "bun",
            Self::Deno => "deno",
        }
    }
}
