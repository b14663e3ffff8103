//! Which variables reach children.

use tillerman_policy::{ALLOWED_VARIABLES, child_environment, keep_variable};

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn only_listed_variables_that_are_not_empty_are_passed_on() {
    let host = pairs(&[
        ("PATH", "/bin"),
        ("WALLET_ENCRYPTION_KEY", "secret"),
        ("ALGOCHAT_MNEMONIC", "secret"),
        ("LANG", ""),
        ("GITHUB_TOKEN", "t"),
    ]);
    let environment = child_environment(&host, &[]);
    let names: Vec<&str> = environment.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["PATH", "GITHUB_TOKEN", "CLAUDE_CODE_STREAM_CLOSE_TIMEOUT"]);
}

#[test]
fn the_project_adds_its_own_and_nothing_overrides_what_is_forced() {
    let host = pairs(&[("PATH", "/bin"), ("CLAUDE_CODE_STREAM_CLOSE_TIMEOUT", "1")]);
    let project = pairs(&[
        ("DATABASE_URL", "x"),
        ("PATH", "/own"),
        ("CLAUDE_CODE_STREAM_CLOSE_TIMEOUT", "2"),
    ]);
    let environment = child_environment(&host, &project);
    let value = |name: &str| {
        environment.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    };
    assert_eq!(value("PATH"), Some("/own"));
    assert_eq!(value("DATABASE_URL"), Some("x"));
    assert_eq!(value("CLAUDE_CODE_STREAM_CLOSE_TIMEOUT"), Some("7200000"));
    assert_eq!(environment.len(), 3, "every name once");
}

#[test]
fn the_list_has_the_names_hosts_know() {
    assert_eq!(ALLOWED_VARIABLES.len(), 26);
    for name in ["HOME", "GIT_COMMITTER_EMAIL", "OLLAMA_HOST", "XDG_CACHE_HOME"] {
        assert!(ALLOWED_VARIABLES.contains(&name), "{name}");
    }
}

#[test]
fn credentials_are_withheld_from_tools() {
    assert!(!keep_variable("ANTHROPIC_API_KEY") && !keep_variable("OPENAI_API_KEY"));
    assert!(!keep_variable("MCP_CLIENT_SECRET"));
    assert!(!keep_variable("OTEL_EXPORTER_OTLP_HEADERS"));
    assert!(keep_variable("PATH") && keep_variable("DATABASE_URL"));
}
