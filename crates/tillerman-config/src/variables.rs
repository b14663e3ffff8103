//! Names of environment variables that say where requests go, what they carry, or how this program
//! itself behaves.

/// Families of names that configure this program, providers and telemetry.
const FAMILIES: [&str; 11] = [
    "ANTHROPIC_",
    "CLAUDE",
    "OPENAI_",
    "TILLERMAN_",
    "AWS_",
    "AZURE_",
    "GOOGLE_",
    "VERTEX_",
    "OTEL_",
    "OLLAMA_",
    "GIT_SSL_",
];

/// Names that redirect connections or weaken their protection.
const NAMES: [&str; 14] = [
    "HOME",
    "IS_SANDBOX",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "API_TIMEOUT_MS",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "NODE_TLS_REJECT_UNAUTHORIZED",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "GIT_PROXY_COMMAND",
    "DISABLE_TELEMETRY",
    "DISABLE_ERROR_REPORTING",
];

const ENDINGS: [&str; 4] = ["_PROXY", "_BASE_URL", "_ENDPOINT", "_HOST"];

/// Parts of names whose values nobody should see.
const SECRET: [&str; 8] =
    ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSPHRASE", "CREDENTIAL", "HEADERS", "COOKIE"];

/// Whether a variable names an endpoint, a credential or a switch of this program, so that a
/// repository may set it only when it is trusted.
pub(crate) fn steers(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    FAMILIES.iter().any(|family| name.starts_with(family))
        || NAMES.contains(&name.as_str())
        || ENDINGS.iter().any(|ending| name.ends_with(ending))
        || is_secret(&name)
}

/// Whether the value of a variable is likely a secret.
pub(crate) fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    SECRET.iter().any(|part| name.contains(part))
}
