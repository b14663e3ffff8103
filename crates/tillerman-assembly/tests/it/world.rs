//! Directories that nobody else uses, and sessions that are run to their end in them.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tillerman_assembly::{Environment, Session, SessionEnd, SessionOrder, assemble, run};
use tillerman_protocol::content::Content;
use tillerman_protocol::permission::PermissionMode;
use tillerman_testkit::ScriptedServer;
use tokio_util::sync::CancellationToken;

/// The longest any session takes before the test fails.
const DEADLINE: Duration = Duration::from_secs(30);

/// A home, a configuration directory and room for working directories.
pub(crate) struct World {
    root: TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        for name in ["home", "config", "temp"] {
            std::fs::create_dir(root.path().join(name)).unwrap();
        }
        Self { root }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(name)
    }

    /// A session in a new directory of this name that asks nobody and keeps nothing from its tools.
    pub(crate) fn order(&self, name: &str, more: &[(&str, &str)]) -> SessionOrder {
        let cwd = self.path(name);
        std::fs::create_dir(&cwd).unwrap();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let places = [("HOME", "home"), ("CLAUDE_CONFIG_DIR", "config"), ("TMPDIR", "temp")];
        let places =
            places.map(|(name, place)| (OsString::from(name), self.path(place).into_os_string()));
        let plain = [("IS_SANDBOX", "1")].iter().chain(more);
        let plain = plain.map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let mut order = SessionOrder {
            cwd,
            environment: Environment::new(
                [(OsString::from("PATH"), path)].into_iter().chain(places).chain(plain),
            ),
            ..SessionOrder::default()
        };
        order.permission.mode = Some(PermissionMode::BypassPermissions);
        order
    }

    /// The same, answered by a scripted server.
    pub(crate) fn order_asking(&self, name: &str, server: &ScriptedServer) -> SessionOrder {
        let url = server.url();
        self.order(name, &[("ANTHROPIC_BASE_URL", &url), ("ANTHROPIC_API_KEY", "sk-dummy-012345")])
    }
}

/// What a session said, and how it ended.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) frames: Vec<Value>,
    pub(crate) end: SessionEnd,
}

impl Finished {
    /// The last result.
    pub(crate) fn result(&self) -> &Value {
        let found = self.frames.iter().rfind(|frame| frame["type"] == "result");
        found.unwrap_or_else(|| panic!("there is no result among {:?}", self.frames))
    }
}

/// Starts the session of an order.
pub(crate) async fn start(order: &SessionOrder) -> Session {
    run(assemble(order, CancellationToken::new()).await.unwrap())
}

/// Runs a session with one prompt to its end.
pub(crate) async fn converse(order: &SessionOrder, prompt: &str) -> Finished {
    let session = start(order).await;
    session.handle.prompt(Content::Text(prompt.to_owned())).await.unwrap();
    session.handle.close().await.unwrap();
    finish(session).await
}

/// Takes every frame until the session has ended.
pub(crate) async fn finish(session: Session) -> Finished {
    let Session { handle, mut frames, ended, .. } = session;
    drop(handle);
    let mut seen = Vec::new();
    let reading = async {
        while let Some(frame) = frames.recv().await {
            seen.push(json!(frame));
        }
    };
    let both = async { tokio::join!(ended, reading) };
    let (end, ()) = tokio::time::timeout(DEADLINE, both).await.unwrap();
    Finished { frames: seen, end }
}
