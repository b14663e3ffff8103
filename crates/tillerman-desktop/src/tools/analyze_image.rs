//! `analyze_image`: a picture for the model to look at.

use serde_json::{Value, json};
use tillerman_protocol::content::{Block, Content};
use tillerman_protocol::tool::{Access, ToolOutcome, ToolOutput};
use tillerman_tools::{Picture, show_picture};
use tokio_util::sync::CancellationToken;

use crate::config::DesktopConfig;
use crate::contained::Root;
use crate::plan::{Field, FieldKind, Need, Plan, failed, text};
use crate::tools::off_thread::off_thread;

pub(crate) const PLAN: Plan = Plan {
    name: "analyze_image",
    description: "Shows a picture of the user's workspace (PNG, JPEG, GIF or WebP, at most 10 MB) \
                  so that it can be described or questions about it answered.",
    access: Access::ReadOnly,
    fields: &[
        Field {
            name: "path",
            kind: FieldKind::Text,
            need: Need::Required,
            meaning: "the picture, relative to the workspace",
        },
        Field {
            name: "prompt",
            kind: FieldKind::Text,
            need: Need::Optional,
            meaning: "what to find out about it",
        },
    ],
    run: |config, call| off_thread(config, call, analyze),
};

fn analyze(config: &DesktopConfig, input: &Value, _: &CancellationToken) -> ToolOutcome {
    let asked = text(input, "path").unwrap_or_default();
    let reached = Root::new(config.root()).reach(asked);
    let bytes = match reached.and_then(|reached| reached.read(config.limits().bytes)) {
        Ok(bytes) => bytes,
        Err(error) => return failed(error),
    };
    match show_picture(&bytes) {
        Ok(picture) => {
            let facts = json!({"path": asked, "prompt": text(input, "prompt")});
            Ok(shown(&picture, facts))
        }
        Err(error) => failed(format!("{asked} cannot be shown: {error}.")),
    }
}

/// What is known about a picture, and the picture.
pub(crate) fn shown(picture: &Picture, mut facts: Value) -> ToolOutput {
    facts["width"] = json!(picture.original.0);
    facts["height"] = json!(picture.original.1);
    facts["mime_type"] = json!(picture.media_type);
    let text = serde_json::to_string_pretty(&facts).unwrap_or_default();
    let source =
        json!({"type": "base64", "media_type": picture.media_type, "data": picture.base64});
    ToolOutput::new(Content::Blocks(vec![Block::text(text), Block::Image { source }]), None)
}
