//! `read_file`: the text of a file.

use serde_json::{Value, json};
use tillerman_protocol::tool::{Access, ToolOutcome};
use tokio_util::sync::CancellationToken;

use crate::config::DesktopConfig;
use crate::contained::Root;
use crate::plan::{Field, FieldKind, Need, Plan, answered, failed, text};
use crate::tools::off_thread::off_thread;

pub(crate) const PLAN: Plan = Plan {
    name: "read_file",
    description: "Reads a text file of the user's workspace, at most 10 MB.",
    access: Access::ReadOnly,
    fields: &[Field {
        name: "path",
        kind: FieldKind::Text,
        need: Need::Required,
        meaning: "the file, relative to the workspace",
    }],
    run: |config, call| off_thread(config, call, read),
};

fn read(config: &DesktopConfig, input: &Value, _: &CancellationToken) -> ToolOutcome {
    let asked = text(input, "path").unwrap_or_default();
    let reached = Root::new(config.root()).reach(asked);
    match reached.and_then(|reached| reached.read(config.limits().bytes)) {
        Ok(bytes) => match String::from_utf8(bytes) {
            Ok(content) => answered(&json!({"path": asked, "content": content})),
            Err(_) => failed(format!(
                "{asked} is not a text file in UTF-8. Pictures can be looked at with analyze_image."
            )),
        },
        Err(error) => failed(error),
    }
}
