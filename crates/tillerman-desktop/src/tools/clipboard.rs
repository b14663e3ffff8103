//! `read_clipboard` and `write_clipboard`: the text the user has copied.

use std::sync::Arc;

use serde_json::json;
use tillerman_ports::ToolCall;
use tillerman_protocol::tool::{Access, ToolOutcome};

use crate::config::DesktopConfig;
use crate::desktop::{Desktop, Way, choose};
use crate::plan::{Field, FieldKind, Need, Plan, answered, failed, text};
use crate::program::{Job, Manner};

pub(crate) const READERS: &[Way] = &[
    (Desktop::Mac, "pbpaste", &[]),
    (Desktop::Wayland, "wl-paste", &["--no-newline"]),
    (Desktop::X11, "xclip", &["-selection", "clipboard", "-o"]),
    (Desktop::X11, "xsel", &["--clipboard", "--output"]),
];
const WRITERS: &[Way] = &[
    (Desktop::Mac, "pbcopy", &[]),
    (Desktop::Wayland, "wl-copy", &[]),
    (Desktop::X11, "xclip", &["-selection", "clipboard", "-i"]),
    (Desktop::X11, "xsel", &["--clipboard", "--input"]),
];
const WHAT: &str = "The clipboard";

pub(crate) const READ: Plan = Plan {
    name: "read_clipboard",
    description: "Reads the text that the user has in the clipboard.",
    access: Access::ReadOnly,
    fields: &[],
    run: |config, call| Box::pin(read(config, call)),
};

pub(crate) const WRITE: Plan = Plan {
    name: "write_clipboard",
    description: "Puts a text into the user's clipboard, replacing what it held.",
    access: Access::Mutating,
    fields: &[Field {
        name: "text",
        kind: FieldKind::Text,
        need: Need::Required,
        meaning: "the text",
    }],
    run: |config, call| Box::pin(write(config, call)),
};

async fn read(config: Arc<DesktopConfig>, call: ToolCall) -> ToolOutcome {
    let job = match job(&config, READERS) {
        Ok(job) => Job { manner: Manner::Listen, ..job },
        Err(problem) => return failed(problem),
    };
    match job.run(&call.cancel).await {
        Ok(ran) if ran.status.success() => {
            answered(&json!({"text": String::from_utf8_lossy(&ran.output)}))
        }
        Ok(ran) => failed(format!(
            "The clipboard could not be read; it may be empty or hold no text. {}",
            ran.complaints
        )),
        Err(error) => failed(error),
    }
}

async fn write(config: Arc<DesktopConfig>, call: ToolCall) -> ToolOutcome {
    let text = text(&call.input, "text").unwrap_or_default();
    let most = config.limits().bytes;
    if text.len() > most {
        return failed(format!("The text has more than {most} bytes. The clipboard is unchanged."));
    }
    let job = match job(&config, WRITERS) {
        Ok(job) => Job { input: text.as_bytes().to_vec(), manner: Manner::LetGo, ..job },
        Err(problem) => return failed(problem),
    };
    match job.run(&call.cancel).await {
        Ok(ran) if ran.status.success() => answered(&json!({"bytes_written": text.len()})),
        Ok(ran) => failed(format!("The clipboard could not be written: {}.", ran.status)),
        Err(error) => failed(error),
    }
}

fn job(config: &DesktopConfig, ways: &'static [Way]) -> Result<Job, String> {
    let (program, way) = choose(config, WHAT, ways).map_err(|error| error.to_string())?;
    Ok(Job {
        program,
        arguments: way.2.iter().map(Into::into).collect(),
        directory: config.root().to_path_buf(),
        environment: config.display_environment(),
        input: Vec::new(),
        manner: Manner::Listen,
        time: config.limits().time,
        bytes: config.limits().bytes,
    })
}
