//! Headers that a command of the server's configuration makes for each connection.

use std::collections::BTreeMap;
use std::process::Stdio as Pipe;
use std::time::Duration;

use serde_json::Value;
use tillerman_protocol::mcp::RemoteMcpServer;
use tokio::io::AsyncReadExt as _;
use tokio::process::Command;
use tokio::time::timeout;

use crate::config::HubConfig;

/// How long the command may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// What it may print.
const LONGEST: u64 = 64 * 1024;

/// Why there are no headers. What the command printed is never repeated: it may be a token.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HelperError {
    #[error("its headersHelper could not be run: {0}")]
    Run(#[from] std::io::Error),
    #[error("its headersHelper did not end within {} s", PATIENCE.as_secs())]
    TooSlow,
    #[error("its headersHelper failed ({0})")]
    Failed(std::process::ExitStatus),
    #[error("its headersHelper did not print a JSON object of texts")]
    Unreadable,
}

/// The server with the headers that its command makes, over those it is configured with.
///
/// # Cancel safety
/// Dropping the future kills the command.
pub(crate) async fn with_helped_headers(
    name: &str,
    server: &RemoteMcpServer,
    config: &HubConfig,
) -> Result<RemoteMcpServer, HelperError> {
    let mut server = server.clone();
    let Some(helper) = server.extra.get("headersHelper").and_then(Value::as_str) else {
        return Ok(server);
    };
    let mut child = Command::new("sh")
        .args(["-c", helper])
        .env_clear()
        .envs(config.environment.iter().map(|(name, value)| (name, value)))
        .env("CLAUDE_CODE_MCP_SERVER_NAME", name)
        .env("CLAUDE_CODE_MCP_SERVER_URL", &server.url)
        .current_dir(&config.cwd)
        .process_group(0)
        .kill_on_drop(true)
        .stdin(Pipe::null())
        .stdout(Pipe::piped())
        .stderr(Pipe::null())
        .spawn()?;
    let output = child.stdout.take();
    let run = async {
        let mut printed = Vec::new();
        if let Some(output) = output {
            output.take(LONGEST).read_to_end(&mut printed).await?;
        }
        Ok::<_, std::io::Error>((child.wait().await?, printed))
    };
    let (status, printed) = timeout(PATIENCE, run).await.map_err(|_| HelperError::TooSlow)??;
    if !status.success() {
        return Err(HelperError::Failed(status));
    }
    let made: BTreeMap<String, String> =
        serde_json::from_slice(&printed).map_err(|_| HelperError::Unreadable)?;
    server.headers.extend(made);
    Ok(server)
}
