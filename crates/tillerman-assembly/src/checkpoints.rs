//! File checkpoints of a session: whether they are on, and where they lie.

use std::path::Path;
use std::sync::Arc;

use tillerman_ports::Checkpoints;
use tillerman_protocol::SessionId;
use tillerman_store::{CheckpointLimits, FileCheckpoints, SessionFiles};

use crate::environment::Environment;
use crate::failure::StartFailure;
use crate::opening;
use crate::order::{ConversationOrder, SessionOrder};

/// The checkpoints of a session, when they are on.
pub(crate) fn checkpoints(
    order: &SessionOrder,
    environment: &Environment,
    session: &SessionId,
) -> Option<Arc<dyn Checkpoints>> {
    let wanted = environment.is_on("CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING")
        && !environment.is_on("CLAUDE_CODE_DISABLE_FILE_CHECKPOINTING");
    if wanted && order.session.no_persistence {
        tracing::warn!(
            "--no-session-persistence keeps nothing on disk, so there are no checkpoints"
        );
        return None;
    }
    wanted.then(|| Arc::new(file_checkpoints(environment, session)) as Arc<dyn Checkpoints>)
}

/// The checkpoints that were taken of a session, running or not.
#[must_use]
pub fn file_checkpoints(environment: &Environment, session: &SessionId) -> FileCheckpoints {
    let usual = CheckpointLimits::default();
    let total_bytes = environment.number("TILLERMAN_CHECKPOINT_BYTES").unwrap_or(usual.total_bytes);
    let limits = CheckpointLimits { total_bytes, ..usual };
    FileCheckpoints::new(environment.config_dir(), session.clone(), limits)
}

/// The session that would be resumed; nothing when a new one is wanted.
///
/// # Errors
/// When there is none to continue, or files cannot be looked through.
pub fn session_to_resume(
    wanted: &ConversationOrder,
    environment: &Environment,
    cwd: &Path,
) -> Result<Option<SessionId>, StartFailure> {
    opening::source(wanted, &SessionFiles::new(environment.config_dir(), cwd))
}
