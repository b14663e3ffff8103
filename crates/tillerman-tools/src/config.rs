//! What the tools of a session are told when they are made.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// Everything the tools of one session need to know about the outside.
#[derive(Clone)]
pub struct ToolConfig {
    /// The directory of the session: relative paths and the first command start here.
    pub cwd: PathBuf,
    /// Further directories a command may leave the shell in.
    pub working_directories: Vec<PathBuf>,
    /// Where large outputs go; made when first needed, for the owner alone.
    pub scratch_directory: PathBuf,
    /// The complete environment of commands, apart from `TILLERMAN_CALL`, which marks them.
    pub environment: Vec<(OsString, OsString)>,
    /// The shell that runs commands; `/bin/sh` steps in where it does not exist.
    pub shell: PathBuf,
    /// How long commands may run and how much they may say.
    pub limits: ToolLimits,
}

/// How long commands may run and how much they may say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolLimits {
    /// How long a command may run when the model names no timeout.
    pub default_timeout: Duration,
    /// The longest timeout the model can ask for.
    pub max_timeout: Duration,
    /// How many characters of a successful command's output are passed on directly.
    pub inline_chars: usize,
    /// How many characters of a failed command's output are passed on directly.
    pub failure_chars: usize,
    /// How many bytes a command may write before it is stopped.
    pub output_bytes: u64,
}

impl Default for ToolLimits {
    fn default() -> Self {
        Self {
            default_timeout: Duration::from_secs(120),
            max_timeout: Duration::from_secs(600),
            inline_chars: 30_000,
            failure_chars: 10_000,
            output_bytes: 5 << 30,
        }
    }
}

/// Leaves out the values of the environment, which may be secret.
impl fmt::Debug for ToolConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&OsString> = self.environment.iter().map(|(name, _)| name).collect();
        f.debug_struct("ToolConfig")
            .field("cwd", &self.cwd)
            .field("working_directories", &self.working_directories)
            .field("scratch_directory", &self.scratch_directory)
            .field("environment", &names)
            .field("shell", &self.shell)
            .field("limits", &self.limits)
            .finish()
    }
}
