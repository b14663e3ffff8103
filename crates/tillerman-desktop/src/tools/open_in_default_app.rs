//! `open_in_default_app`: a file in the application the user has for it.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;
use tillerman_ports::ToolCall;
use tillerman_protocol::tool::{Access, ToolOutcome};

use crate::config::DesktopConfig;
use crate::contained::{Found, Root};
use crate::desktop::{Desktop, Way, choose};
use crate::plan::{Field, FieldKind, Need, Plan, answered, failed, text};
use crate::program::{Job, Manner};

pub(crate) const WAYS: &[Way] = &[
    (Desktop::Mac, "open", &["--"]),
    (Desktop::Wayland, "xdg-open", &[]),
    (Desktop::Wayland, "gio", &["open"]),
    (Desktop::X11, "xdg-open", &[]),
    (Desktop::X11, "gio", &["open"]),
];
/// Files that are run when they are opened.
const RUN: [&str; 12] = [
    "app", "appimage", "bat", "cmd", "command", "desktop", "exe", "jar", "msi", "scpt", "terminal",
    "workflow",
];

pub(crate) const PLAN: Plan = Plan {
    name: "open_in_default_app",
    description: "Opens a file or folder of the user's workspace in the application that the user \
                  has for it. Programs are not opened.",
    access: Access::Mutating,
    fields: &[Field {
        name: "path",
        kind: FieldKind::Text,
        need: Need::Required,
        meaning: "the file or folder, relative to the workspace",
    }],
    run: |config, call| Box::pin(open(config, call)),
};

async fn open(config: Arc<DesktopConfig>, call: ToolCall) -> ToolOutcome {
    let asked = text(&call.input, "path").unwrap_or_default().to_owned();
    let (program, way) = match choose(&config, "Opening files", WAYS) {
        Ok(chosen) => chosen,
        Err(error) => return failed(error),
    };
    let looking = {
        let (config, asked) = (Arc::clone(&config), asked.clone());
        tokio::task::spawn_blocking(move || locate(&config, &asked))
    };
    let path = match looking.await {
        Ok(Ok(path)) => path,
        Ok(Err(problem)) => return failed(problem),
        Err(error) => {
            return failed(format!("The tool stopped because of a defect in it ({error})."));
        }
    };
    let arguments = way.2.iter().map(Into::into).chain([path.into_os_string()]).collect();
    let job = Job {
        program,
        arguments,
        directory: config.root().to_path_buf(),
        environment: config.display_environment(),
        input: Vec::new(),
        manner: Manner::LetGo,
        time: config.limits().time,
        bytes: config.limits().bytes,
    };
    match job.run(&call.cancel).await {
        Ok(ran) if ran.status.success() => answered(&json!({"path": asked, "opened": true})),
        Ok(ran) => failed(format!(
            "{asked} was not opened: {} ended with {}. There may be no application for it.",
            way.1, ran.status
        )),
        Err(error) => failed(error),
    }
}

/// The path of what is to be opened, without links.
fn locate(config: &DesktopConfig, asked: &str) -> Result<PathBuf, String> {
    let reached = Root::new(config.root()).reach(asked).map_err(|error| error.to_string())?;
    let path = config.root().join(&reached.shown);
    match &reached.found {
        Found::Directory(_) if runs(&path) => Err(refused(asked)),
        Found::Directory(_) => Ok(path),
        Found::Entry { .. } | Found::Missing { .. } => {
            let file = reached.open().map_err(|error| error.to_string())?;
            let mode = file.metadata().map_or(0o111, |it| it.permissions().mode());
            if runs(&path) || mode & 0o111 != 0 { Err(refused(asked)) } else { Ok(path) }
        }
    }
}

fn runs(path: &Path) -> bool {
    let extension = path.extension().map(|it| it.to_string_lossy().to_lowercase());
    extension.is_some_and(|extension| RUN.contains(&extension.as_str()))
}

fn refused(asked: &str) -> String {
    format!("{asked} was not opened: it is a program, and opening it would run it.")
}
