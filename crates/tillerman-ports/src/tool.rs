//! The port to tools.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use tillerman_protocol::ToolUseId;
use tillerman_protocol::tool::{ToolOutcome, ToolSpec};
use tokio_util::sync::CancellationToken;

use crate::confine::Bounds;
use crate::hidden::Hidden;
use crate::model::BoxFuture;
use crate::task::TaskDesk;

/// Something the model can use. Tools never decide about permission.
pub trait Tool: Send + Sync + std::fmt::Debug {
    /// What the model is told about the tool. Must not change within a session.
    fn spec(&self) -> ToolSpec;

    /// Checks an input before anybody is asked about it.
    ///
    /// # Errors
    /// A text for the model that names the field and what is wrong with it.
    fn check(&self, input: &Value) -> Result<(), String>;

    /// Runs the tool.
    ///
    /// # Cancel safety
    /// When the call's token fires the tool ends everything it started and returns soon. A future
    /// that is dropped instead must leave no process behind.
    fn call(&self, call: ToolCall) -> BoxFuture<ToolOutcome>;

    /// Counts a file as read which somebody saw as it was at this time, in milliseconds since the
    /// Unix epoch. May read the file.
    fn count_as_read(&self, _path: &Path, _at: f64) {}

    /// The directory in which the next call begins, for a tool that moves about.
    fn directory(&self) -> Option<PathBuf> {
        None
    }
}

/// One call of a tool.
#[derive(Clone, Debug)]
pub struct ToolCall {
    /// The call as the model named it.
    pub tool_use_id: ToolUseId,
    /// The input, already checked.
    pub input: Value,
    /// Fires when the call is to end.
    pub cancel: CancellationToken,
    /// Variables that children of this call must have, because its permission hangs on them.
    pub environment: Vec<(String, String)>,
    /// Where children of this call run, in a session that confines them.
    pub bounds: Bounds,
    /// What a search must pass over.
    pub hidden: Hidden,
    /// Takes over what goes on after the call has ended.
    pub tasks: Arc<dyn TaskDesk>,
}
