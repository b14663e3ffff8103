//! Where credentials come from: the environment, a file, or a command of the user's own.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::Stdio;

use tillerman_config::Layers;
use tillerman_models::anthropic::Credential;
use tillerman_models::secret::Secret;
use tillerman_runtime::Secrets;

use crate::environment::Environment;
use crate::failure::StartFailure;
use crate::secret_sources::ask_command;
use crate::servers::credential_files;

const KEY_FILE: &str = "TILLERMAN_API_KEY_FILE";

/// The credentials of a session.
#[derive(Debug)]
pub(crate) struct Credentials {
    /// For the Anthropic API, if there are any.
    pub(crate) anthropic: Option<Credential>,
    /// For OpenAI-compatible servers, if there are any.
    pub(crate) openai: Option<Secret>,
    /// Where the first come from, as `init` frames say it.
    pub(crate) source: &'static str,
    /// What is kept of sign-ins to MCP servers.
    of_servers: Vec<Secret>,
}

impl Credentials {
    /// Looks in the environment, then in the key file, then asks the helper command.
    pub(crate) async fn find(
        environment: &Environment,
        layers: &Layers,
        cwd: &Path,
    ) -> Result<Self, StartFailure> {
        let secret = |name: &str| environment.get(name).map(|value| Secret::new(&value));
        let openai = secret("OPENAI_API_KEY");
        let of_servers = || {
            let kept = credential_files(environment).secrets();
            kept.iter().map(|value| Secret::new(value)).collect()
        };
        let found = |anthropic, source| Self {
            anthropic: Some(anthropic),
            openai: secret("OPENAI_API_KEY"),
            source,
            of_servers: of_servers(),
        };
        if let Some(key) = secret("ANTHROPIC_API_KEY") {
            return Ok(found(Credential::ApiKey(key), "ANTHROPIC_API_KEY"));
        }
        for name in ["ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"] {
            if let Some(token) = secret(name) {
                return Ok(found(Credential::Bearer(token), name));
            }
        }
        if let Some(path) = environment.get(KEY_FILE) {
            return Ok(found(Credential::ApiKey(read_key(&cwd.join(path))?), KEY_FILE));
        }
        if let Some(command) = layers.key_helper() {
            let key = ask_helper(&command, environment, cwd).await?;
            return Ok(found(Credential::ApiKey(key), "apiKeyHelper"));
        }
        Ok(Self { anthropic: None, openai, source: "none", of_servers: of_servers() })
    }

    /// The values that must never be seen.
    pub(crate) fn secrets(&self) -> Secrets {
        let anthropic = self.anthropic.iter().map(|credential| match credential {
            Credential::ApiKey(secret) | Credential::Bearer(secret) => secret.reveal().to_owned(),
        });
        let others = self.openai.iter().chain(&self.of_servers);
        Secrets::new(anthropic.chain(others.map(|secret| secret.reveal().to_owned())))
    }
}

/// Reads a key from a file that only its owner can read.
fn read_key(path: &Path) -> Result<Secret, StartFailure> {
    let unusable =
        |why: String| StartFailure::usage(format!("{KEY_FILE} {}: {why}", path.display()));
    let metadata = std::fs::metadata(path).map_err(|error| unusable(error.to_string()))?;
    if metadata.mode() & 0o077 != 0 {
        return Err(unusable("others can read it; make it yours alone (chmod 600)".to_owned()));
    }
    let text = std::fs::read_to_string(path).map_err(|error| unusable(error.to_string()))?;
    match text.trim() {
        "" => Err(unusable("it is empty".to_owned())),
        key => Ok(Secret::new(key)),
    }
}

/// Runs the command that prints the key. It comes from the user's own settings, never a project's.
async fn ask_helper(
    command: &str,
    environment: &Environment,
    cwd: &Path,
) -> Result<Secret, StartFailure> {
    let asked = ask_command(command, &environment.for_helpers(), cwd, Stdio::inherit()).await;
    let failed =
        |why: String| StartFailure::usage(format!("The apiKeyHelper of the settings {why}"));
    asked.map(|key| Secret::new(&key)).map_err(failed)
}
