//! What the handlers of a session are told when they are made.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use tillerman_ports::Model;

/// Everything the handlers of one session need to know about the outside.
pub struct HookConfig {
    /// The directory of the session, in which commands run.
    pub project_dir: PathBuf,
    /// The environment of commands, without what no child may see. Headers draw on it as well.
    pub environment: Vec<(OsString, OsString)>,
    /// Where long texts go; made when first needed, for the owner alone.
    pub scratch_directory: PathBuf,
    /// Answers the questions of handlers.
    pub model: Arc<dyn Model>,
    /// The model that is asked when a handler names none.
    pub small_model: String,
    /// The session, for providers that route by it.
    pub session: String,
    /// Patterns of web addresses that may be told; nothing means all.
    pub allowed_urls: Option<Vec<String>>,
    /// Variables that headers may hold at all; nothing means those their handler names.
    pub allowed_variables: Option<Vec<String>>,
}

impl HookConfig {
    /// A variable of the environment.
    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        let found = self.environment.iter().rev().find(|(held, _)| held == name);
        found.and_then(|(_, value)| value.to_str())
    }
}

/// Leaves out the values of the environment, which may be secret.
impl fmt::Debug for HookConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HookConfig")
            .field("project_dir", &self.project_dir)
            .field("scratch_directory", &self.scratch_directory)
            .field("small_model", &self.small_model)
            .finish_non_exhaustive()
    }
}
