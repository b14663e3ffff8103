//! A home, a working directory and a scripted model for one test, and a way to reach the engine.

use std::path::PathBuf;
use std::time::Duration;

use futures_util::StreamExt as _;
use tempfile::TempDir;
use tillerman::message::Answer;
use tillerman::testing::{Script, ScriptedServer};
use tillerman::transport::{InProcess, Subprocess, WebSocket};
use tillerman::{Client, Message, Options, Prompt, Query, Result, query};

use crate::host::{self, Host, TOKEN};

const DEADLINE: Duration = Duration::from_secs(30);
/// The official program takes half a second of a core to start, and tests share the cores.
const OFFICIAL_DEADLINE: Duration = Duration::from_secs(90);

/// How the engine is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    InProcess,
    Subprocess,
    WebSocket,
}

/// Runs every test of a list over every transport.
macro_rules! over_every_transport {
    ($($test:ident),* $(,)?) => {
        mod in_process {
            $(#[tokio::test]
            async fn $test() {
                super::$test(crate::world::Way::InProcess).await;
            })*
        }
        mod subprocess {
            $(#[tokio::test]
            async fn $test() {
                super::$test(crate::world::Way::Subprocess).await;
            })*
        }
        mod web_socket {
            $(#[tokio::test]
            async fn $test() {
                super::$test(crate::world::Way::WebSocket).await;
            })*
        }
    };
}
pub(crate) use over_every_transport;

/// The built program that the subprocess transport runs, or another one that speaks the same
/// protocol: `TILLERMAN_OFFICIAL_CLI` has the suite drive the official program.
pub(crate) fn program() -> PathBuf {
    if let Some(program) = std::env::var_os("TILLERMAN_OFFICIAL_CLI") {
        return PathBuf::from(program);
    }
    let test = std::env::current_exe().unwrap();
    let program = test.ancestors().nth(2).unwrap().join("tillerman");
    assert!(program.is_file(), "build it first: cargo build -p tillerman-cli");
    program
}

/// Whether the engine is Tillerman's own, whichever way it is reached.
pub(crate) fn drives_tillerman() -> bool {
    std::env::var_os("TILLERMAN_OFFICIAL_CLI").is_none()
}

/// A home, a working directory and a scripted model.
pub(crate) struct World {
    root: TempDir,
    pub(crate) server: ScriptedServer,
    way: Way,
    host: Option<Host>,
}

impl World {
    pub(crate) async fn new(way: Way, script: impl Into<Script>) -> Self {
        let root = tempfile::tempdir().unwrap();
        for name in ["home", "config", "work"] {
            std::fs::create_dir(root.path().join(name)).unwrap();
        }
        let host = match way {
            Way::WebSocket => Some(host::start().await),
            Way::InProcess | Way::Subprocess => None,
        };
        Self { root, server: ScriptedServer::start(script).await, way, host }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(name)
    }

    /// A file in the working directory.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path("work").join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.file(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Options under which the scripted model answers in this world and nothing else is seen.
    pub(crate) fn options(&self) -> Options {
        let options = self.surroundings();
        match &self.host {
            Some(host) => {
                options.transport(WebSocket::new(format!("ws://{}", host.address), TOKEN))
            }
            None if self.way == Way::InProcess => {
                options.transport(InProcess::new().stage_program(program()))
            }
            None => options.transport(Subprocess::at(program())),
        }
    }

    /// The same without a transport.
    pub(crate) fn surroundings(&self) -> Options {
        let path = std::env::var_os("PATH").unwrap_or_default();
        Options::new()
            .bare_environment()
            .env("PATH", path.to_string_lossy())
            .env("HOME", self.path("home").to_string_lossy())
            .env("CLAUDE_CONFIG_DIR", self.path("config").to_string_lossy())
            .env("TMPDIR", self.root.path().to_string_lossy())
            .env("IS_SANDBOX", "1")
            // The official program would look around the network otherwise.
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            // Tools of servers are to be seen, not looked up.
            .env("ENABLE_TOOL_SEARCH", "false")
            .env("ANTHROPIC_BASE_URL", self.server.url())
            .env("ANTHROPIC_API_KEY", "sk-ant-dummy-0123456789")
            .model("claude-sonnet-4-5")
            .cwd(self.path("work"))
    }

    /// Everything that comes of a prompt; errors fail the test.
    pub(crate) async fn ask(&self, prompt: &str, options: Options) -> Vec<Message> {
        collect(query(prompt, options)).await.into_iter().map(Result::unwrap).collect()
    }

    /// The answer to a prompt.
    pub(crate) async fn answer(&self, prompt: &str, options: Options) -> Result<Answer> {
        within(query(prompt, options).answer()).await
    }

    pub(crate) async fn connect(&self, options: Options) -> Client {
        within(Client::connect(options)).await.unwrap()
    }
}

/// Everything a query says, errors included.
pub(crate) async fn collect(query: Query) -> Vec<Result<Message>> {
    within(query.collect::<Vec<_>>()).await
}

/// Says something and reads up to the result.
pub(crate) async fn say(client: &mut Client, prompt: impl Into<Prompt>) -> Vec<Message> {
    client.send(prompt).await.unwrap();
    let messages = within(client.receive_response().collect::<Vec<_>>()).await;
    messages.into_iter().map(Result::unwrap).collect()
}

/// Waits for something that comes soon if all is well.
pub(crate) async fn within<T>(future: impl Future<Output = T>) -> T {
    let deadline = if drives_tillerman() { DEADLINE } else { OFFICIAL_DEADLINE };
    tokio::time::timeout(deadline, future).await.expect("waited in vain")
}

/// The last result among messages.
pub(crate) fn result(messages: &[Message]) -> tillerman::message::ResultFrame {
    messages.iter().rev().find_map(Message::as_result).expect("there is no result").clone()
}

/// The texts of tool results among messages.
pub(crate) fn tool_results(messages: &[Message]) -> Vec<String> {
    use tillerman::message::{Block, Content};
    let mut texts = Vec::new();
    for message in messages {
        let Message::User(frame) = message else { continue };
        let Content::Blocks(blocks) = &frame.message.content else { continue };
        texts.extend(blocks.iter().filter_map(|block| match block {
            Block::ToolResult(result) => Some(result.content.plain_text()),
            _ => None,
        }));
    }
    texts
}
