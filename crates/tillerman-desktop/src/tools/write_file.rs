//! `write_file`: a file, whole.

use serde_json::{Value, json};
use tillerman_protocol::tool::{Access, ToolOutcome};
use tokio_util::sync::CancellationToken;

use crate::config::DesktopConfig;
use crate::contained::{ReachError, Root};
use crate::plan::{Field, FieldKind, Need, Plan, answered, failed, text};
use crate::tools::off_thread::off_thread;

pub(crate) const PLAN: Plan = Plan {
    name: "write_file",
    description: "Writes a file of the user's workspace, replacing what it held; missing folders \
                  are made. At most 10 MB.",
    access: Access::Mutating,
    fields: &[
        Field {
            name: "path",
            kind: FieldKind::Text,
            need: Need::Required,
            meaning: "the file, relative to the workspace",
        },
        Field {
            name: "content",
            kind: FieldKind::Text,
            need: Need::Required,
            meaning: "the whole text of the file",
        },
    ],
    run: |config, call| off_thread(config, call, write),
};

fn write(config: &DesktopConfig, input: &Value, cancel: &CancellationToken) -> ToolOutcome {
    let asked = text(input, "path").unwrap_or_default();
    let content = text(input, "content").unwrap_or_default();
    let most = config.limits().bytes;
    if content.len() > most {
        return failed(ReachError::TooLarge { asked: asked.to_owned(), most });
    }
    let reached = match Root::new(config.root()).reach(asked) {
        Ok(reached) => reached,
        Err(error) => return failed(error),
    };
    if cancel.is_cancelled() {
        return failed("The call was interrupted before anything was written.");
    }
    match reached.write(content.as_bytes()) {
        Ok(()) => answered(&json!({"path": asked, "bytes_written": content.len()})),
        Err(error) => failed(error),
    }
}
