//! Which environment variables a child process may see.

/// Names that hold credentials of model providers, of this program as a client of MCP servers or of
/// collectors of telemetry, or of its own control channel.
const WITHHELD: [&str; 17] = [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_CUSTOM_HEADERS",
    "ANTHROPIC_FOUNDRY_API_KEY",
    "ANTHROPIC_FOUNDRY_AUTH_TOKEN",
    "ANTHROPIC_AWS_API_KEY",
    "AWS_BEARER_TOKEN_BEDROCK",
    "CLAUDE_CODE_CLIENT_KEY_PASSPHRASE",
    "CLAUDE_CODE_MESSAGING_TOKEN",
    "CLAUDE_CODE_OAUTH_REFRESH_TOKEN",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "MCP_CLIENT_SECRET",
    "OPENAI_API_KEY",
    "OTEL_EXPORTER_OTLP_HEADERS",
    "OTEL_EXPORTER_OTLP_LOGS_HEADERS",
    "OTEL_EXPORTER_OTLP_METRICS_HEADERS",
    "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
];

/// The only variables of a host that its agents see.
pub const ALLOWED_VARIABLES: [&str; 26] = [
    "PATH",
    "HOME",
    "USER",
    "SHELL",
    "TERM",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TMPDIR",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_CACHE_HOME",
    "ANTHROPIC_API_KEY",
    "CLAUDE_CODE_STREAM_CLOSE_TIMEOUT",
    "NODE_ENV",
    "NODE_PATH",
    "BUN_INSTALL",
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
    "GH_TOKEN",
    "GITHUB_TOKEN",
    "EDITOR",
    "VISUAL",
    "OLLAMA_HOST",
];

/// What nothing can override: long sessions must not lose their tools.
const FORCED: [(&str, &str); 1] = [("CLAUDE_CODE_STREAM_CLOSE_TIMEOUT", "7200000")];

/// Whether a variable of this name may be passed on to tools.
#[must_use]
pub fn keep_variable(name: &str) -> bool {
    !WITHHELD.contains(&name)
}

/// The environment of a host's agent: allowed variables that are not empty, then the project's own,
/// then what is forced. Later values win; every name appears once.
#[must_use]
pub fn child_environment(
    host: &[(String, String)],
    project: &[(String, String)],
) -> Vec<(String, String)> {
    let allowed = host
        .iter()
        .filter(|(name, value)| ALLOWED_VARIABLES.contains(&name.as_str()) && !value.is_empty())
        .cloned();
    let forced = FORCED.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let mut environment: Vec<(String, String)> = Vec::new();
    for (name, value) in allowed.chain(project.iter().cloned()).chain(forced) {
        match environment.iter_mut().find(|(known, _)| *known == name) {
            Some((_, held)) => *held = value,
            None => environment.push((name, value)),
        }
    }
    environment
}
