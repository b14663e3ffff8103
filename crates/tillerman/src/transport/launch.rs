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
    /// What an engine that is not Tillerman is to make of this.
    pub other_engines: OtherEngines,
}

/// What an engine that is not Tillerman, such as the official CLI, is to make of a [`Launch`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OtherEngines {
    /// The same: it understands all of the arguments.
    #[default]
    Same,
    /// It takes these arguments instead, and its whole process sees only the variables that agents
    /// need and those of the launch, since it cannot keep the others from its tools.
    StrictProcess {
        /// The arguments, without the program.
        arguments: Vec<String>,
    },
    /// Nothing: it cannot do what these options ask for, so that it must not be started.
    Refuse {
        /// The options, by the names of their methods.
        options: Vec<&'static str>,
    },
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
