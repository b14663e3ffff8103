//! How MCP servers are configured and described.

use serde_json::json;
use tillerman_protocol::mcp::{McpConfig, McpServerConfig, McpServerStatus, TaggedMcpServer};

use crate::wire::{becomes, keeps, read};

#[test]
fn servers_are_read_by_transport() {
    let config = json!({"mcpServers": {
        "bare": {"command": "notes", "args": ["--fast"], "env": {"A": "b"}, "timeout": 500},
        "child": {"type": "stdio", "command": "notes", "alwaysLoad": true},
        "events": {"type": "sse", "url": "http://127.0.0.1:1/sse", "headers": {"X": "y"}},
        "stream": {"type": "http", "url": "http://127.0.0.1:1/mcp", "tools": [{"name": "a"}]},
        "socket": {"type": "ws", "url": "ws://127.0.0.1:1"},
        "here": {"type": "sdk", "name": "here", "timeout": 9}}});
    let config: McpConfig = keeps(&config);
    let server = |name: &str| config.mcp_servers[name].clone();
    assert!(matches!(server("bare"), McpServerConfig::Bare(it) if it.args == ["--fast"]));
    let tagged = |name: &str| match server(name) {
        McpServerConfig::Tagged(tagged) => tagged,
        other => panic!("{other:?}"),
    };
    assert!(
        matches!(tagged("child"), TaggedMcpServer::Stdio(it) if it.extra["alwaysLoad"] == true)
    );
    assert!(matches!(tagged("events"), TaggedMcpServer::Sse(it) if it.headers["X"] == "y"));
    assert!(matches!(tagged("stream"), TaggedMcpServer::Http(_)));
    assert!(matches!(tagged("socket"), TaggedMcpServer::Ws(_)));
    assert!(matches!(tagged("here"), TaggedMcpServer::Sdk { timeout: Some(9), .. }));
    let alias = json!({"type": "streamable-http", "url": "http://x"});
    becomes::<McpServerConfig>(&alias, &json!({"type": "http", "url": "http://x"}));
}

#[test]
fn a_server_nobody_understands_is_kept_and_never_started() {
    for server in [
        json!({"type": "carrier-pigeon", "command": "coo"}),
        json!({"type": "http", "command": "notes"}),
        json!({"type": null, "command": "notes"}),
        json!({"url": "http://x"}),
        json!({"command": 7}),
        json!({"command": "notes", "env": {"A": {}}}),
        json!("notes"),
        json!(null),
    ] {
        let config: McpServerConfig = keeps(&server);
        assert!(matches!(config, McpServerConfig::Other(_)), "{server}");
    }
}

#[test]
fn a_file_without_servers_is_an_empty_one() {
    assert!(read::<McpConfig>(&json!({})).mcp_servers.is_empty());
    assert!(read::<McpConfig>(&json!({"mcpServers": {}, "other": 1})).mcp_servers.is_empty());
}

#[test]
fn states_are_read() {
    let status: McpServerStatus = keeps(&json!({"name": "notes", "status": "connected",
        "serverInfo": {"name": "Notes", "version": "1"}, "config": {"command": "notes"},
        "scope": "project", "transport": "stdio", "source": "x",
        "tools": [{"name": "add", "description": "Adds", "annotations": {"readOnly": false}}]}));
    assert_eq!(status.tools.unwrap()[0].name, "add");
    keeps::<McpServerStatus>(
        &json!({"name": "notes", "status": "failed", "error": "no such file"}),
    );
}
